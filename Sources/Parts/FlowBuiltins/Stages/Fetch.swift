public import FlowBase
internal import FlowExpressions
public import FlowParts
internal import FlowTransfer

/// Brings the bytes that an item's address names into a temporary file.
public struct Fetch: NetworkStage, PromptStage {
  /// What is to be said of it.
  public static let part = StagePart(
    PartSpec(
      name: "fetch", role: .stage, summary: "Fetches the item's URL into a file.", fields: fields,
      sets: { _ in
        [
          ItemField("final_url", .string), ItemField("status", .integer), ItemField("bytes", .integer),
          ItemField("media", .string), ItemField("sha256", .string), ItemField("etag", .string),
          ItemField("last_modified", .string), ItemField("path", .string),
        ]
      },
      example: "stages:\n  - fetch: { accept: image/*, max_bytes: 50MB }\n")
  ) { Fetch() }

  private static let fields = [
    FieldSpec(
      "accept", .list(.string), "Media types that may come, such as `image/*`; judged by the bytes, not by a name."),
    FieldSpec("min_bytes", .byteCount, "Fewer bytes fail the item."),
    FieldSpec("max_bytes", .byteCount, "More bytes end the transfer and fail the item."),
    FieldSpec("headers", .map(.string), "Request headers; those that hold a secret stand under `hosts` instead."),
    FieldSpec("query", .map(.string), "Parameters added to the URL's query."),
    FieldSpec("method", .choice(["GET", "HEAD", "POST"]), default: "GET", "The method of the request."),
    FieldSpec(
      "encoding", .choice(["identity", "any", "gzip", "deflate", "br", "zstd"]), default: "identity",
      "The coding that is asked for on the way; the file is always the decoded bytes."),
    FieldSpec("referer", .url, "The `Referer` of the request; it goes to the URL's own host alone."),
    FieldSpec("redirects", .integer(0...10), default: "10", "How many redirects are followed."),
    FieldSpec("mirrors", .list(.url), "Other URLs of the same bytes, tried in turn, after a wrong digest too."),
    FieldSpec("connect", .interval, default: "10s", "How long name, connection and TLS may take."),
    FieldSpec("first_byte", .interval, default: "30s", "How long the first byte of the answer may take."),
    FieldSpec("idle", .interval, default: "30s", "How long nothing may come in the middle."),
    FieldSpec("min_speed", .bandwidth, default: "1kB/s", "The slowest allowed, over 30 s."),
  ]

  private let origins = LastOrigin<String>()
  private let lastTerms = LastTerms()

  /// A stage.
  public init() {}

  /// The host that the item's address names.
  public func host(of leg: Leg, config: Config) -> String? {
    leg.item.url.flatMap { url in origins.of(url) { TransferEngine.authority(of: url) } }
  }

  /// Tries the item's address and then its mirrors, until one of them gives what the item expects.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    guard let url = leg.item.url else {
      throw Fault(
        "item.no_url", .permanent, "the item has no URL; what is on this machine already needs no `fetch`")
    }
    let transfers = try FetchTransfers.shared(by: context.services)
    let terms = lastTerms.of(context.config, transfers.hosts)
    let demand = terms.demand
    if let digest = leg.item.expected.sha256, let file = try await context.services.kept(digest) {
      let kept = try await Fetched(kept: file, from: url, on: context.services.blocking)
      try await demand.check(kept, leg.item.expected, on: context.services.blocking)
      var result = kept.result(isShared: false)
      result.isKept = true
      return result
    }
    if context.services.isOffline {
      throw Fault(
        "cache.missing", .permanent,
        "the bytes of \(leg.item.name) are not in the content store, and a frozen run asks nobody for them")
    }
    var faults: [Fault] = []
    let candidates = [url] + leg.item.mirrors + terms.mirrors
    for (place, candidate) in candidates.enumerated() {
      do throws(Fault) {
        let order = FetchOrder(
          url: candidate, item: leg.item, terms: terms, earlier: place == 0 ? context.earlier : nil)
        let (fetched, isShared) = try await transfers.fetch(order, in: context)
        if fetched.isUnchanged(since: context.earlier) { return fetched.unchanged(isShared: isShared) }
        try await demand.check(fetched, leg.item.expected, on: context.services.blocking)
        await context.services.keep(fetched.file)
        return fetched.result(isShared: isShared)
      } catch {
        guard Fetch.mirrorsHelp(with: error) else { throw error }
        faults.append(error)
        if place + 1 < candidates.count {
          context.services.log(.info, "\(leg.item.name): \(error.message); the next mirror is tried")
        }
      }
    }
    // A failure that may pass is worth another round, whichever address had it.
    throw faults.first { $0.kind.isRetryable } ?? faults.first ?? .internal("fetch", "no address was tried")
  }

  /// Begins the one transfer that most items are; mirrors, and files that were kept, are for `run`.
  public func begin(
    _ leg: Leg, in context: StageContext, done: @escaping @Sendable (Result<StageResult, Fault>) -> Void
  ) throws(Fault) -> BegunWork? {
    let services = context.services
    guard let url = leg.item.url, leg.item.mirrors.isEmpty, leg.item.expected.sha512 == nil, !services.isOffline,
      !services.keepsContent, !services.hasUnfinished
    else { return nil }
    let transfers = try FetchTransfers.shared(by: services)
    let terms = lastTerms.of(context.config, transfers.hosts)
    guard terms.mirrors.isEmpty else { return nil }
    let (earlier, expected) = (context.earlier, leg.item.expected)
    let order = FetchOrder(url: url, item: leg.item, terms: terms, earlier: earlier)
    guard transfers.isPlain(order) else { return nil }
    let demand = terms.demand
    return try transfers.begin(order, in: context) { outcome in
      do throws(Fault) {
        let (fetched, isShared) = try outcome.get()
        if fetched.isUnchanged(since: earlier) { return done(.success(fetched.unchanged(isShared: isShared))) }
        try demand.check(fetched)
        try ContentCheck(expected).checkAtOnce(fetched.file)
        done(.success(fetched.result(isShared: isShared)))
      } catch { done(.failure(error)) }
    }
  }

  /// Asks for the length, with a HEAD in place of the GET.
  public func look(at leg: Leg, in context: StageContext) async throws -> Sighting? {
    guard let url = leg.item.url else { return nil }
    let transfers = try FetchTransfers.shared(by: context.services)
    let order = FetchOrder(url: url, item: leg.item, terms: lastTerms.of(context.config, transfers.hosts))
    guard order.request.method == .get else { return nil }
    return Sighting(bytes: try await transfers.length(order))
  }

  /// Tries to connect, and asks for nothing.
  public func reach(_ host: String, in services: any RunServices) async -> Reach {
    guard let transfers = try? FetchTransfers.shared(by: services) else { return .open }
    return await transfers.reach(host)
  }

  private static func mirrorsHelp(with fault: Fault) -> Bool {
    switch fault.kind {
    case .transient, .quota, .permanent, .auth: true
    case .config, .local, .internal, .cancelled: false
    }
  }
}
