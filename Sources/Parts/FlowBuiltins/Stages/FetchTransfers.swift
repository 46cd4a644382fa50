internal import FlowBase
internal import FlowParts
internal import FlowTransfer

/// A file that has come, and what its server said of it.
struct Fetched: Sendable {
  var file: HeldFile
  var facts: Facts

  /// All but the file.
  struct Facts: Sendable, Hashable {
    var finalURL: String
    var host: String?
    var status: Int
    var media: String?
    var etag: String?
    var lastModified: String?
    var wireBytes: Int
    /// Whether one connection carries several requests at once.
    var isMultiplexed: Bool
    /// The encoding of a text, as its server names it.
    var charset: String?
  }

  var media: String? { facts.media }

  init(_ file: HeldFile, _ facts: Facts) {
    self.file = file
    self.facts = facts
  }

  init(_ file: HeldFile, _ result: TransferResult) {
    self.file = file
    facts = Facts(
      finalURL: result.finalURL, host: TransferEngine.authority(of: result.finalURL), status: result.status,
      media: MediaType.decide(result.prefix, declared: result.contentType), etag: result.etag,
      lastModified: result.lastModified, wireBytes: result.wireBytes,
      isMultiplexed: result.version == "2", charset: Fetched.charset(of: result.contentType))
  }

  private static func charset(of type: String?) -> String? {
    guard let text = type?.lowercased(), let start = text.firstRange(of: "charset=")?.upperBound else { return nil }
    let word = text[start...].prefix { $0 != ";" && !$0.isWhitespace }.filter { $0 != "\"" && $0 != "'" }
    return word.isEmpty ? nil : word
  }

  /// A file that an earlier run has kept, as if its server had just given it.
  init(kept file: HeldFile, from url: String, on pool: BlockingPool) async throws(Fault) {
    let prefix = try await Content.file(file).prefix(on: pool)
    self.file = file
    facts = Facts(
      finalURL: url, host: TransferEngine.authority(of: url), status: 200,
      media: MediaType.decide(prefix, declared: nil),
      etag: nil, lastModified: nil, wireBytes: 0,
      isMultiplexed: false)
  }

  func fault(_ code: String, _ message: String) -> Fault {
    Fault(code, .permanent, message, httpStatus: facts.status, host: facts.host)
  }

  func result(isShared: Bool) -> StageResult {
    func text(_ value: String?) -> Value { value.map { .string($0) } ?? .null }
    var result = StageResult(
      content: .file(file),
      fields: [
        "final_url": .string(facts.finalURL), "status": .int(facts.status), "bytes": .int(file.bytes),
        "media": text(facts.media), "sha256": .string(file.sha256.hex), "etag": text(facts.etag),
        "last_modified": text(facts.lastModified), "path": .string(file.path),
      ], isShared: isShared, bytesIn: isShared ? 0 : facts.wireBytes)
    result.isMultiplexed = facts.isMultiplexed
    return result
  }

  /// Whether this is what an earlier run has: the host says so, or it is the same bytes.
  func isUnchanged(since earlier: Fields?) -> Bool {
    guard let earlier else { return false }
    return facts.status == 304
      || earlier["sha256"]?.asString == file.sha256.hex && earlier["bytes"]?.asInt == file.bytes
  }

  func unchanged(isShared: Bool) -> StageResult {
    var result = StageResult(.unchanged, isShared: isShared, bytesIn: isShared ? 0 : facts.wireBytes)
    result.isMultiplexed = facts.isMultiplexed
    return result
  }
}

/// The transfers of a run: one engine, and one transfer for equal requests.
final class FetchTransfers: Sendable {
  private let engine: TransferEngine
  private let coalescer = TransferCoalescer()
  private let unfinished = UnfinishedFiles()
  private let robots = RobotsFiles()

  init(engine: TransferEngine) { self.engine = engine }

  /// The one of a run.
  static func shared(by services: any RunServices) throws(Fault) -> FetchTransfers {
    let bandwidth = services.settings.bandwidth
    let engine = try services.shared(TransferEngine.self) { () throws(Fault) in
      let engine = TransferEngine(idleConnections: max(4, min(256, DescriptorLimit.roomForTransfers)))
      engine.setBandwidth(bandwidth)
      services.onBandwidthChange { [weak engine] in engine?.setBandwidth($0) }
      return engine
    }
    return try services.shared(FetchTransfers.self) { () throws(Fault) in FetchTransfers(engine: engine) }
  }

