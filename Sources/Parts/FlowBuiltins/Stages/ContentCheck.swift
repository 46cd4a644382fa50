internal import FlowBase
internal import FlowParts

/// Holds bytes against what is known of them beforehand.
struct ContentCheck: Sendable {
  var expected: Expectation

  init(_ expected: Expectation) { self.expected = expected }

  /// Throws the first expectation that does not hold: the size, as it costs nothing, then the digests.
  func check(_ content: Content, on pool: BlockingPool) async throws(Fault) {
    try checkSize(content.byteCount)
    if let digest = expected.sha256 { try compare(digest, try await content.digest(.sha256, on: pool)) }
    if let digest = expected.sha512 { try compare(digest, try await content.digest(.sha512, on: pool)) }
  }

  /// Throws what does not hold of a file's size and its SHA-256, which are known without reading it.
  func checkAtOnce(_ file: HeldFile) throws(Fault) {
    try checkSize(file.bytes)
    if let digest = expected.sha256 { try compare(digest, file.sha256) }
  }

  private func checkSize(_ actual: Int?) throws(Fault) {
    guard let size = expected.size, let actual, size != actual else { return }
    throw Fault("verify.size", .permanent, "\(actual) bytes came, \(size) were expected")
  }

  private func compare(_ expected: Digest, _ actual: Digest) throws(Fault) {
    guard expected != actual else { return }
    throw Fault(
      "verify.digest", .permanent,
      "the \(expected.algorithm.rawValue) is \(actual.hex), \(expected.hex) was expected")
  }
}

extension Content {
  /// How many bytes there are; nil where that is not known before the work is done.
  var byteCount: Int? {
    switch self {
    case .file(let file): file.bytes
    case .bytes(let bytes): bytes.count
    case .deferred: nil
    }
  }

  /// The digest of the bytes; a file is read on the pool's threads.
  func digest(_ algorithm: DigestAlgorithm, on pool: BlockingPool) async throws(Fault) -> Digest {
    switch self {
    case .file(let file) where algorithm == .sha256: return file.sha256
    case .file(let file):
      if let bytes = file.memory { return try await Content.bytes(bytes).digest(algorithm, on: pool) }
      let path = try file.path
      return try await pool.run { () throws(Fault) in try Digest(algorithm, ofFileAt: path) }
    case .bytes(let bytes):
      let stream = DigestStream(algorithm)
      stream.update(bytes)
      return stream.finish()
    case .deferred(let deferred):
      do { return try await deferred.realise().digest(algorithm, on: pool) } catch { throw Fault(error) }
    }
  }

  /// The first bytes, enough to see what they are; a file is read on the pool's threads.
  func prefix(on pool: BlockingPool) async throws(Fault) -> [UInt8] {
    switch self {
    case .file(let file):
      if let bytes = file.memory { return Array(bytes.prefix(MediaType.prefixLength)) }
      let path = try file.path
      return try await pool.run { () throws(Fault) in
        try naming("read", path) { () throws(Errno) in try FileSystem.read(path, limit: MediaType.prefixLength) }
      }
    case .bytes(let bytes): return Array(bytes.prefix(MediaType.prefixLength))
    case .deferred(let deferred):
      do { return try await deferred.realise().prefix(on: pool) } catch { throw Fault(error) }
    }
  }
}

extension BlockingPool {
  /// Does work that blocks on one of the pool's threads.
  func run<Result: Sendable>(_ work: @escaping @Sendable () throws(Fault) -> Result) async throws(Fault) -> Result {
    let outcome = await withTaskExecutorPreference(self) { () async -> Swift.Result<Result, Fault> in
      await BlockingPool.attempt(work)
    }
    return try outcome.get()
  }

  /// Leaves the caller's executor for the preferred one.
  @concurrent
  private static func attempt<Result: Sendable>(
    _ work: @Sendable () throws(Fault) -> Result
  ) async -> Swift.Result<Result, Fault> {
    do throws(Fault) { return .success(try work()) } catch { return .failure(error) }
  }
}
