/// A day of the Gregorian calendar, also before its introduction.
public struct CalendarDay: Sendable, Hashable {
  /// How many days after 1970-01-01 it is.
  public let number: Int
  /// The year.
  public let year: Int
  /// The month, from 1.
  public let month: Int
  /// The day of the month, from 1.
  public let day: Int

  /// The day so many days after 1970-01-01.
  public init(number: Int) {
    // Counted in eras of 400 years that begin in March, so that the leap day is the last of its year.
    let shifted = number + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    month = part < 10 ? part + 3 : part - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    day = dayOfYear - (153 * part + 2) / 5 + 1
    self.number = number
  }

  /// A day that the calendar has.
  public init?(year: Int, month: Int, day: Int) {
    guard (0...9999).contains(year), (1...12).contains(month),
      (1...CalendarDay.days(in: month, of: year)).contains(day)
    else { return nil }
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    number = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    (self.year, self.month, self.day) = (year, month, day)
  }

  /// Reads `2026-01-31` and nothing else.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else { return nil }
    guard let year = CalendarDay.digits(bytes[0..<4]), let month = CalendarDay.digits(bytes[5..<7]),
      let day = CalendarDay.digits(bytes[8..<10])
    else { return nil }
    self.init(year: year, month: month, day: day)
  }

  /// The day as `2026-01-31`.
  public var text: String {
    CalendarDay.padded(year, 4) + "-" + CalendarDay.padded(month, 2) + "-" + CalendarDay.padded(day, 2)
  }

  /// Which day of its year it is, from 1.
  public var dayOfYear: Int { number - (CalendarDay(year: year, month: 1, day: 1)?.number ?? number) + 1 }

  /// How many days a month has.
  public static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// A number with zeros in front until it has so many digits.
  public static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  private static func digits(_ bytes: ArraySlice<UInt8>) -> Int? {
    var number = 0
    for byte in bytes {
      guard (48...57).contains(byte) else { return nil }
      number = number * 10 + Int(byte) - 48
    }
    return number
  }
}