  /// Whether a host can be reached.
  func reach(_ host: String, _ table: HostTable) async -> Reach {
    let colon = host.lastIndex(of: ":") ?? host.endIndex
    let port = Int(host[colon...].dropFirst()) ?? 443
    let settings = HostSettings.resolve(table, host: String(host[..<colon]), port: port)
    return switch await engine.reach(host, way: HostWay(settings)) {
    case .open: .open
    case .refused: .refused
    case .silent: .silent
    case .gone: .gone
    }
  }

  /// The file that an order brings, and whether somebody else's equal order has brought it.
  func fetch(_ order: FetchOrder, in context: StageContext) async throws(Fault) -> (Fetched, isShared: Bool) {
    let services = context.services
    if order.heedsRobots { try await robots.check(order, engine) }
    let engine = engine
    let unfinished = unfinished
    guard let key = order.key else {
      let start = UnfinishedFile(try services.makePartial())
      let fetched = try await FetchTransfers.transfer(order.request, engine, start, nil, context.progress)
      return (fetched, false)
    }
    return try await coalescer.join(key, progress: context.progress) { progress throws(Fault) in
      try await FetchTransfers.goOn(order.request, engine, key, unfinished, services, progress)
    }
  }

  /// How many bytes an order would bring, asked with a HEAD; nil where the server does not say or takes no HEAD.
  func length(_ order: FetchOrder) async throws(Fault) -> Int? {
    var request = order.request
    request.method = .head
    do throws(Fault) {
      let result = try await engine.perform(request, into: NoBytes())
      return result.contentEncoding == nil ? result.contentLength : nil
    } catch {
      if error.httpStatus == 405 || error.httpStatus == 501 { return nil }
      throw error
    }
  }

  /// Takes the body of an answer that has none.
  private final class NoBytes: ByteSink, Sendable {
    func write(_ bytes: UnsafeRawBufferPointer) throws(Fault) {}
  }

  /// Goes on where an earlier try of the same request has ended, if one has.
  private static func goOn(
    _ request: TransferRequest, _ engine: TransferEngine, _ key: String, _ unfinished: UnfinishedFiles,
    _ services: any RunServices, _ progress: @escaping @Sendable (Int, Int?) -> Void
  ) async throws(Fault) -> Fetched {
    let start: UnfinishedFile
    if let kept = unfinished.take(key) {
      start = kept
    } else {
      let name = Digest.sha256(of: key).hex
      if let left = UnfinishedFile(leftFor: name, by: services) {
        start = left
      } else {
        start = UnfinishedFile(try services.makePartial(), name: name)
      }
    }
    do throws(Fault) {
      return try await transfer(request, engine, start, (key, unfinished), progress)
    } catch  where start.bytes > 0 && error.code == "http.416" {
      // There is no such part any more. As with a part that does not fit, the next try begins anew.
      throw Fault(
        "range.mismatch", .transient, "the body is shorter than what came of it before", httpStatus: 416,
        host: error.host)
    }
  }

  private static func transfer(
    _ request: TransferRequest, _ engine: TransferEngine, _ file: UnfinishedFile,
    _ keeper: (key: String, files: UnfinishedFiles)?, _ progress: @escaping @Sendable (Int, Int?) -> Void
  ) async throws(Fault) -> Fetched {
    let partial = file.partial
    var request = request
    request.record = file.record
    request.resumeAt = file.bytes
    request.restart = { () throws(Fault) in try partial.restart() }
    do throws(Fault) {
      let result = try await engine.perform(request, into: partial, progress: progress)
      return Fetched(try partial.finish(), result)
    } catch {
      // Cancelled too: a run that is paused at once goes on later.
      let mayComeBack = error.kind.isRetryable && error.code != "range.mismatch" || error.kind == .cancelled
      if let keeper, mayComeBack, file.canGoOn {
        keeper.files.keep(UnfinishedFile(partial, file.record, bytes: partial.count), keeper.key)
      } else {
        partial.abandon()
      }
      throw error
    }
  }
}
