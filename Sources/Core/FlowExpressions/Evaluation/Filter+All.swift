internal import FlowBase

extension Filter {
  /// All filters, in the order of the documentation.
  public static let all: [Filter] = texts + addresses + shapes + values

  private static func text(
    _ name: String, _ summary: String, _ change: @escaping @Sendable (String) -> String
  ) -> Filter {
    Filter(name, takes: .string, gives: .type(.string), summary) { (value, _) throws(Fault) in
      .string(change(value.text))
    }
  }

  private static let texts: [Filter] = [
    text("slug", "Small letters and digits of any script, everything else as single hyphens.", Slug.make),
    text("lower", "In small letters.") { $0.lowercased() },
    text("upper", "In capitals.") { $0.uppercased() },
    text("trim", "Without white space at both ends.") { $0.trimmed },
  ]

  private static let addresses: [Filter] = [
    text("ext", "What follows the last dot of the last segment of a path or URL, without the dot.") {
      FileName.ext(of: AddressText.lastSegment($0))
    },
    text("stem", "The last segment of a path or URL without its extension.") {
      FileName.stem(of: AddressText.lastSegment($0))
    },
    text("basename", "The last segment of a path or URL.", AddressText.lastSegment),
    text("host", "The host of a URL, in small letters; empty where there is none.", AddressText.host),
    text("path", "The path of a URL, or a text as a path: it keeps `/`, never `..`.") {
      FileName.safePath(AddressText.path($0))
    },
  ]

  private static let shapes: [Filter] = [
    Filter(
      "pad", [Parameter(name: "width", type: .integer)], takes: .string, gives: .type(.string),
      "With zeros in front until it is so many characters long."
    ) { (value, arguments) throws(Fault) in
      let text = value.text
      let missing = try size(arguments[0]) - text.count
      guard missing > 0 else { return .string(text) }
      let sign = text.hasPrefix("-") ? "-" : ""
      return .string(sign + String(repeating: "0", count: missing) + text.dropFirst(sign.count))
    },
    Filter(
      "trunc", [Parameter(name: "length", type: .integer)], takes: .string, gives: .type(.string),
      "Its first so many characters."
    ) { (value, arguments) throws(Fault) in .string(String(value.text.prefix(try size(arguments[0])))) },
    Filter(
      "default", [Parameter(name: "value", type: .any)], takes: .any, gives: .type(.any), takesNull: true,
      "Another value in place of null and of the empty text."
    ) { (value, arguments) throws(Fault) in value.isNull || value == .string("") ? arguments[0] : value },
    Filter(
      "replace", [Parameter(name: "old", type: .string), Parameter(name: "new", type: .string)], takes: .string,
      gives: .type(.string), "With every occurrence of one text replaced by another."
    ) { (value, arguments) throws(Fault) in
      .string(try replacing(arguments[0].text, by: arguments[1].text, in: value.text))
    },
    Filter(
      "join", [Parameter(name: "separator", type: .string)], takes: .list(.any), gives: .type(.string),
      "The elements of a list as one text, with a separator between them."
    ) { (value, arguments) throws(Fault) in
      let elements = value.asList ?? [value]
      return .string(elements.map(\.text).joined(separator: arguments[0].text))
    },
    Filter("len", takes: .any, gives: .type(.integer), "How many characters a text, or elements a list or map, has.") {
      (value, _) throws(Fault) in
      switch value {
      case .list(let elements): .int(elements.count)
      case .map(let fields): .int(fields.count)
      default: .int(value.text.count)
      }
    },
    Filter("first", takes: .list(.any), gives: .element, "The first element of a list; null where it is empty.") {
      (value, _) throws(Fault) in
      guard let elements = value.asList else { return value }
      return elements.first ?? .null
    },
  ]

  private static let values: [Filter] = [
    text("sha256", "The SHA-256 of its UTF-8 bytes, in hexadecimal digits.") { Digest.sha256(of: $0).hex },
    Filter(
      "date", [Parameter(name: "format", type: .string)], takes: .string, gives: .type(.string),
      "A date (`2026-01-31`, `2026-01-31T12:00:00Z`, or seconds since 1970) in UTC, by `%Y %m %d %H %M %S %j`."
    ) { (value, arguments) throws(Fault) in
      .string(try DateText.format(value, by: arguments[0].text))
    },
    Filter("int", takes: .string, gives: .type(.integer), "As a whole number; a fraction is cut off.") {
      (value, _) throws(Fault) in try Conversions.int(value)
    },
    Filter("number", takes: .string, gives: .type(.number), "As a number.") {
      (value, _) throws(Fault) in try Conversions.number(value)
    },
    Filter("bool", takes: .string, gives: .type(.bool), "As true or false: `true yes on 1` and `false no off 0`.") {
      (value, _) throws(Fault) in try Conversions.bool(value)
    },
    text("urlencode", "Percent-encoded, so that it can stand anywhere in a URL.") { PercentEncoding.encode($0) },
    Filter(
      "raw", takes: .any, gives: .input, takesNull: true,
      "As it is: in a URL, the value is put in without being percent-encoded."
    ) { (value, _) throws(Fault) in value },
  ]

  private static func size(_ value: Value) throws(Fault) -> Int {
    guard let count = value.asInt, (0...4096).contains(count) else {
      throw Fault("expression.range", .permanent, "`\(value.text)` is no length from 0 to 4096")
    }
    return count
  }

  /// Byte for byte, so that it takes time in proportion to the text.
  private static func replacing(_ old: String, by new: String, in text: String) throws(Fault) -> String {
    let pattern = Array(old.utf8)
    let source = Array(text.utf8)
    guard !pattern.isEmpty, pattern.count <= source.count else { return text }
    var result: [UInt8] = []
    result.reserveCapacity(source.count)
    var place = 0
    while place < source.count {
      if source[place] == pattern[0], source[place...].starts(with: pattern) {
        result.append(contentsOf: new.utf8)
        place += pattern.count
        if result.count > Evaluator.longestText { throw Evaluator.tooLong }
      } else {
        result.append(source[place])
        place += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
