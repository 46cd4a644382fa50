import Dispatch

/// Holds a server's answers until the test lets them go, one at a time or all; gives up by itself after a while.
final class Latch: Sendable {
  private let permits = DispatchSemaphore(value: 0)

  /// Waits, on a server's thread, for a permit.
  func hold() { _ = permits.wait(timeout: .now() + 60) }

  /// Lets so many answers go.
  func release(_ count: Int = 1) { for _ in 0..<count { permits.signal() } }
}
