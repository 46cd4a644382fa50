import FlowBase
import FlowTransfer

// Fetches one address many times and keeps nothing: `transfer-bench URL [REQUESTS [AT ONCE [LOOPS]]]` prints a line.

/// Counts what comes.
final class CountingSink: ByteSink, Sendable {
  private let bytes = Guarded(0)
  var count: Int { bytes.withLock { $0 } }
  func write(_ bytes: UnsafeRawBufferPointer) throws(Fault) { self.bytes.withLock { $0 += bytes.count } }
}

let arguments = CommandLine.arguments
guard arguments.count > 1 else {
  print("transfer-bench URL [REQUESTS [AT ONCE [LOOPS]]]")
  throw Fault("usage", .config, "an address is missing")
}
func number(_ place: Int, _ fallback: Int) -> Int {
  arguments.count > place ? Int(arguments[place]) ?? fallback : fallback
}
let (requests, width, loops) = (number(2, 20_000), number(3, 64), number(4, 2))
let address = arguments[1]
let engine = TransferEngine(loops: loops, environment: { _ in nil })
let taken = Guarded(0)
let failed = Guarded<[String: Int]>([:])
let sink = CountingSink()
let clock = SystemTime()
let start = clock.now()
await withTaskGroup(of: Void.self) { group in
  for _ in 0..<width {
    group.addTask {
      while taken.withLock({ taken in
        taken += 1
        return taken <= requests
      }) {
        let request = TransferRequest(url: address, addresses: AddressPolicy(allowsPrivate: true))
        do throws(Fault) {
          _ = try await engine.perform(request, into: sink)
        } catch {
          failed.withLock { $0[error.code, default: 0] += 1 }
        }
      }
    }
  }
}
let seconds = (clock.now() - start).seconds
let rate = decimal(Double(requests) / seconds, digits: 0)
let volume = ByteCount(Int(Double(sink.count) / seconds)).text
print("\(rate) requests/s, \(volume)/s, \(decimal(seconds, digits: 2)) s, failed: \(failed.withLock { $0 })")
