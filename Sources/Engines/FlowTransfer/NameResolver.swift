internal import CCurl
public import FlowBase
internal import Glibc

/// What a name stands for.
public enum NameAnswer: Sendable, Hashable {
  /// These addresses, the one to try first in front.
  case addresses([NetworkAddress])
  /// There is no such name, or it has no address.
  case missing
  /// Nobody could say.
  case unknown(String)

  /// What the system's resolver says; blocks its thread for as long as that takes.
  public static func ofSystem(_ name: String) -> NameAnswer {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(name, nil, &hints, &found)
    defer { if let found = unsafe found { unsafe freeaddrinfo(found) } }
    guard code == 0 else {
      // EAI_NODATA, behind a feature macro: the name exists without any address.
      return code == EAI_NONAME || code == -5 ? .missing : .unknown(unsafe String(cString: gai_strerror(code)))
    }
    var addresses: [NetworkAddress] = []
    var next = unsafe found
    while let entry = unsafe next {
      if let address = unsafe NetworkAddress(entry.pointee.ai_addr), !addresses.contains(address) {
        addresses.append(address)
      }
      unsafe next = unsafe entry.pointee.ai_next
    }
    return addresses.isEmpty ? .missing : .addresses(addresses)
  }
}

extension NetworkAddress {
  /// The address in a socket address; nil for other kinds.
  init?(_ generic: UnsafeMutablePointer<sockaddr>?) {
    guard let generic = unsafe generic else { return nil }
    let raw = UnsafeRawPointer(generic)
    switch Int32(unsafe generic.pointee.sa_family) {
    case AF_INET:
      let address = unsafe raw.loadUnaligned(as: sockaddr_in.self).sin_addr
      self.init(bytes: unsafe withUnsafeBytes(of: address) { unsafe Array($0) })
    case AF_INET6:
      let address = unsafe raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
      self.init(bytes: unsafe withUnsafeBytes(of: address) { unsafe Array($0) })
    default: return nil
    }
  }
}

/// Resolves names on threads of its own, each name once at a time, and remembers what came for a while.
///
/// libcurl would do so too, but it does not tell a name that does not exist from a resolver that does not answer.
final class NameResolver: Sendable {
  typealias Waiter = @Sendable (NameAnswer) -> Void

  private struct State {
    var known: [String: (answer: NameAnswer, until: Instant)] = [:]
    var asked: [String: [Waiter]] = [:]
    var line: [String] = []
    var threads = 0
  }

  private let state = Guarded(State())
  private let lookUp: @Sendable (String) -> NameAnswer
  private let clock: any TimeSource

  static let memory = Interval.seconds(60)
  static let memoryOfFailures = Interval.seconds(5)
  private static let mostThreads = 8
  private static let mostNames = 10_000

  init(clock: any TimeSource = SystemTime(), lookUp: @escaping @Sendable (String) -> NameAnswer) {
    self.clock = clock
    self.lookUp = lookUp
  }

  /// The answer, if it is known; else it is given to the waiter later, on another thread.
  func resolve(_ name: String, _ waiter: @escaping Waiter) -> NameAnswer? {
    let now = clock.now()
    let (answer, starts) = state.withLock { state -> (NameAnswer?, Bool) in
      if let known = state.known[name], now < known.until { return (known.answer, false) }
      if state.asked[name] != nil {
        state.asked[name]?.append(waiter)
        return (nil, false)
      }
      state.asked[name] = [waiter]
      state.line.append(name)
      guard state.threads < NameResolver.mostThreads else { return (nil, false) }
      state.threads += 1
      return (nil, true)
    }
    if starts { WorkerThread.start("names") { [self] in work() } }
    return answer
  }

  /// Puts the first half of a name's addresses behind the others: none of them took a connection in the time there was.
  ///
  /// Each gets half of what is left, so that a few dead ones in front use up all of it, in each try alike.
  func passOver(_ name: String) {
    state.withLock { state in
      guard let known = state.known[name], case .addresses(let addresses) = known.answer, addresses.count > 1 else {
        return
      }
      let half = addresses.count / 2
      state.known[name]?.answer = .addresses(Array(addresses[half...] + addresses[..<half]))
    }
  }

  /// Asks at once, whatever is remembered; blocks.
  func ask(_ name: String) -> NameAnswer { lookUp(name) }

  private func work() {
    while true {
      let next = state.withLock { state -> String? in
        guard !state.line.isEmpty else {
          state.threads -= 1
          return nil
        }
        return state.line.removeFirst()
      }
      guard let name = next else { return }
      let answer = lookUp(name)
      let isGood = if case .addresses = answer { true } else { false }
      let until = clock.now() + (isGood ? NameResolver.memory : NameResolver.memoryOfFailures)
      let waiters = state.withLock { state in
        if state.known.count >= NameResolver.mostNames { state.known.removeAll() }
        state.known[name] = (answer, until)
        return state.asked.removeValue(forKey: name) ?? []
      }
      for waiter in waiters { waiter(answer) }
    }
  }
}

extension NameAnswer {
  /// The fault that an answer without addresses is.
  func fault(host: String) -> Fault? {
    switch self {
    case .addresses: nil
    case .missing: Fault("dns.nxdomain", .permanent, "there is no host of the name \(host)", host: host)
    case .unknown(let words):
      Fault("dns.temporary", .transient, "the name \(host) could not be resolved: \(words)", host: host)
    }
  }
}
