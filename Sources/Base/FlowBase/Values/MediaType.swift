/// Media types: what bytes are, by their own word and by that of others.
public enum MediaType {
  /// How many first bytes `sniff` wants to see.
  public static let prefixLength = 1024

  /// The type that the first bytes of a file show; nil where they show none.
  public static func sniff(_ bytes: [UInt8]) -> String? {
    for (place, signature, type) in signatures where has(signature, at: place, in: bytes) { return type }
    if has("RIFF", at: 0, in: bytes) {
      return riffs.first { has($0.0, at: 8, in: bytes) }?.1
    }
    if has("ftyp", at: 4, in: bytes) { return boxed(bytes) }
    return text(bytes)
  }

  /// The type of a file: its bytes decide, and the declared type only fills in what bytes cannot show.
  ///
  /// A declared type that would show in the bytes, and does not, counts for nothing.
  public static func decide(_ prefix: [UInt8], declared: String?) -> String? {
    let declared = declared.flatMap { essence($0) }
    guard let sniffed = sniff(prefix) else {
      guard let declared, !sniffable.contains(declared) else {
        return prefix.isEmpty
          ? declared.map { _ in "application/octet-stream" } : isText(prefix[...]) ? "text/plain" : octets
      }
      return declared.hasPrefix("text/") && !isText(prefix[...]) ? octets : declared
    }
    guard let declared else { return sniffed }
    let refines =
      switch sniffed {
      case "application/zip", "application/gzip": declared.hasPrefix("application/") && declared != octets
      case "application/xml": declared.hasSuffix("xml")
      case "application/json": declared.hasSuffix("json")
      default: false
      }
    return refines && !(sniffable.contains(declared) && declared != sniffed) ? declared : sniffed
  }

  /// `type/subtype` of a Content-Type, in lower case and without parameters; nil where it is none.
  public static func essence(_ contentType: String) -> String? {
    if isBare(contentType) { return contentType }
    let bare = contentType.prefix { $0 != ";" && $0 != "," }.filter { $0 != " " && $0 != "\t" }.lowercased()
    let parts = bare.split(separator: "/", omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } ? bare : nil
  }

