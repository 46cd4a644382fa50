/// Names of files that may come from anywhere: made safe, and taken apart.
public enum FileName {
  /// The longest name that file systems take, in bytes of UTF-8.
  public static let longest = 255

  /// The text as one segment of a path: without `/`, `\`, control characters and leading dots, at most 255 bytes.
  ///
  /// What is empty, or of which nothing is left, becomes `_`.
  public static func safe(_ text: String) -> String {
    let name = cleaned(text, to: longest)
    return name.isEmpty ? "_" : name
  }

  /// As `safe`, but what was empty stays empty, and the name is cut to so many bytes.
  public static func segment(_ text: String, upTo bytes: Int = longest) -> String {
    if text.isEmpty { return text }
    let name = cleaned(text, to: max(1, bytes))
    return name.isEmpty ? "_" : name
  }

  /// The text as a path of safe segments: it keeps `/`, but neither `..` nor empty segments.
  public static func safePath(_ text: String) -> String {
    text.utf8.split(separator: UInt8(ascii: "/")).map { safe(String(Substring($0))) }.joined(separator: "/")
  }

  /// The part behind the last dot, without the dot; empty where there is none or the name begins with it.
  public static func ext(of name: String) -> String {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.utf8.startIndex else { return "" }
    return String(name[name.utf8.index(after: dot)...])
  }

  /// The part before the last dot; the whole name where there is none.
  public static func stem(of name: String) -> String {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.utf8.startIndex else { return name }
    return String(name[..<dot])
  }

  private static func cleaned(_ text: String, to limit: Int) -> String {
    if isClean(text, limit) { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars where !isForbidden(scalar) {
      if scalar == ".", result.isEmpty { continue }
      result.append(scalar)
    }
    let name = String(result)
    return name.utf8.count > limit ? cut(name, to: limit) : name
  }

  /// Whether nothing has to be done: the common case, plain ASCII.
  private static func isClean(_ text: String, _ limit: Int) -> Bool {
    let bytes = text.utf8
    guard bytes.count <= limit, bytes.first != UInt8(ascii: ".") else { return false }
    return bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x2F && $0 != 0x5C }
  }

  /// Separators, control characters, and marks that change the direction of what follows.
  private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x2F, 0x5C, 0x7F..<0xA0, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
    default: false
    }
  }

  /// The longest beginning of whole characters that takes no more bytes than that.
  static func cut(_ text: String, to limit: Int) -> String {
    var end = text.startIndex
    var bytes = 0
    for place in text.indices {
      bytes += text[place].utf8.count
      if bytes > limit { break }
      end = text.index(after: place)
    }
    return String(text[..<end])
  }
}
