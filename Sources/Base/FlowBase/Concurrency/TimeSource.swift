internal import Glibc

/// A reading of a clock that only goes forward, in nanoseconds since some start.
public struct Instant: Sendable, Hashable, Comparable {
  /// Nanoseconds since the clock's start.
  public var nanoseconds: Int

  /// A reading.
  public init(nanoseconds: Int) { self.nanoseconds = nanoseconds }

  /// Whether the left reading is earlier.
  public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
  /// The reading after a span; the last there is where that lies beyond it.
  public static func + (left: Instant, right: Interval) -> Instant {
    Instant(nanoseconds: left.nanoseconds.addingSaturating(right.nanoseconds))
  }
  /// The span between two readings.
  public static func - (left: Instant, right: Instant) -> Interval {
    Interval(nanoseconds: left.nanoseconds - right.nanoseconds)
  }
}

/// A wall-clock time in UTC: microseconds since 1970.
public struct WallTime: Sendable, Hashable, Comparable {
  /// Microseconds since 1970-01-01T00:00:00Z.
  public var microseconds: Int

  /// A time.
  public init(microseconds: Int) { self.microseconds = microseconds }

  /// Whether the left time is earlier.
  public static func < (left: WallTime, right: WallTime) -> Bool { left.microseconds < right.microseconds }

  /// The civil date of a number of days since 1970-01-01, by the proleptic Gregorian calendar.
  public static func civil(fromDays days: Int) -> (year: Int, month: Int, day: Int) {
    // Counts from 0000-03-01, so that a leap day is the last day of a year of this count.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    let civilMonth = month < 10 ? month + 3 : month - 9
    return (yearOfEra + era * 400 + (civilMonth <= 2 ? 1 : 0), civilMonth, day)
  }

  /// The number of days from 1970-01-01 to a civil date.
  public static func days(year: Int, month: Int, day: Int) -> Int {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The time as RFC 3339 with microseconds, `2026-11-20T17:30:00.000000Z`.
  public var text: String {
    var writer = JSONWriter()
    writer.append(time: self)
    return writer.text
  }
}

extension JSONWriter {
  /// A wall time as a JSON string.
  public mutating func time(_ time: WallTime) {
    separate()
    unsafe put(29) { place in
      unsafe place[0] = UInt8(ascii: "\"")
      unsafe JSONWriter.write(time, at: place + 1)
      unsafe place[28] = UInt8(ascii: "\"")
    }
  }

  mutating func append(time: WallTime) { unsafe put(27) { unsafe JSONWriter.write(time, at: $0) } }

  /// Writes the 27 characters of a time.
  private static func write(_ time: WallTime, at place: UnsafeMutablePointer<UInt8>) {
    let second = time.microseconds >= 0 ? time.microseconds / 1_000_000 : (time.microseconds - 999_999) / 1_000_000
    let days = second >= 0 ? second / 86400 : (second - 86399) / 86400
    let (year, month, day) = WallTime.civil(fromDays: days)
    let inDay = second - days * 86400
    unsafe write(year.magnitude, 4, at: place)
    unsafe place[4] = UInt8(ascii: "-")
    unsafe write(month.magnitude, 2, at: place + 5)
    unsafe place[7] = UInt8(ascii: "-")
    unsafe write(day.magnitude, 2, at: place + 8)
    unsafe place[10] = UInt8(ascii: "T")
    unsafe write((inDay / 3600).magnitude, 2, at: place + 11)
    unsafe place[13] = UInt8(ascii: ":")
    unsafe write((inDay / 60 % 60).magnitude, 2, at: place + 14)
    unsafe place[16] = UInt8(ascii: ":")
    unsafe write((inDay % 60).magnitude, 2, at: place + 17)
    unsafe place[19] = UInt8(ascii: ".")
    unsafe write((time.microseconds - second * 1_000_000).magnitude, 6, at: place + 20)
    unsafe place[26] = UInt8(ascii: "Z")
  }
}

/// What tells the time; tests put a clock of their own in its place.
public protocol TimeSource: Sendable {
  /// The monotonic clock.
  func now() -> Instant
  /// The wall clock.
  func wall() -> WallTime
}

/// The machine's clocks.
public struct SystemTime: TimeSource {
  /// The machine's clocks.
  public init() {}

  /// The monotonic clock.
  public func now() -> Instant {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: time.tv_sec * 1_000_000_000 + time.tv_nsec)
  }

  /// The wall clock.
  public func wall() -> WallTime {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(microseconds: time.tv_sec * 1_000_000 + time.tv_nsec / 1000)
  }
}

extension WorkerThread {
  /// Lets the calling thread, which must be one of our own, do nothing for a moment.
  public static func rest(_ interval: Interval) {
    guard interval > .zero else { return }
    var span = timespec(
      tv_sec: interval.nanoseconds / 1_000_000_000, tv_nsec: interval.nanoseconds % 1_000_000_000)
    unsafe nanosleep(&span, nil)
  }
}
