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
      lastModified: result.lastModified, wireBytes: result.wireBytes)
  }

  func fault(_ code: String, _ message: String) -> Fault {
    Fault(code, .permanent, message, httpStatus: facts.status, host: facts.host)
  }

  func result(isShared: Bool) -> StageResult {
    func text(_ value: String?) -> Value { value.map { .string($0) } ?? .null }
    return StageResult(
      content: .file(file),
      fields: [
        "final_url": .string(facts.finalURL), "status": .int(facts.status), "bytes": .int(file.bytes),
        "media": text(facts.media), "sha256": .string(file.sha256.hex), "etag": text(facts.etag),
        "last_modified": text(facts.lastModified), "path": .string(file.path),
      ], isShared: isShared, bytesIn: isShared ? 0 : facts.wireBytes)
  }
}

/// The transfers of a run: one engine, and one transfer for equal requests.
final class FetchTransfers: Sendable {
  private let engine: TransferEngine
  private let coalescer = TransferCoalescer()
  private let unfinished = UnfinishedFiles()

  init(engine: TransferEngine) { self.engine = engine }

  /// The one of a run.
  static func shared(by services: any RunServices) throws(Fault) -> FetchTransfers {
    let bandwidth = services.settings.bandwidth
    let engine = try services.shared(TransferEngine.self) { () throws(Fault) in
      let engine = TransferEngine()
      engine.setBandwidth(bandwidth)
      return engine
    }
    return try services.shared(FetchTransfers.self) { () throws(Fault) in FetchTransfers(engine: engine) }
  }

  /// The file that an order brings, and whether somebody else's equal order has brought it.
  func fetch(_ order: FetchOrder, in context: StageContext) async throws(Fault) -> (Fetched, isShared: Bool) {
    let services = context.services
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
    if let kept = unfinished.take(key) { start = kept } else { start = UnfinishedFile(try services.makePartial()) }
    do throws(Fault) {
      return try await transfer(request, engine, start, (key, unfinished), progress)
    } catch {
      // The part that came does not belong to what is here: once more, from the start.
      guard start.bytes > 0, error.code == "range.mismatch" || error.code == "http.416" else { throw error }
      let anew = UnfinishedFile(try services.makePartial())
      return try await transfer(request, engine, anew, (key, unfinished), progress)
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
