public import FlowBase

/// Evenly spaced values that are computed when they are asked for: `1..40`, `001..120 step 3`, dates.
public struct AxisRange: Sendable, Hashable {
  /// What its values look like.
  public enum Kind: Sendable, Hashable {
    /// Whole numbers.
    case numbers
    /// Texts of at least so many digits.
    case padded(Int)
    /// Dates such as `2026-01-31`, counted in days since 1970.
    case dates
  }

  /// What its values look like.
  public let kind: Kind
  /// How many values there are.
  public let count: Int
  private let first: Int
  private let step: Int

  /// Whether a text is meant as a range.
  public static func isMeant(by text: String) -> Bool {
    guard let first = text.unicodeScalars.first(where: { $0 != " " }) else { return false }
    return text.contains("..") && (("0"..."9").contains(first) || first == "-" || first == ".")
  }

  /// Reads a range; the problem says what is wrong with it.
  public init(parsing text: String) throws(AxesProblem) {
    let (ends, stride) = try AxisRange.split(text)
    if let from = CalendarDay(ends.0), let to = CalendarDay(ends.1) {
      kind = .dates
      (first, step, count) = try AxisRange.steps(from.number, to.number, stride, text)
      return
    }
    guard let from = AxisRange.number(ends.0), let to = AxisRange.number(ends.1) else {
      throw AxesProblem("`\(text)` is no range", hint: AxisRange.forms)
    }
    let isPadded = [ends.0, ends.1].contains { end in
      let digits = end.utf8.drop { $0 == UInt8(ascii: "-") }
      return digits.count > 1 && digits.first == UInt8(ascii: "0")
    }
    if isPadded, from < 0 || to < 0 { throw AxesProblem("`\(text)` pads negative numbers", hint: AxisRange.forms) }
    kind = isPadded ? .padded(max(ends.0.utf8.count, ends.1.utf8.count)) : .numbers
    (first, step, count) = try AxisRange.steps(from, to, stride, text)
  }

  private static let forms = "ranges are written `1..40`, `1..40 step 3`, `001..120`, `2026-01-01..2026-01-31`"

  /// The two ends and the step of a range.
  private static func split(_ text: String) throws(AxesProblem) -> ((String, String), Int?) {
    let words = text.split(separator: " ").map(String.init)
    guard let place = words.firstIndex(of: "step") else { return (try ends(words.joined()), nil) }
    guard place == words.count - 2, let stride = number(words[place + 1]) else {
      throw AxesProblem("`\(text)` needs a whole number behind `step`", hint: forms)
    }
    if stride == 0 { throw AxesProblem("`\(text)` never gets anywhere with a step of 0", hint: forms) }
    return (try ends(words[..<place].joined()), stride)
  }

  private static func ends(_ text: String) throws(AxesProblem) -> (String, String) {
    let bytes = text.utf8
    let dot = UInt8(ascii: ".")
    guard let gap = bytes.firstIndex(of: dot), bytes[gap...].starts(with: [dot, dot]) else {
      throw AxesProblem("`\(text)` is no range", hint: forms)
    }
    return (String(text[..<gap]), String(text[bytes.index(gap, offsetBy: 2)...]))
  }

  private static func number(_ text: String) -> Int? { text.utf8.first == UInt8(ascii: "+") ? nil : Int(text) }

  /// The first value, the way to the next, and how many there are; a range that goes down steps down by itself.
  private static func steps(
    _ from: Int, _ to: Int, _ stride: Int?, _ text: String
  ) throws(AxesProblem) -> (Int, Int, Int) {
    let isDescending = to < from
    let size = stride?.magnitude ?? 1
    if let stride, stride < 0, !isDescending {
      throw AxesProblem("`\(text)` goes up with a step that goes down", hint: "write `step \(size)`, or swap the ends")
    }
    let span =
      isDescending ? UInt(bitPattern: from) &- UInt(bitPattern: to) : UInt(bitPattern: to) &- UInt(bitPattern: from)
    guard let whole = Int(exactly: span / size), whole < .max, let step = Int(exactly: size) else {
      throw AxesProblem("`\(text)` has more values than can be counted")
    }
    return (from, isDescending ? -step : step, whole + 1)
  }

  /// The value at a place from 0; a place beyond the end is null.
  public func value(at place: Int) -> Value {
    guard place >= 0, place < count else { return .null }
    let number = first &+ place &* step
    switch kind {
    case .numbers: return .int(number)
    case .padded(let width): return .string(CalendarDay.padded(number, width))
    case .dates: return .string(CalendarDay(number: number).text)
    }
  }

  /// How often a value occurs: once or not at all.
  func occurrences(of value: Value) -> Int {
    let number: Int? =
      switch kind {
      case .numbers, .padded: value.asInt ?? value.asString.flatMap { Int($0) }
      case .dates: value.asString.flatMap { CalendarDay($0)?.number }
      }
    guard let number else { return 0 }
    let (distance, isTooFar) = number.subtractingReportingOverflow(first)
    guard !isTooFar, distance != .min, distance % step == 0, (0..<count).contains(distance / step) else { return 0 }
    return self.value(at: distance / step) == spelled(value) ? 1 : 0
  }

  /// A value as this range would spell it: where `001` is meant, YAML has made 1 of it.
  func spelled(_ value: Value) -> Value {
    if case .padded(let width) = kind, case .int(let number) = value, number >= 0 {
      return .string(CalendarDay.padded(number, width))
    }
    return value
  }
}
