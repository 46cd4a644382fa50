import FlowBase
import FlowTesting
import FlowTransfer

/// Keeps what it gets; fails on demand.
final class MemorySink: ByteSink, @unchecked Sendable {
  private let state = Guarded<[UInt8]>([])
  private let limit: Int

  init(failingAfter limit: Int = .max) { self.limit = limit }

  var bytes: [UInt8] { state.withLock { $0 } }

  func write(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
    let count = state.withLock { state in
      unsafe state.append(contentsOf: bytes)
      return state.count
    }
    if count > limit { throw Fault("disk.full", .local, "no room") }
  }
}

/// Hashes what it gets, and takes its time for it.
final class HashingSink: ByteSink, @unchecked Sendable {
  private let state = Guarded((count: 0, stream: DigestStream()))

  var count: Int { state.withLock { $0.count } }
  var digest: Digest { state.withLock { $0.stream.finish() } }

  func write(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
    state.withLock { state in
      state.count += bytes.count
      unsafe state.stream.update(bytes)
      // As slow as if it were eight times as long.
      let other = DigestStream()
      for _ in 0..<7 { unsafe other.update(bytes) }
    }
  }
}

/// What came of a request.
struct Outcome: Sendable {
  var result: TransferResult?
  var fault: Fault?
  var bytes: [UInt8]
  var code: String? { fault?.code }
}

let engine = TransferEngine(environment: { _ in nil })

/// A request that may reach this machine, with limits that no healthy server on it ever meets.
func request(_ url: String, _ change: (inout TransferRequest) -> Void = { _ in }) -> TransferRequest {
  var request = TransferRequest(url: url, addresses: AddressPolicy(allowsPrivate: true))
  change(&request)
  return request
}

func perform(_ request: TransferRequest, sink: MemorySink = MemorySink()) async -> Outcome {
  do throws(Fault) {
    let result = try await engine.perform(request, into: sink)
    return Outcome(result: result, bytes: sink.bytes)
  } catch {
    return Outcome(fault: error, bytes: sink.bytes)
  }
}

func perform(_ url: String, _ change: (inout TransferRequest) -> Void = { _ in }) async -> Outcome {
  await perform(request(url, change))
}
