import FlowBase

/// Holds threads until it is opened; stays open.
final class Latch: Sendable {
  private let isOpen = Guarded(false)
  private let waiting = Guarded<[Mailbox<Bool>]>([])

  func wait() {
    let mailbox = Mailbox<Bool>()
    waiting.withLock { $0.append(mailbox) }
    if isOpen.withLock({ $0 }) { return }
    var letters: [Bool] = []
    // Bounded, so that a test which fails does not hang.
    mailbox.take(into: &letters, until: SystemTime().now() + .seconds(10))
  }

  func open() {
    isOpen.withLock { $0 = true }
    for mailbox in waiting.withLock({ $0 }) { mailbox.post(true) }
  }
}
