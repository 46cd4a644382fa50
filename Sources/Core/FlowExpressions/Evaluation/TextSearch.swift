/// Finds texts in texts, byte for byte.
enum TextSearch {
  static func contains(_ part: String, in text: String) -> Bool {
    let wanted = Array(part.utf8)
    let bytes = Array(text.utf8)
    guard let first = wanted.first else { return true }
    guard wanted.count <= bytes.count else { return false }
    for place in 0...(bytes.count - wanted.count) where bytes[place] == first {
      if bytes[place...].starts(with: wanted) { return true }
    }
    return false
  }
}

extension String {
  /// The text without white space at both ends.
  var trimmed: String {
    let isPlain = { (byte: UInt8) in byte > 0x20 && byte < 0x7F }
    guard let first = utf8.first, let last = utf8.last, !isPlain(first) || !isPlain(last) else { return self }
    let start = unicodeScalars.drop { $0.properties.isWhitespace }
    guard let end = start.lastIndex(where: { !$0.properties.isWhitespace }) else { return "" }
    return String(start[...end])
  }
}