  /// Whether a text is a type and nothing else, in small letters, as nearly all are.
  private static func isBare(_ text: String) -> Bool {
    var slashes = 0
    var last = UInt8(ascii: "/")
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "/"):
        if last == byte { return false }
        slashes += 1
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
        UInt8(ascii: "."), UInt8(ascii: "+"):
        break
      default: return false
      }
      last = byte
    }
    return slashes == 1 && last != UInt8(ascii: "/")
  }

  /// Whether a type fits a pattern such as `image/*`, `image/png` or `*`.
  public static func matches(_ type: String, _ pattern: String) -> Bool {
    let pattern = pattern.lowercased()
    if pattern == "*" || pattern == "*/*" { return true }
    if pattern.hasSuffix("/*") { return type.hasPrefix(pattern.dropLast()) }
    return type == pattern || aliases[pattern] == type
  }

  private static let octets = "application/octet-stream"
  private static let aliases = [
    "image/jpg": "image/jpeg", "text/xml": "application/xml", "application/x-gzip": "application/gzip",
    "image/heif": "image/heic",
  ]

  private static let signatures: [(Int, [UInt8], String)] = [
    (0, [0xff, 0xd8, 0xff], "image/jpeg"),
    (0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], "image/png"),
    (0, Array("GIF87a".utf8), "image/gif"), (0, Array("GIF89a".utf8), "image/gif"),
    (0, Array("II*\0".utf8), "image/tiff"), (0, Array("MM\0*".utf8), "image/tiff"),
    (0, Array("II+\0".utf8), "image/tiff"), (0, Array("MM\0+".utf8), "image/tiff"),
    (0, [0xff, 0x0a], "image/jxl"), (0, Array("\0\0\0\u{c}JXL \r\n".utf8) + [0x87, 0x0a], "image/jxl"),
    (0, Array("\0\0\0\u{c}jP  ".utf8), "image/jp2"), (0, Array("8BPS".utf8), "image/vnd.adobe.photoshop"),
    (0, [0, 0, 1, 0], "image/vnd.microsoft.icon"), (0, Array("%PDF-".utf8), "application/pdf"),
    (0, Array("PK\u{3}\u{4}".utf8), "application/zip"), (0, Array("PK\u{5}\u{6}".utf8), "application/zip"),
    (0, [0x1f, 0x8b], "application/gzip"), (0, [0x28, 0xb5, 0x2f, 0xfd], "application/zstd"),
    (0, Array("BZh".utf8), "application/x-bzip2"), (0, [0xfd] + Array("7zXZ\0".utf8), "application/x-xz"),
    (0, [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], "application/x-7z-compressed"),
    (0, Array("Rar!\u{1a}\u{7}".utf8), "application/vnd.rar"), (257, Array("ustar".utf8), "application/x-tar"),
    (0, [0x1a, 0x45, 0xdf, 0xa3], "video/webm"), (0, Array("OggS".utf8), "application/ogg"),
    (0, Array("ID3".utf8), "audio/mpeg"), (0, Array("fLaC".utf8), "audio/flac"),
    (0, Array("wOFF".utf8), "font/woff"), (0, Array("wOF2".utf8), "font/woff2"),
    (0, Array("SQLite format 3\0".utf8), "application/vnd.sqlite3"),
  ]
  private static let riffs: [([UInt8], String)] = [
    (Array("WEBP".utf8), "image/webp"), (Array("WAVE".utf8), "audio/wav"), (Array("AVI ".utf8), "video/x-msvideo"),
  ]
  private static let sniffable: Set<String> = Set(signatures.map(\.2) + riffs.map(\.1)).union([
    "image/avif", "image/heic", "image/heif", "image/bmp", "image/svg+xml", "video/mp4", "text/html",
  ])

  private static func has(_ signature: [UInt8], at place: Int, in bytes: [UInt8]) -> Bool {
    bytes.count >= place + signature.count && bytes[place..<place + signature.count].elementsEqual(signature)
  }

  private static func has(_ signature: String, at place: Int, in bytes: [UInt8]) -> Bool {
    let count = signature.utf8.count
    return bytes.count >= place + count && bytes[place..<place + count].elementsEqual(signature.utf8)
  }

  /// ISO base media files name their kind by brands, the main one first.
  private static func boxed(_ bytes: [UInt8]) -> String? {
    guard bytes.count >= 12 else { return nil }
    let length = Int(bytes[0]) << 24 | Int(bytes[1]) << 16 | Int(bytes[2]) << 8 | Int(bytes[3])
    let end = min(max(12, length), bytes.count)
    var brands = [String(decoding: bytes[8..<12], as: UTF8.self)]
    for place in stride(from: 16, to: end - 3, by: 4) {
      brands.append(String(decoding: bytes[place..<place + 4], as: UTF8.self))
    }
    if brands.contains(where: { $0 == "avif" || $0 == "avis" }) { return "image/avif" }
    let heic: Set<String> = ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"]
    if brands.contains(where: { heic.contains($0) }) { return "image/heic" }
    return brands[0] == "qt  " ? "video/quicktime" : "video/mp4"
  }

  private static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.allSatisfy { $0 >= 32 || $0 == 9 || $0 == 10 || $0 == 12 || $0 == 13 || $0 == 27 }
  }

  /// Texts show what they are by how they begin, behind a byte order mark and blanks.
  private static func text(_ bytes: [UInt8]) -> String? {
    if has("BM", at: 0, in: bytes), bytes.count >= 26, !isText(bytes[...]) { return "image/bmp" }
    var start = has([0xef, 0xbb, 0xbf], at: 0, in: bytes) ? 3 : 0
    while start < bytes.count, bytes[start] == 32 || (9...13).contains(bytes[start]) { start += 1 }
    guard start < bytes.count, isText(bytes[start...]) else { return nil }
    let text = String(decoding: bytes[start...], as: UTF8.self).lowercased()
    if text.hasPrefix("<") {
      if isMarked(text, by: htmlTags) { return "text/html" }
      let isDeclared = text.hasPrefix("<?xml") || text.hasPrefix("<!--") || text.hasPrefix("<!doctype svg")
      if text.hasPrefix("<svg") || isDeclared && text.contains("<svg") { return "image/svg+xml" }
      if text.hasPrefix("<?xml") { return text.contains("<html") ? "text/html" : "application/xml" }
      return text.hasPrefix("<!--") ? "text/html" : nil
    }
    guard let first = text.first, first == "{" || first == "[" else { return nil }
    let next = text.dropFirst().first { !$0.isWhitespace }
    let opens: Set<Character> = first == "{" ? ["\"", "}"] : ["\"", "{", "[", "]", "-", "t", "f", "n"]
    return next.map { opens.contains($0) || first == "[" && $0.isNumber } == true ? "application/json" : nil
  }

  private static let htmlTags = [
    "<!doctype html", "<html", "<head", "<body", "<script", "<iframe", "<h1", "<div", "<font", "<table", "<a",
    "<style", "<title", "<b", "<br", "<p", "<meta", "<link", "<center",
  ]

  private static func isMarked(_ text: String, by tags: [String]) -> Bool {
    tags.contains { tag in
      guard text.hasPrefix(tag) else { return false }
      let next = text.dropFirst(tag.count).first
      return next == nil || next == ">" || next?.isWhitespace == true
    }
  }
}
