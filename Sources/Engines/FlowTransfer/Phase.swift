internal import FlowBase

/// How far a hop has come, and when it is too late: libcurl knows no times for a first byte or between two.
struct Phase: Sendable, Hashable {
  enum Step: Sendable, Hashable { case name, connect, secure, waiting, body }

  var step: Step
  var limits: TransferLimits
  /// When the transfer, the hop and the present step began, and when the last byte came.
  var start: Instant
  var stepStart: Instant
  var lastByte: Instant
  /// The bytes since the speed's window began.
  var windowStart: Instant
  var windowBytes: Int

  /// What is to be done about a transfer at some instant.
  enum Verdict: Sendable, Hashable {
    /// Look again not later than then.
    case wait(until: Instant)
    /// The window of the speed is over and all is well: begin the next.
    case nextWindow
    /// It is too late.
    case late(Fault)
  }

  /// The code of a transfer that has taken its whole time.
  static let totalCode = "net.timeout.total"

  func verdict(at now: Instant, host: String) -> Verdict {
    if let total = limits.total, now >= start + total {
      return late(Phase.totalCode, "did not finish within \(total.text)", host)
    }
    // The next step cannot be late before its own time has passed, and it has not begun yet.
    var next = now + limits.soonest
    if let total = limits.total { next = min(next, start + total) }
    switch step {
    case .name, .connect, .secure:
      let end = stepStart + limits.connect
      if now >= end { return .late(Phase.connectFault(step, limits.connect, host: host)) }
      return .wait(until: min(next, end))
    case .waiting:
      let end = stepStart + limits.firstByte
      if now >= end {
        return late("net.timeout.first_byte", "sent no answer within \(limits.firstByte.text)", host)
      }
      return .wait(until: min(next, end))
    case .body:
      let end = lastByte + limits.idle
      if now >= end { return late("net.timeout.idle", "sent nothing for \(limits.idle.text)", host) }
      guard limits.minimumSpeed > 0 else { return .wait(until: min(next, end)) }
      let windowEnd = windowStart + limits.speedWindow
      if now >= windowEnd {
        let speed = Double(windowBytes) / max(1e-9, (now - windowStart).seconds)
        if speed >= Double(limits.minimumSpeed) { return .nextWindow }
        return late(
          "net.slow",
          "sent \(ByteCount(Int(speed)).text) a second over \(limits.speedWindow.text), the least is "
            + "\(ByteCount(limits.minimumSpeed).text)", host)
      }
      return .wait(until: min(next, end, windowEnd))
    }
  }

  static func connectFault(_ step: Step, _ limit: Interval, host: String) -> Fault {
    switch step {
    case .name:
      Fault("dns.temporary", .transient, "the name \(host) was not resolved within \(limit.text)", host: host)
    case .secure:
      Fault("net.timeout.tls", .transient, "\(host) did not finish the TLS handshake within \(limit.text)", host: host)
    default:
      Fault("net.timeout.connect", .transient, "\(host) did not take the connection within \(limit.text)", host: host)
    }
  }

  private func late(_ code: String, _ words: String, _ host: String) -> Verdict {
    .late(Fault(code, .transient, "\(host) \(words)", host: host))
  }
}

extension TransferLimits {
  /// The shortest time after which some step that begins now can be late.
  var soonest: Interval {
    let steps = min(connect, firstByte, idle)
    return minimumSpeed > 0 ? min(steps, speedWindow) : steps
  }
}
