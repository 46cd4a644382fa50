internal import FlowBase
internal import FlowEvents
internal import FlowParts

/// Everything that a page knows of its run; it belongs to the server's thread.
struct PageState {
  private(set) var book: PageBook
  private(set) var items = PageItems()
  private(set) var shelf: EventShelf
  /// Rises when another run takes the place of the one before.
  private(set) var epoch = 1
  /// Whether the run can be started from here, while it waits for that or after its end.
  var canStart = false
  /// Whether no run will be shown any more, and the server is about to end.
  var isClosing = false
  let graph: GraphSketch
  let name: String
  private let folder: String?
  private var retrying: [String: Int] = [:]

  init(name: String, graph: GraphSketch, run: String, manifest: String, folder: String?) {
    self.name = name
    self.graph = graph
    self.folder = folder
    book = PageBook(graph, run: run, manifest: manifest)
    shelf = EventShelf(folder: folder)
  }

  /// The prefix of the numbers under which messages are known.
  static func prefix(_ epoch: Int) -> String { epoch == 1 ? "" : "\(epoch)-" }

  /// Takes an event in.
  mutating func handle(_ event: Event) {
    if case .streamStart = event.payload, book.started != nil { beginAnew() }
    var before: Int32 = -1
    var place: Int?
    if let subject = event.subject, let found = items.place(of: subject) {
      place = found
      before = items.entries[found].shelf
      // A page that was opened late hears of some ends twice: from the journal, and from the run.
      if items.entries[found].state.isFinal, event.type == .itemEnd || event.type == .itemStart { return }
    } else if event.type == .itemStart {
      items.leaveOut()
    }
    book.handle(event)
    let lies = shelf.put(event, before: before)
    if let place, let subject = event.subject { take(event.payload, subject, place, lies) }
    if case .runEnd = event.payload { cancelRest() }
  }

  /// Lets the seconds pass in which nothing is told.
  mutating func pass(_ elapsed: Interval) { book.pass(elapsed) }

  /// Another run begins: the page is its page from now on.
  private mutating func beginAnew() {
    epoch += 1
    book = PageBook(graph)
    items = PageItems()
    shelf = EventShelf(folder: folder, prefix: Self.prefix(epoch))
    retrying = [:]
  }

  private mutating func take(_ payload: Payload, _ subject: ItemSubject, _ place: Int, _ lies: Int32?) {
    let stage = subject.stage.map { items.number(ofStage: $0) } ?? -1
    var code: Int32 = -1
    switch payload {
    case .itemRetry(let retry): code = items.number(ofCode: retry.error.fault.code)
    case .itemError(let error): code = items.number(ofCode: error.fault.code)
    case .itemEnd(let end): if let error = end.error { code = items.number(ofCode: error.fault.code) }
    default: break
    }
    let was = items.entries[place]
    var visited: UInt64 = PageItems.bit(stage)
    if case .itemEnd(let end) = payload {
      for time in end.stages { visited |= PageItems.bit(items.number(ofStage: time.stage)) }
    }
    items.change(place) { entry in
      if let lies { entry.shelf = lies }
      entry.stages |= visited
      if stage >= 0 { entry.stage = stage }
      entry.attempts = max(entry.attempts, Int32(subject.attempt ?? 1))
      switch payload {
      case .itemStart(let start):
        entry.state = .running
        entry.ratio = Float(start.ratio ?? 0)
        entry.code = -1
        entry.hasPicture = false
      case .itemProgress(let progress):
        entry.state = .running
        entry.ratio = progress.ratio.map(Float.init) ?? -1
        entry.bytes = progress.bytes
      case .itemRetry(let retry):
        entry.state = .waiting
        entry.code = code
        entry.attempts = max(entry.attempts, Int32(retry.attempt + 1))
        entry.ratio = 0
      case .itemError: entry.code = code
      case .itemEnd(let end):
        entry.state = ItemState(end.status)
        entry.isCached = end.isCached
        entry.code = code
        entry.ratio = end.status == .ok ? 1 : Float(end.ratio ?? 0)
        entry.attempts = Int32(end.attempts)
        entry.hasPicture = PagePicture.isThere(end.outputs)
        let bytes = end.outputs.reduce(0) { $0 + $1.bytes }
        if bytes > 0 { entry.bytes = bytes }
      default: break
      }
    }
    let now = items.entries[place]
    if was.state == .waiting || now.state == .waiting { count(was, now) }
  }

  private mutating func count(_ was: PageItems.Entry, _ entry: PageItems.Entry) {
    if was.state == .waiting, let stage = items.stages[was.stage] { retrying[stage, default: 1] -= 1 }
    if entry.state == .waiting, let stage = items.stages[entry.stage] { retrying[stage, default: 0] += 1 }
    book.setRetrying(retrying)
  }

  /// What a run has left at its end is left for good.
  private mutating func cancelRest() {
    guard
      items.states[.running, default: 0] + items.states[.waiting, default: 0] + items.states[.queued, default: 0] > 0
    else { return }
    for place in items.entries.indices where !items.entries[place].state.isFinal {
      items.change(place) { $0.state = .cancelled }
    }
  }
}

/// Which of an item's files stands for it.
enum PagePicture {
  private static let media: Set<String> = [
    "image/png", "image/jpeg", "image/webp", "image/gif", "image/avif", "image/tiff", "image/heic", "image/jxl",
  ]

  static func isPicture(_ media: String?) -> Bool { media.map(Self.media.contains) ?? false }

  static func isThere(_ outputs: [Payload.Output]) -> Bool { outputs.contains { isPicture($0.media) } }

  /// The path of the smallest picture that fills a thumbnail, else of the largest.
  static func best(_ outputs: [Value], side: Int) -> (path: String, digest: String)? {
    var best: (path: String, digest: String, width: Int, bytes: Int)?
    for output in outputs {
      guard let map = output.asMap, let path = map["path"]?.asString, isPicture(map["media"]?.asString) else {
        continue
      }
      let width = max(map["width"]?.asInt ?? 0, map["height"]?.asInt ?? 0)
      let found = (path: path, digest: map["sha256"]?.asString ?? "", width: width, bytes: map["bytes"]?.asInt ?? 0)
      guard let known = best else {
        best = found
        continue
      }
      let fills = found.width >= side
      let knownFills = known.width >= side
      if fills != knownFills ? fills : (fills ? found.bytes < known.bytes : found.bytes > known.bytes) { best = found }
    }
    return best.map { ($0.path, $0.digest) }
  }
}
