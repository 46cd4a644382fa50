internal import Glibc

/// Something whose owner sleeps until it is woken.
public protocol Wakeable: AnyObject, Sendable {
  /// Wakes the owner, if it sleeps.
  func wake()
}

/// Puts off waking other threads until everything that they are to hear has been said.
///
/// A thread that says thirty things in a turn would else wake the same listener up to thirty times, and each time it
/// would find a single letter. Never wait for another thread within `together`: it may not know that it has work.
public enum Wakes {
  private final class Pending {
    var depth = 0
    var targets: [any Wakeable] = []
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    unsafe pthread_key_create(&key) { pending in
      if let pending = unsafe pending { unsafe Unmanaged<Pending>.fromOpaque(pending).release() }
    }
    return key
  }()

  private static var ofThread: Pending? {
    unsafe pthread_getspecific(key).map { unsafe Unmanaged<Pending>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func makeOfThread() -> Pending {
    if let pending = ofThread { return pending }
    let pending = Pending()
    unsafe pthread_setspecific(key, Unmanaged.passRetained(pending).toOpaque())
    return pending
  }

  /// Wakes an owner: at once, or at the end of what this thread does together.
  public static func wake(_ target: some Wakeable) {
    guard let pending = ofThread, pending.depth > 0 else { return target.wake() }
    if !pending.targets.contains(where: { $0 === target }) { pending.targets.append(target) }
  }

  /// Does something, and wakes whoever is to be woken by it once at its end.
  public static func together<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    let pending = makeOfThread()
    pending.depth += 1
    defer {
      pending.depth -= 1
      if pending.depth == 0, !pending.targets.isEmpty {
        for target in pending.targets { target.wake() }
        pending.targets.removeAll(keepingCapacity: true)
      }
    }
    return try body()
  }
}
