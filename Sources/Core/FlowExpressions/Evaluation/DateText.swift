internal import FlowBase

/// Dates and times in UTC, of the proleptic Gregorian calendar.
struct DateText {
  private var date: CalendarDay
  private var hour = 0
  private var minute = 0
  private var second = 0

  /// Reads and writes in one go.
  static func format(_ value: Value, by format: String) throws(Fault) -> String {
    guard let date = DateText(value) else {
      throw Fault(
        "expression.convert", .permanent,
        "\(Evaluator.shown(value)) is no date such as 2026-01-31, 2026-01-31T12:00:00Z or 1769860800")
    }
    return try date.text(by: format)
  }

  init?(_ value: Value) {
    switch value {
    case .int(let seconds): self.init(seconds: seconds)
    case .double(let seconds):
      guard let whole = Int(exactly: seconds.rounded(.down)) else { return nil }
      self.init(seconds: whole)
    case .string(let text):
      if let seconds = Int(text), text.utf8.count != 8 || seconds < 0 {
        self.init(seconds: seconds)
      } else {
        self.init(iso: text)
      }
    default: return nil
    }
  }

  /// The moment so many seconds after the beginning of 1970.
  init?(seconds: Int) {
    guard (-299_999_999_999...299_999_999_999).contains(seconds) else { return nil }
    let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86400)
    let time = rest < 0 ? rest + 86400 : rest
    date = CalendarDay(number: rest < 0 ? days - 1 : days)
    (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60)
  }

  /// `2026-01-31`, `20260131`, or either with `T` or a space, a time and an offset.
  init?(iso text: String) {
    var reader = DigitReader(text)
    guard let year = reader.number(4) else { return nil }
    let dashed = reader.take("-")
    guard let month = reader.number(2), !dashed || reader.take("-"), let day = reader.number(2),
      let date = CalendarDay(year: year, month: month, day: day)
    else { return nil }
    self.date = date
    if reader.isAtEnd { return }
    guard reader.take("T") || reader.take("t") || reader.take(" "), let offset = readTime(&reader), reader.isAtEnd
    else {
      return nil
    }
    guard offset != 0 else { return }
    guard let shifted = DateText(seconds: epochSeconds - offset) else { return nil }
    self = shifted
  }

  /// Reads the time of day; gives the offset from UTC in seconds.
  private mutating func readTime(_ reader: inout DigitReader) -> Int? {
    guard let hour = reader.number(2), (0...23).contains(hour) else { return nil }
    let colons = reader.take(":")
    guard let minute = reader.number(2), (0...59).contains(minute) else { return nil }
    (self.hour, self.minute) = (hour, minute)
    if !colons || reader.take(":"), let second = reader.number(2) {
      guard (0...60).contains(second) else { return nil }
      self.second = min(second, 59)
    }
    if reader.take(".") || reader.take(",") { reader.skipDigits() }
    if reader.isAtEnd || reader.take("Z") || reader.take("z") { return 0 }
    let sign = reader.take("+") ? 1 : reader.take("-") ? -1 : 0
    guard sign != 0, let hours = reader.number(2) else { return nil }
    _ = reader.take(":")
    return sign * (hours * 3600 + (reader.number(2) ?? 0) * 60)
  }

  /// Seconds since the beginning of 1970.
  var epochSeconds: Int {
    date.number * 86400 + hour * 3600 + minute * 60 + second
  }

  /// The date as a format says; a letter that is not known is a fault.
  func text(by format: String) throws(Fault) -> String {
    var result = ""
    var isSign = false
    for scalar in format.unicodeScalars {
      guard isSign else {
        if scalar == "%" { isSign = true } else { result.unicodeScalars.append(scalar) }
        continue
      }
      isSign = false
      switch scalar {
      case "Y": result += CalendarDay.padded(date.year, 4)
      case "m": result += CalendarDay.padded(date.month, 2)
      case "d": result += CalendarDay.padded(date.day, 2)
      case "H": result += CalendarDay.padded(hour, 2)
      case "M": result += CalendarDay.padded(minute, 2)
      case "S": result += CalendarDay.padded(second, 2)
      case "j": result += CalendarDay.padded(date.dayOfYear, 3)
      case "%": result += "%"
      default:
        throw Fault(
          "expression.format", .permanent, "`%\(scalar)` is no part of a date; there are %Y %m %d %H %M %S %j")
      }
    }
    if isSign { result += "%" }
    return result
  }
}

/// Reads numbers of fixed width from a text.
private struct DigitReader {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = Substring(text).utf8 }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard let byte = rest.first, UInt32(byte) == character.value else { return false }
    rest.removeFirst()
    return true
  }

  mutating func number(_ width: Int) -> Int? {
    let digits = rest.prefix(width)
    guard digits.count == width, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
    rest.removeFirst(width)
    return digits.reduce(0) { $0 * 10 + Int($1) - 48 }
  }

  mutating func skipDigits() { rest = rest.drop { (48...57).contains($0) } }
}
