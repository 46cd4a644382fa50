public import FlowBase
public import FlowEvents
public import FlowParts
internal import FlowServe

/// Where a page is served: an address of this machine, and a port.
public struct PagePlace: Sendable, Hashable {
  /// The address that is listened at.
  public var address: NetworkAddress
  /// The port; 0 takes a free one.
  public var port: Int
  /// The words that it was read from.
  public var text: String

  /// A free port that only this machine reaches.
  public static var ofThisMachine: PagePlace { get throws(Fault) { try PagePlace(parsing: "127.0.0.1:0") } }

  /// Reads `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `0.0.0.0:8080`, a lone address, or a lone port.
  public init(parsing text: String) throws(Fault) {
    self.text = text
    var name = text[...]
    var port: Substring?
    if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
      (name, port) = ("127.0.0.1", text[...])
    } else if let colon = text.lastIndex(of: ":") {
      // A lone address of version 6 has colons of its own.
      let isSplit = text.hasPrefix("[") ? text[..<colon].hasSuffix("]") : text.firstIndex(of: ":") == colon
      if isSplit { (name, port) = (text[..<colon], text[text.index(after: colon)...]) }
    }
    let host = name.lowercased() == "localhost" ? "127.0.0.1" : String(name)
    guard let address = NetworkAddress(parsing: host), let number = port.map({ UInt16($0) }) ?? 0
    else {
      throw Fault(
        "config.page", .config,
        "`\(text)` is no place to listen at; write an address of this machine and a port, such as 127.0.0.1:8080")
    }
    self.address = address
    self.port = Int(number)
  }
}

/// A page that is served: its server, and all that it knows of the run.
///
/// The run's thread only lays events into a tray; the server's own thread takes them from there, five times a second.
public final class PageHost: Sendable {
  /// How a page is set up.
  public struct Options: Sendable {
    /// Where it is served; nil at a free port that only this machine reaches.
    public var place: PagePlace?
    /// Whether the page stays when the run has ended.
    public var stays = false
    /// What to do about an error, by its code.
    public var advice: @Sendable (String) -> String? = { _ in nil }

    /// The usual ones.
    public init() {}
  }

  /// The address that opens the page, with the token.
  public let address: String
  /// The token, for programs.
  public let token: String
  let options: Options
  let control = Guarded<RunControl?>(nil)
  private let server: WebServer
  private let state: Guarded<PageState>
  private let tray = Guarded<[Event]>([])
  private let intake = Guarded(())
  private let told = Guarded(Beating())
  private let starter = Guarded<(@Sendable () -> Bool)?>(nil)
  let thumbnails: PageThumbnails
  private let clock = SystemTime()

  private struct Beating {
    var beats = PageBeats()
    /// When a browser asked last.
    var asked: Instant?
    var change = 0
    var isDirty = false
    var heard = SystemTime().now()
    var elapsed = Interval.zero
    var spoke = SystemTime().now()
  }

  /// A page about a run; it is served at once.
  public init(_ context: SinkContext, _ options: Options = Options()) throws(Fault) {
    self.options = options
    control.withLock { $0 = context.control }
    let token = Entropy.token(32)
    self.token = token
    let name = context.settings.name.isEmpty ? context.manifest : context.settings.name
    state = Guarded(
      PageState(
        name: name, graph: context.graph, run: context.run, manifest: context.manifest, folder: context.keep))
    thumbnails = PageThumbnails(folder: context.settings.outputFolder, scratch: context.keep)
    let place: PagePlace
    if let asked = options.place { place = asked } else { place = try PagePlace.ofThisMachine }
    server = try WebServer(address: place.address, port: place.port)
    let shown = place.address.bytes.contains { $0 != 0 } ? place.address.words : "127.0.0.1"
    address = "http://\(shown):\(server.port)/?\(Doorkeeper.parameter)=\(token)"
    let keeper = Doorkeeper(
      secret: token, cookie: "imgflow_\(context.run.lowercased())", address: place.address, port: server.port)
    let api = PageAPI()
    try server.start(
      keeper,
      WebServer.Handler(
        answer: { [weak self] request in
          self.map { api.answer(request, $0) } ?? .now(.refusal(503, "page.over", "the page is going away"))
        }, tick: { [weak self] in self?.tick() }))
  }

  // MARK: The run's side

  /// Takes note of an event; it is looked at later, by the server's thread.
  public func hear(_ event: Event) { tray.withLock { $0.append(event) } }

  /// The run that is controlled from now on.
  public func attach(_ context: SinkContext) { control.withLock { $0 = context.control } }

  /// Lets the page start the run, while it waits for that; nil takes that back.
  public func offerStart(_ start: (@Sendable () -> Bool)?) {
    starter.withLock { $0 = start }
    state.withLock { $0.canStart = start != nil }
    told.withLock { $0.isDirty = true }
  }

