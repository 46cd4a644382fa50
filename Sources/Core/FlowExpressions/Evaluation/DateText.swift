internal import FlowBase

/// Dates and times in UTC, of the proleptic Gregorian calendar.
struct DateText {
  var year = 1970
  var month = 1
  var day = 1
  var hour = 0
  var minute = 0
  var second = 0

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
    guard abs(seconds) < 300_000_000_000 else { return nil }
    let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86400)
    let time = rest < 0 ? rest + 86400 : rest
    (year, month, day) = DateText.civil(days: rest < 0 ? days - 1 : days)
    (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60)
  }

  /// `2026-01-31`, `20260131`, or either with `T` or a space, a time and an offset.
  init?(iso text: String) {
    var reader = DigitReader(text)
    guard let year = reader.number(4) else { return nil }
    let dashed = reader.take("-")
    guard let month = reader.number(2), (1...12).contains(month), !dashed || reader.take("-"),
      let day = reader.number(2), (1...DateText.days(in: month, of: year)).contains(day)
    else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
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
    DateText.days(year: year, month: month, day: day) * 86400 + hour * 3600 + minute * 60 + second
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
      case "Y": result += DateText.padded(year, 4)
      case "m": result += DateText.padded(month, 2)
      case "d": result += DateText.padded(day, 2)
      case "H": result += DateText.padded(hour, 2)
      case "M": result += DateText.padded(minute, 2)
      case "S": result += DateText.padded(second, 2)
      case "j":
        let first = DateText.days(year: year, month: 1, day: 1)
        result += DateText.padded(DateText.days(year: year, month: month, day: day) - first + 1, 3)
      case "%": result += "%"
      default:
        throw Fault(
          "expression.format", .permanent, "`%\(scalar)` is no part of a date; there are %Y %m %d %H %M %S %j")
      }
    }
    if isSign { result += "%" }
    return result
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  // MARK: The calendar

  static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days since the beginning of 1970, by counting in eras of 400 years that begin in March.
  static func days(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The date of a day that is counted from the beginning of 1970.
  static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    let month = part < 10 ? part + 3 : part - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * part + 2) / 5 + 1)
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
