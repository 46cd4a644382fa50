internal import FlowBase

/// What comes after a try to deliver a batch.
struct WebhookRetries {
  enum Step: Equatable {
    /// It is tried again after this time.
    case again(Interval)
    /// The receiver does not want this batch: it is put aside, and the next has its turn.
    case putAside
    /// Nothing more can be delivered in this run.
    case stop
  }

  /// The waits between tries; the last goes on.
  let waits: [Interval]
  private var tries = 0
  private var refusals = 0

  static let usualWaits: [Interval] = [.seconds(1), .seconds(5), .seconds(30), .seconds(120), .seconds(300)]
  /// What a receiver refuses so often, it will not take.
  private static let refusalLimit = 3
  private static let longestWait = Interval.seconds(600)

  init(waits: [Interval] = usualWaits) { self.waits = waits.isEmpty ? WebhookRetries.usualWaits : waits }

  /// A try has failed; `chance`, from 0 to 1, spreads the tries of many senders.
  mutating func handle(_ fault: Fault, chance: Double) -> Step {
    switch fault.httpStatus {
    case 410: return .stop
    case 408, 425, 429: break
    case let status? where (400...499).contains(status):
      refusals += 1
      if refusals >= WebhookRetries.refusalLimit { return .putAside }
    case nil where WebhookRetries.isHopeless(fault): return .stop
    default: break
    }
    let wait = waits[min(tries, waits.count - 1)]
    tries += 1
    let spread = Interval(nanoseconds: Int(Double(wait.nanoseconds) * (0.8 + 0.4 * chance)))
    guard let asked = fault.retryAfter else { return .again(spread) }
    // A receiver that asks for no pause at all still gets one.
    let extra = Interval(nanoseconds: Int(Double(min(asked, waits[0]).nanoseconds) * 0.2 * chance))
    return .again(min(WebhookRetries.longestWait, max(asked + extra, min(spread, waits[0]))))
  }

  /// Whether no later try can do better, because this side is wrong.
  private static func isHopeless(_ fault: Fault) -> Bool {
    ["url.blocked", "url.malformed", "url.invalid", "url.scheme", "header.invalid"].contains(fault.code)
      || fault.kind == .config || fault.kind == .internal
  }
}
