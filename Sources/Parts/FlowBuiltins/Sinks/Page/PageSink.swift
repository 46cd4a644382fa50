internal import FlowBase
public import FlowEvents
public import FlowParts

/// Shows the run in a browser while it goes, and lets it be steered from there.
public final class PageSink: Sink {
  private let context: SinkContext
  private let options: PageHost.Options
  private let host: Guarded<PageHost?>
  /// Whether the page was made here, and so ends with the run.
  private let isOwn: Bool
  private let announce: @Sendable (String) -> Void

  /// What is to be said of it.
  public static let part = SinkPart(
    PartSpec(
      name: "page", role: .sink,
      summary:
        "Shows the run in a browser while it goes: its items, its graph, its throughput, and a ring to steer it.",
      fields: [
        FieldSpec(
          "listen", .string, phase: .load, default: "127.0.0.1:0",
          "The address and port of this machine that it is served at; port 0 takes a free one.")
      ], shorthand: "listen", example: "sinks:\n  - page: { listen: \"127.0.0.1:8080\" }\n")
  ) { (config, context) throws(Fault) in
    var options = PageHost.Options()
    if let place = config.text("listen") { options.place = try PagePlace(parsing: place) }
    return PageSink(context, options)
  }

  init(
    _ context: SinkContext, _ options: PageHost.Options,
    announce: @escaping @Sendable (String) -> Void = { PageSink.say($0) }
  ) {
    self.context = context
    self.options = options
    self.announce = announce
    host = Guarded(nil)
    isOwn = true
    tray = Guarded([])
    target = nil
  }

  /// A sink for a page that is there already, and outlives the run; with `holdsBack` it gets nothing before `release`.
  public init(_ host: PageHost, _ context: SinkContext, holdsBack: Bool = false) {
    self.context = context
    options = host.options
    announce = { _ in }
    self.host = Guarded(holdsBack ? nil : host)
    isOwn = false
    tray = Guarded([])
    target = host
    host.attach(context)
  }

  /// Gives the page what came before, and then what it has not got so far.
  public func release(after events: [Event]) {
    guard let target else { return }
    for event in events { target.hear(event) }
    host.withLock { host in
      for event in tray.withLock({ $0 }) { target.hear(event) }
      tray.withLock { $0 = [] }
      host = target
    }
  }

  /// The page of somebody else.
  private let target: PageHost?

  /// What came before the page was there.
  private let tray: Guarded<[Event]>

  /// Hands the event on; the page's own thread looks at it later.
  public func render(_ event: Event, into buffer: inout [UInt8]) {
    host.withLock { host in
      if let host { return host.hear(event) }
      tray.withLock { $0.append(event) }
    }
  }

  /// Begins to serve, and says where.
  public func open() async throws {
    guard isOwn else { return }
    let made = try PageHost(context, options)
    announce(made.address)
    host.withLock { host in
      host = made
      for event in tray.withLock({ $0 }) { made.hear(event) }
      tray.withLock { $0 = [] }
    }
  }

  /// Nothing: the page takes events, not bytes.
  public func deliver(_ bytes: [UInt8]) async throws {}

  /// Tells the browsers the end.
  public func close() async throws {
    if isOwn { await host.withLock { $0 }?.stop() }
  }

  private static func say(_ address: String) {
    try? Streams.send(Array("imgflow: the live page is at \(address)\n".utf8), to: 2, named: "standard error")
  }
}
