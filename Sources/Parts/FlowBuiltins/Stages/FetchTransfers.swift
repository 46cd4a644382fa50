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
    guard let key = order.key else {
      let fetched = try await FetchTransfers.transfer(order.request, engine, services, context.progress)
      return (fetched, false)
    }
    return try await coalescer.join(key, progress: context.progress) { progress throws(Fault) in
      try await FetchTransfers.transfer(order.request, engine, services, progress)
    }
  }

  private static func transfer(
    _ request: TransferRequest, _ engine: TransferEngine, _ services: any RunServices,
    _ progress: @escaping @Sendable (Int, Int?) -> Void
  ) async throws(Fault) -> Fetched {
    let partial = try services.makePartial()
    do throws(Fault) {
      let result = try await engine.perform(request, into: partial, progress: progress)
      return Fetched(try partial.finish(), result)
    } catch {
      partial.abandon()
      throw error
    }
  }
}
