/// Texts as parts of file names and addresses.
enum Slug {
  /// Small letters and digits of any script; everything else becomes a single hyphen, none at the ends.
  static func make(_ text: String) -> String {
    if text.utf8.allSatisfy(isPlain) { return text }
    var result = String.UnicodeScalarView()
    var hasGap = false
    for scalar in text.lowercased().unicodeScalars {
      if isKept(scalar) {
        if hasGap, !result.isEmpty { result.append("-") }
        hasGap = false
        result.append(scalar)
      } else if !apostrophes.contains(scalar) {
        hasGap = true
      }
    }
    return String(result)
  }

  private static func isKept(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return isPlain(UInt8(scalar.value)) }
    let properties = scalar.properties
    return properties.isAlphabetic || properties.numericType != nil || properties.canonicalCombiningClass.rawValue > 0
  }

  /// What stays as it is: most keys are slugs already.
  private static func isPlain(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// Signs inside words, which vanish: `it's` is one word.
  private static let apostrophes: [Unicode.Scalar] = ["'", "\u{2019}"]
}
