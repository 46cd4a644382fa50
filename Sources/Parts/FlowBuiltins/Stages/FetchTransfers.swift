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
    var status: Int
    var media: String?
    var etag: String?
    var lastModified: String?
    var wireBytes: Int
    /// Whether one connection carries several requests at once.
    var isMultiplexed: Bool
    /// The encoding of a text, as its server names it.
    var charset: String?

    /// Who sent it; only failures ask.
    var host: String? { TransferEngine.authority(of: finalURL) }
  }

  var media: String? { facts.media }

  init(_ file: HeldFile, _ facts: Facts) {
    self.file = file
    self.facts = facts
  }

  init(_ file: HeldFile, _ result: TransferResult) {
    self.file = file
    facts = Facts(
      finalURL: result.finalURL, status: result.status,
      media: MediaType.decide(result.prefix, declared: result.contentType), etag: result.etag,
      lastModified: result.lastModified, wireBytes: result.wireBytes,
      isMultiplexed: result.version == "2", charset: Fetched.charset(of: result.contentType))
  }

  private static func charset(of type: String?) -> String? {
    guard let type, type.utf8.contains(UInt8(ascii: ";")) else { return nil }
    let text = type.lowercased()
    guard let start = text.firstRange(of: "charset=")?.upperBound else { return nil }
    let word = text[start...].prefix { $0 != ";" && !$0.isWhitespace }.filter { $0 != "\"" && $0 != "'" }
    return word.isEmpty ? nil : word
  }

  /// A file that an earlier run has kept, as if its server had just given it.
  init(kept file: HeldFile, from url: String, on pool: BlockingPool) async throws(Fault) {
    let prefix = try await Content.file(file).prefix(on: pool)
    self.file = file
    facts = Facts(
      finalURL: url, status: 200,
      media: MediaType.decide(prefix, declared: nil),
      etag: nil, lastModified: nil, wireBytes: 0,
      isMultiplexed: false)
  }

  func fault(_ code: String, _ message: String) -> Fault {
    Fault(code, .permanent, message, httpStatus: facts.status, host: facts.host)
  }

  func result(isShared: Bool) -> StageResult {
    func text(_ value: String?) -> Value { value.map { .string($0) } ?? .null }
    let values: [Value] = [
      .string(facts.finalURL), .int(facts.status), .int(file.bytes), text(facts.media), .string(file.sha256.hex),
      text(facts.etag), text(facts.lastModified),
    ]
    var fields = Fields(names: Fetched.fieldNames, values: values)
    // Bytes that stay in memory are nowhere.
    if let path = file.writtenPath { fields["path"] = .string(path) }
    var result = StageResult(
      content: .file(file), fields: fields, isShared: isShared, bytesIn: isShared ? 0 : facts.wireBytes)
    result.isMultiplexed = facts.isMultiplexed
    return result
  }

  private static let fieldNames = [
    "final_url", "status", "bytes", "media", "sha256", "etag", "last_modified",
  ]

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
final class FetchTransfers: EndsWithRun {
  private let engine: TransferEngine
  private let coalescer = TransferCoalescer()
  private let unfinished = UnfinishedFiles()
  private let robots = RobotsFiles()
  /// What the manifest says of hosts.
  let hosts: FetchHosts

  init(engine: TransferEngine, settings: RunSettings) {
    self.engine = engine
    hosts = FetchHosts(settings)
  }

  /// The one of a run.
  static func shared(by services: any RunServices) throws(Fault) -> FetchTransfers {
    try services.shared(FetchTransfers.self) { () throws(Fault) in
      let settings = services.settings
      let engine = TransferEngine(idleConnections: max(4, min(256, DescriptorLimit.roomForTransfers)))
      engine.setBandwidth(settings.bandwidth)
      services.onBandwidthChange { [weak engine] in engine?.setBandwidth($0) }
      return FetchTransfers(engine: engine, settings: settings)
    }
  }

  /// What came of bodies whose next try is another run's is put where that finds it.
  func runEnds() { unfinished.leave() }

  /// Whether a host can be reached.
  func reach(_ host: String) async -> Reach {
    let colon = host.lastIndex(of: ":") ?? host.endIndex
    let port = Int(host[colon...].dropFirst()) ?? 443
    let way = hosts.facts(of: FetchTransfers.bare(host[..<colon]), port: port).way
    return switch await engine.reach(host, way: way) {
    case .open: .open
    case .refused: .refused
    case .silent: .silent
    case .gone: .gone
    }
  }

