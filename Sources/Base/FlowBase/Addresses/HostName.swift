/// Makes one form of the many spellings of a host.
enum HostName {
  /// The host in small letters of ASCII, names of other scripts as A-labels; the reason where it is none.
  static func canonical(_ written: Substring) throws(WebAddress.Mistake) -> String {
    if written.utf8.first == UInt8(ascii: "[") { return try bracketed(written) }
    if let plain = plain(written) { return plain }
    if AddressLiteral.isDottedQuad(written.utf8) { return String(written) }
    let decoded = PercentEncoding.decode(String(written))
    var labels: [String] = []
    let parts = CanonicalText.folded(decoded).unicodeScalars.split(omittingEmptySubsequences: false) { isDot($0) }
    for (place, part) in parts.enumerated() {
      // The dot at the end of an absolute name changes nothing for us.
      if part.isEmpty, place == parts.count - 1, place > 0 { continue }
      labels.append(try label(Array(part), in: decoded))
    }
    let host = labels.joined(separator: ".")
    if host.utf8.count > 253 { throw WebAddress.Mistake("its host is longer than 253 characters") }
    if AddressLiteral.looksLikeV4(host), AddressLiteral.v4(parsing: host) == nil {
      throw WebAddress.Mistake("its host `\(host)` ends in a number and is no IPv4 address")
    }
    return host
  }

  /// The host if it is what nearly all are: labels of ASCII letters, digits and hyphens, the last of them no number.
  private static func plain(_ written: Substring) -> String? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(written.utf8.count)
    var label = 0
    for byte in written.utf8 {
      switch byte {
      case UInt8(ascii: "."):
        if label == 0 { return nil }
        label = 0
        bytes.append(byte)
        continue
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): bytes.append(byte | 0x20)
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
        bytes.append(byte)
      default: return nil
      }
      label += 1
      if label > 63 { return nil }
    }
    guard label > 0, bytes.count <= 253, !(48...57).contains(bytes[bytes.count - label]) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func bracketed(_ written: Substring) throws(WebAddress.Mistake) -> String {
    guard written.utf8.last == UInt8(ascii: "]"),
      let address = AddressLiteral.v6(parsing: String(written.dropFirst().dropLast()))
    else { throw WebAddress.Mistake("its host `\(written)` is no IPv6 address") }
    return "[\(address.text)]"
  }

  private static func label(_ part: [Unicode.Scalar], in host: String) throws(WebAddress.Mistake) -> String {
    guard !part.isEmpty else {
      throw WebAddress.Mistake(host.isEmpty ? "it has no host" : "its host `\(host)` has an empty label")
    }
    if let strange = part.first(where: { !isAllowed($0) }) {
      let name = strange.value < 0x20 ? "U+00\(Hex.encode([UInt8(strange.value)]).uppercased())" : String(strange)
      throw WebAddress.Mistake("its host holds the character `\(name)`")
    }
    var text = String.UnicodeScalarView()
    text.append(contentsOf: part)
    var label = String(text)
    if !part.allSatisfy(\.isASCII) {
      guard part.count <= 63, let encoded = Punycode.encode(part) else {
        throw WebAddress.Mistake("its host has a label that is too long")
      }
      label = "xn--" + encoded
    }
    if label.utf8.count > 63 { throw WebAddress.Mistake("its host has a label longer than 63 characters") }
    return label
  }

  private static func isDot(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "." || scalar == "\u{3002}" || scalar == "\u{FF0E}" || scalar == "\u{FF61}"
  }

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII {
      return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "-" || scalar == "_"
    }
    let properties = scalar.properties
    if properties.isWhitespace || properties.isDefaultIgnorableCodePoint { return false }
    switch properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: return false
    default: return true
    }
  }
}
