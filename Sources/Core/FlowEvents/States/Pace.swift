public import FlowBase

/// Says when `run.progress` is due: once a second while something moves, and every ten seconds in any case.
public struct RunProgressPace: Sendable {
  /// The least time between two readings.
  public static let shortest = Interval.seconds(1)
  /// The longest time without one.
  public static let longest = Interval.seconds(10)
  /// Rates are taken over so many readings.
  private static let memory = 8

  private var last: Instant
  private var lastReading: (ended: Int, bytes: Int, inFlight: Int)?
  private var past: [(at: Instant, ended: Int, bytes: Int)]

  /// A pace that begins at an instant.
  public init(start: Instant) {
    last = start
    past = [(start, 0, 0)]
  }

  /// Whether a reading is due now, given what it would say.
  public func isDue(_ ended: Int, _ bytes: Int, _ inFlight: Int, at now: Instant) -> Bool {
    if now - last >= RunProgressPace.longest { return true }
    guard now - last >= RunProgressPace.shortest else { return false }
    guard let lastReading else { return true }
    return lastReading != (ended, bytes, inFlight)
  }

  /// Takes a reading and gives the rates of late: items and bytes a second.
  public mutating func take(_ ended: Int, _ bytes: Int, _ inFlight: Int, at now: Instant) -> (
    items: Double, bytes: Double
  ) {
    last = now
    lastReading = (ended, bytes, inFlight)
    past.append((now, ended, bytes))
    if past.count > RunProgressPace.memory { past.removeFirst() }
    guard let first = past.first, now > first.at else { return (0, 0) }
    let span = (now - first.at).seconds
    return (Double(ended - first.ended) / span, Double(bytes - first.bytes) / span)
  }

  /// When the next reading may be due.
  public var next: Instant { last + RunProgressPace.shortest }
}

/// Says which of an item's progress readings are told: twice a second an item, and none past a thousand items.
public struct ItemProgressPace: Sendable {
  /// The least time between two readings of one item.
  public static let shortest = Interval.milliseconds(500)
  /// With more items than this in a run, single items' progress is not told.
  public static let mostItems = 1000

  private struct Seen: Sendable {
    var at: Instant
    var attempt: Int
    var ratio: Double
  }
  private var seen: [String: Seen] = [:]

  /// A pace that has seen nothing.
  public init() {}

  /// Whether a reading is told, and its ratio, which never falls within an attempt.
  public mutating func pass(
    _ item: String, attempt: Int, ratio: Double?, items: Int, at now: Instant
  ) -> (tell: Bool, ratio: Double?) {
    guard items <= ItemProgressPace.mostItems else { return (false, nil) }
    let before = seen[item]
    // A new try starts from its own ratio, and keeps to the item's pace all the same.
    if let before, now - before.at < ItemProgressPace.shortest { return (false, nil) }
    let least = before?.attempt == attempt ? before?.ratio ?? 0 : 0
    let held = ratio.map { max(min($0, 1), least) }
    seen[item] = Seen(at: now, attempt: attempt, ratio: held ?? least)
    return (true, held)
  }

  /// An item has ended.
  public mutating func forget(_ item: String) { seen[item] = nil }
}
