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
