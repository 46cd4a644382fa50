internal import FlowBase
internal import FlowExpressions
internal import FlowParts
internal import FlowTransfer

/// Fetches the documents that sources read, over the run's own connections and by its table of hosts.
struct SourceDownload: Sendable {
  private let services: any RunServices
  private let id: String

  private static let tries = 5
  private static let firstWait = Interval.milliseconds(500)
  /// The longest that a host may ask a source to wait.
  private static let longestWait = Interval.seconds(60)

  /// Where nobody may be asked, a source that lies elsewhere cannot be read.
  init(_ context: SourceContext) throws(Fault) {
    guard let services = context.services else {
      throw Fault(
        "source.elsewhere", .transient,
        "source `\(context.id)` lies on another host, which is only asked when the manifest is run")
    }
    self.services = services
    id = context.id
  }

  /// Whether a path is an address.
  static func isAddress(_ path: String) -> Bool {
    let start = path.prefix(8).lowercased()
    return start.hasPrefix("http://") || start.hasPrefix("https://")
  }

  /// The file that an address names, at most so long; what may pass is tried again.
  func fetch(_ url: String, maximum: Int) async throws(Fault) -> Fetched {
    let transfers = try FetchTransfers.shared(by: services)
    var order = FetchOrder(
      url: url, item: Item(source: id, key: "", index: 0, url: url), terms: FetchTerms(Config(), transfers.hosts))
    order.request.limits.maximumBytes = maximum
    let context = StageContext(stage: id, config: Config(), attempt: 1, services: services)
    var attempt = 1
    var wait = SourceDownload.firstWait
    while true {
      do throws(Fault) {
        return try await transfers.fetch(order, in: context).0
      } catch {
        guard error.kind.isRetryable, attempt < SourceDownload.tries, !Task.isCancelled else {
          var fault = error
          fault.message = "\(Redaction.url(url)): \(error.message)"
          throw fault
        }
        services.log(.warn, "source `\(id)`: \(error.message); trying again")
        let pause = min(
          error.retryAfter ?? Interval(seconds: wait.seconds * Double.random(in: 0.5...1)), Self.longestWait)
        try? await Task.sleep(nanoseconds: UInt64(max(0, pause.nanoseconds)))
        wait = Interval(nanoseconds: wait.nanoseconds * 2)
        attempt += 1
      }
    }
  }
}

/// Turns the addresses that a document names into absolute ones, and keeps those that are wanted.
struct FoundAddresses: Sendable {
  let base: WebAddress
  let pattern: TextPattern?

  init(base: String, match: String?) throws(Fault) {
    self.base = try WebAddress(parsing: base)
    pattern = try match.map { (text) throws(Fault) in try TextPattern(text) }
  }

  /// The absolute address; nil where it is none of the web's, or not wanted.
  func take(_ reference: String) -> String? {
    let bare = reference.trimmingBlanks
    guard !bare.isEmpty, let address = try? base.resolving(bare), address.scheme == "http" || address.scheme == "https"
    else { return nil }
    let text = address.text
    return pattern?.fits(text) ?? true ? text : nil
  }
}

extension String {
  /// The text without blanks around it.
  var trimmingBlanks: String {
    let start = drop(while: \.isWhitespace)
    return start.lastIndex { !$0.isWhitespace }.map { String(start[...$0]) } ?? ""
  }
}