  private static func bare(_ host: Substring) -> String {
    host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : String(host)
  }

  /// The file that an order brings, and whether somebody else's equal order has brought it.
  func fetch(_ order: FetchOrder, in context: StageContext) async throws(Fault) -> (Fetched, isShared: Bool) {
    if order.heedsRobots { try await robots.check(order, engine) }
    let begun = Guarded(BeginState())
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        do throws(Fault) {
          let work = try begin(order, in: context) { continuation.resume(returning: $0) }
          let isCancelled = begun.withLock { state in
            state.work = work
            return state.isCancelled
          }
          if isCancelled { work.cancel() }
        } catch { continuation.resume(returning: .failure(error)) }
      }
    } onCancel: {
      let work = begun.withLock { state in
        state.isCancelled = true
        return state.work
      }
      work?.cancel()
    }
    let result = try outcome.get()
    try engine.saveCookies(of: order.request)
    return result
  }

  /// What a task has begun, and whether it was cancelled meanwhile.
  private struct BeginState {
    var work: BegunWork?
    var isCancelled = false
  }

  /// Whether an order needs nothing but its transfer, so that `begin` does all of it.
  func isPlain(_ order: FetchOrder) -> Bool { !order.heedsRobots && order.request.credentials.cookies == nil }

  /// Begins to bring the file of an order; what comes is told on any thread.
  ///
  /// A request that need not bring the same twice is made for its own order.
  func begin(
    _ order: FetchOrder, in context: StageContext,
    done: @escaping @Sendable (TransferCoalescer.Outcome) -> Void
  ) throws(Fault) -> BegunWork {
    let services = context.services
    guard let key = order.key else {
      let start = UnfinishedFile(try services.makePartial())
      return try transfer(order.request, start, nil, context.progress) { done($0.map { ($0, isShared: false) }) }
    }
    return coalescer.join(key, progress: context.progress, done: done) {
      (progress, landing) throws(Fault) in try goOn(order.request, key, services, progress, landing)
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
  private func goOn(
    _ request: TransferRequest, _ key: RequestKey, _ services: any RunServices,
    _ progress: @escaping TransferCoalescer.Progress, _ landing: @escaping TransferCoalescer.Landing
  ) throws(Fault) -> BegunWork {
    let start: UnfinishedFile
    if let kept = unfinished.take(key) ?? UnfinishedFile(leftFor: key, by: services) {
      start = kept
    } else {
      start = UnfinishedFile(try services.makePartial(), key: key)
    }
    guard start.bytes > 0 else { return try transfer(request, start, key, progress, landing) }
    return try transfer(request, start, key, progress) { result in
      landing(
        result.mapError { fault in
          guard fault.code == "http.416" else { return fault }
          // There is no such part any more. As with a part that does not fit, the next try begins anew.
          return Fault(
            "range.mismatch", .transient, "the body is shorter than what came of it before", httpStatus: 416,
            host: fault.host)
        })
    }
  }

  private func transfer(
    _ request: TransferRequest, _ file: UnfinishedFile, _ key: RequestKey?,
    _ progress: @escaping TransferCoalescer.Progress, _ landing: @escaping TransferCoalescer.Landing
  ) throws(Fault) -> BegunWork {
    let partial = file.partial
    var request = request
    request.record = file.record
    request.resumeAt = file.bytes
    request.restart = { () throws(Fault) in try partial.restart() }
    let ticket: TransferTicket
    do throws(Fault) {
      ticket = try engine.begin(request, into: partial, progress: progress) { [unfinished] outcome in
        do throws(Fault) {
          let result = try outcome.get()
          landing(.success(Fetched(try partial.finish(), result)))
        } catch {
          FetchTransfers.putAway(file, key, unfinished, after: error)
          landing(.failure(error))
        }
      }
    } catch {
      FetchTransfers.putAway(file, key, unfinished, after: error)
      throw error
    }
    return BegunWork { ticket.cancel() }
  }

  /// Keeps what has come for another try, where that can go on with it.
  private static func putAway(_ file: UnfinishedFile, _ key: RequestKey?, _ files: UnfinishedFiles, after fault: Fault)
  {
    // Cancelled too: a run that is paused at once goes on later.
    let mayComeBack = fault.kind.isRetryable && fault.code != "range.mismatch" || fault.kind == .cancelled
    if let key, mayComeBack, file.canGoOn {
      files.keep(UnfinishedFile(file.partial, file.record, bytes: file.partial.count), key)
    } else {
      file.partial.abandon()
    }
  }
}