  /// Tells the browsers the last, and ends.
  public func stop() async {
    takeIn()
    state.withLock { $0.isClosing = true }
    told.withLock { $0.isDirty = true }
    await server.stop()
  }

  // MARK: The server's side

  private func tick() {
    takeIn()
    beat()
  }

  /// Takes in what lies in the tray.
  ///
  /// One at a time, so that events stay in their order.
  private func takeIn() { intake.withLock { _ in takeAll() } }

  private func takeAll() {
    let events = tray.withLock { tray in
      defer { tray = [] }
      return tray
    }
    let now = clock.now()
    state.withLock { state in
      for event in events { state.handle(event) }
      if let last = events.last {
        told.withLock { told in
          told.isDirty = true
          told.heard = now
          told.elapsed = last.elapsed
        }
      } else {
        let (heard, elapsed) = told.withLock { ($0.heard, $0.elapsed) }
        state.pass(elapsed + (now - heard))
      }
    }
  }

  /// Puts together what has changed, if somebody listens.
  private func beat() {
    let now = clock.now()
    let (isDue, since) = told.withLock { told in
      guard let asked = told.asked, now - asked < .seconds(5) else { return (false, 0) }
      return (told.isDirty || now - told.spoke >= .seconds(1), told.change)
    }
    guard isDue else { return }
    var isMoving = true
    var next = 0
    var writer = JSONWriter()
    state.withLock { state in
      isMoving = state.book.state != .idle && state.book.state != .done
      next = state.items.nextChange
      state.writeBeat(since: since, &writer)
    }
    let bytes = writer.bytes
    told.withLock { told in
      // A run that waits, or is over, has nothing to say by itself.
      guard told.isDirty || isMoving else { return }
      told.isDirty = false
      told.spoke = now
      told.change = next
      told.beats.add(bytes)
    }
  }

  /// A browser listens to the beats.
  func watchBeats() { told.withLock { $0.asked = clock.now() } }

  func beats<Result>(_ body: (PageBeats) -> Result) -> Result { told.withLock { body($0.beats) } }

  /// Everything about the run, for a browser that knows nothing, and the number of the last beat that is in it.
  func wholeBeat() -> (Int, [UInt8]) {
    takeIn()
    var writer = JSONWriter()
    let next = state.withLock { state in
      state.writeBeat(since: -1, &writer)
      return state.items.nextChange
    }
    let number = told.withLock { told in
      // Nobody listened so far: what came before is in here already.
      if told.change == 0 { told.change = next }
      return told.beats.number
    }
    return (number, writer.bytes)
  }

  /// Whether the page is about to go.
  var isClosing: Bool { state.withLock { $0.isClosing } }

  /// Reads events from a place on; false where no more will come.
  func read(
    _ epoch: Int, from place: Int, _ filter: EventFilter, into buffer: inout [UInt8], room: Int
  ) -> (Int, Bool) {
    state.withLock { state in
      guard state.epoch == epoch else { return (place, false) }
      let next = state.shelf.read(from: place, filter, into: &buffer, room: room)
      return (next, !state.isClosing || next < state.shelf.count)
    }
  }

  /// Looks at the page's state, after all that has been told so far.
  func look<Result>(_ body: (borrowing PageState) -> Result) -> Result {
    takeIn()
    return state.withLock { body($0) }
  }

  /// Asks the run for something.
  func ask(_ request: RunControl.Request) async -> RunControl.Answer {
    let shown = look { $0.book.state }
    if request.verb == "start" {
      guard let start = starter.withLock({ $0 }), start() else {
        let words = shown == .idle || shown == .done ? "this page cannot start a run" : "the run goes already"
        return .init(
          isAccepted: false, message: "a run that is \(shown.rawValue) cannot start from here: \(words)", state: shown)
      }
      return .init(isAccepted: true, message: "started", state: .active)
    }
    if shown == .idle {
      return .init(isAccepted: false, message: "a run that is idle cannot \(request.verb); it can start", state: .idle)
    }
    guard let control = control.withLock({ $0 }) else {
      return .init(isAccepted: false, message: "the run is over", state: .done)
    }
    return await control.ask(request, "page")
  }
}

extension PageState {
  /// What a browser is told: the run, and the tiles that have changed; no tiles where there are too many to tell.
  func writeBeat(since change: Int, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("run")
    writeRun(&writer)
    writer.key("tiles")
    if change >= 0, let places = items.changed(since: change, most: 400) {
      writer.list(places) { writeTile($0, &$1) }
    } else {
      writer.null()
    }
    writer.endObject()
  }
}

extension NetworkAddress {
  /// The address as it stands in a URL.
  var words: String {
    if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
    let groups = stride(from: 0, to: 16, by: 2).map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }
    return "[\(groups.joined(separator: ":"))]"
  }
}
