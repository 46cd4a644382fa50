/// A span of time in nanoseconds.
public struct Interval: Sendable, Hashable, Comparable {
  /// The length in nanoseconds.
  public var nanoseconds: Int

  /// A span of so many nanoseconds.
  public init(nanoseconds: Int) { self.nanoseconds = nanoseconds }
  /// A span of so many seconds; what does not fit is cut to the longest span.
  public init(seconds: Double) {
    nanoseconds = Int(exactly: (seconds * 1e9).rounded()) ?? (seconds > 0 ? .max / 2 : 0)
  }
  /// A span of so many milliseconds.
  public static func milliseconds(_ count: Int) -> Interval { Interval(nanoseconds: count * 1_000_000) }
  /// A span of so many microseconds.
  public static func microseconds(_ count: Int) -> Interval { Interval(nanoseconds: count * 1000) }
  /// A span of so many seconds.
  public static func seconds(_ count: Int) -> Interval { Interval(nanoseconds: count * 1_000_000_000) }
  /// No time.
  public static let zero = Interval(nanoseconds: 0)

  /// The length in seconds.
  public var seconds: Double { Double(nanoseconds) / 1e9 }
  /// The length in milliseconds.
  public var milliseconds: Double { Double(nanoseconds) / 1e6 }

  /// Whether the left span is shorter.
  public static func < (left: Interval, right: Interval) -> Bool { left.nanoseconds < right.nanoseconds }
  /// The sum of two spans.
  public static func + (left: Interval, right: Interval) -> Interval {
    Interval(nanoseconds: left.nanoseconds + right.nanoseconds)
  }

  /// Reads `500ms`, `2s`, `1.5m`, `3h`, `7d`; nil for anything else, a missing unit included.
  public init?(parsing text: String) {
    let units: [(String, Double)] = [
      ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9), ("d", 86400e9),
    ]
    guard let (number, unit) = splitQuantity(text), let scale = units.first(where: { $0.0 == unit })?.1,
      let whole = Int(exactly: (number * scale).rounded())
    else { return nil }
    nanoseconds = whole
  }

  /// The span as the manifest writes it, in the largest unit that keeps it whole.
  public var text: String {
    let units = [("d", 86400_000_000_000), ("h", 3600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000)]
    if nanoseconds == 0 { return "0s" }
    for (unit, scale) in units where nanoseconds % scale == 0 { return "\(nanoseconds / scale)\(unit)" }
    return "\(Value.text(of: milliseconds))ms"
  }
}

/// A number of bytes, as `50MB` (powers of 1000) or `64KiB` (powers of 1024).
public struct ByteCount: Sendable, Hashable, Comparable {
  /// How many bytes.
  public var bytes: Int

  /// So many bytes.
  public init(_ bytes: Int) { self.bytes = bytes }

  /// Whether the left count is smaller.
  public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }

  static let units: [(String, Double)] = [
    ("B", 1), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12),
    ("KiB", 1024), ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("TiB", 1_099_511_627_776),
  ]

  /// Reads `4096`, `50MB`, `1.5 GiB`; nil for anything else.
  public init?(parsing text: String) {
    guard let (number, unit) = splitQuantity(text),
      let scale = unit.isEmpty ? 1 : ByteCount.units.first(where: { $0.0 == unit })?.1,
      let whole = Int(exactly: (number * scale).rounded())
    else { return nil }
    bytes = whole
  }

  /// The count for people: three significant digits and a unit of powers of 1000.
  public var text: String {
    let steps: [(String, Double)] = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)]
    for (unit, scale) in steps where Double(bytes) >= scale * 0.9995 {
      let scaled = Double(bytes) / scale
      let digits = scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2
      return "\(decimal(scaled, digits: digits)) \(unit)"
    }
    return "\(bytes) B"
  }
}

/// How often something may happen, as `20/s`, `100/m`, `5000/h`.
public struct Rate: Sendable, Hashable {
  /// Events a second.
  public var perSecond: Double

  /// So many events a second.
  public init(perSecond: Double) { self.perSecond = perSecond }

  /// Reads `20/s`, `100/m`, `5000/h`; nil for anything else and for zero.
  public init?(parsing text: String) {
    guard let (number, unit) = splitQuantity(text), number > 0 else { return nil }
    switch unit {
    case "/s": perSecond = number
    case "/m": perSecond = number / 60
    case "/h": perSecond = number / 3600
    default: return nil
    }
  }

  /// The time between two events at this rate.
  public var spacing: Interval { Interval(seconds: 1 / perSecond) }
}

/// Bytes a second, as `50MB/s`.
public struct Bandwidth: Sendable, Hashable {
  /// Bytes a second.
  public var bytesPerSecond: Int

  /// So many bytes a second.
  public init(bytesPerSecond: Int) { self.bytesPerSecond = bytesPerSecond }

  /// Reads `50MB/s`; nil for anything else and for zero.
  public init?(parsing text: String) {
    guard text.hasSuffix("/s"), let count = ByteCount(parsing: String(text.dropLast(2))), count.bytes > 0 else {
      return nil
    }
    bytesPerSecond = count.bytes
  }
}

/// Splits `1.5 GiB` into its number and its unit; the number is finite and not negative.
private func splitQuantity(_ text: String) -> (Double, String)? {
  let digits = text.prefix { ("0"..."9").contains($0) || $0 == "." }
  guard let number = Double(digits), number.isFinite, digits.first != ".", digits.last != "." else { return nil }
  let rest = text.dropFirst(digits.count)
  return (number, String(rest.drop { $0 == " " }))
}

/// A number with so many digits behind the point, rounded half up; without a locale and without Foundation.
public func decimal(_ number: Double, digits: Int) -> String {
  guard number.isFinite, abs(number) < 1e15 else { return String(number) }
  var scale = 1
  for _ in 0..<digits { scale *= 10 }
  let scaled = Int((abs(number) * Double(scale)).rounded())
  let sign = number < 0 && scaled > 0 ? "-" : ""
  if digits == 0 { return sign + String(scaled) }
  let fraction = String(scaled % scale)
  return sign + String(scaled / scale) + "." + String(repeating: "0", count: digits - fraction.count) + fraction
}
