/// What the headers of an answer say, as far as anybody here wants to know.
struct Answer: Sendable, Hashable {
  var status = 0
  /// Whether the empty line has come behind the last header.
  var isComplete = false
  var location: String?
  var etag: String?
  var lastModified: String?
  var contentType: String?
  var contentEncoding: String?
  var retryAfter: String?
  var contentLength: Int?
  var acceptRanges: String?
  var contentRange: ContentRange?
  /// A digest of the Date, which is on every answer and needs no text.
  private var date: UInt64?
  private var modified: UInt64?
  /// What the body is packed in on this connection, beside chunks; nobody asks for that.
  var transferCoding: String?
  var cookies: [String] = []
  /// Whether this 206 goes on where an earlier try ended.
  var isContinuation = false

  /// Whether the date of the last change vouches for the body: what was changed in the second of the answer may be
  /// changed again in that second.
  var hasStrongDate: Bool { lastModified != nil && (date == nil || date != modified) }

  /// Whether the body is what was asked for; a part is so only where it was asked for, and fits.
  var isSuccess: Bool { (200...299).contains(status) && (status != 206 || isContinuation) }
  /// Whether this is a redirect that names where to.
  var redirect: String? {
    switch status {
    case 301, 302, 303, 307, 308: location
    default: nil
    }
  }
  /// Whether the body comes in another form than the file's.
  var isEncoded: Bool { contentEncoding != nil }

  /// Takes a line of the head, its end of line included; lines that nobody wants cost no allocation.
  mutating func take(line: UnsafeBufferPointer<UInt8>) {
    var end = line.count
    while end > 0, unsafe line[end - 1] <= 32 { end -= 1 }
    if end == 0 {
      // An interim answer, such as 103, ends too, but the real one is still to come.
      isComplete = status >= 200
      return
    }
    if unsafe Answer.matches(line, 5, "http/") {
      self = Answer()
      status = unsafe Answer.status(line, end)
      return
    }
    guard let colon = unsafe line[..<end].firstIndex(of: UInt8(ascii: ":")) else { return }
    func value() -> String {
      var start = colon + 1
      while start < end, unsafe line[start] <= 32 { start += 1 }
      return unsafe String(decoding: line[start..<end], as: UTF8.self)
    }
    switch colon {
    case 4 where unsafe Answer.matches(line, 4, "etag"): etag = Answer.validator(value())
    case 4 where unsafe Answer.matches(line, 4, "date"): date = unsafe Answer.digest(line[(colon + 1)..<end])
    case 8 where unsafe Answer.matches(line, 8, "location"): location = value()
    case 10 where unsafe Answer.matches(line, 10, "set-cookie"):
      if cookies.count < Answer.mostCookies { cookies.append(value()) }
    case 11 where unsafe Answer.matches(line, 11, "retry-after"): retryAfter = value()
    case 12 where unsafe Answer.matches(line, 12, "content-type"): contentType = value()
    case 13 where unsafe Answer.matches(line, 13, "last-modified"):
      lastModified = Answer.validator(value())
      modified = unsafe Answer.digest(line[(colon + 1)..<end])
    case 13 where unsafe Answer.matches(line, 13, "accept-ranges"): acceptRanges = value().lowercased()
    case 13 where unsafe Answer.matches(line, 13, "content-range"): contentRange = ContentRange(parsing: value())
    case 14 where unsafe Answer.matches(line, 14, "content-length"):
      contentLength = Int(value()).flatMap { $0 < 0 ? nil : $0 }
    case 16 where unsafe Answer.matches(line, 16, "content-encoding"):
      let coding = value().lowercased()
      if coding != "identity" && !coding.isEmpty {
        contentEncoding = contentEncoding.map { "\($0), \(coding)" } ?? coding
      }
    case 17 where unsafe Answer.matches(line, 17, "transfer-encoding"):
      let codings = value().lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
      if let strange = codings.first(where: { $0 != "chunked" && $0 != "identity" }) {
        transferCoding = String(strange)
      }
    default: break
    }
  }

  private static let mostCookies = 100

  /// A validator that can be sent back as it came; nil for one that no header may hold.
  private static func validator(_ text: String) -> String? {
    text.utf8.allSatisfy { $0 >= 32 && $0 != 127 || $0 == 9 } ? text : nil
  }

  private static func matches(_ line: UnsafeBufferPointer<UInt8>, _ count: Int, _ name: StaticString) -> Bool {
    guard line.count >= count, name.utf8CodeUnitCount == count else { return false }
    for place in 0..<count {
      let byte = unsafe line[place]
      let lower = (65...90).contains(byte) ? byte | 32 : byte
      if unsafe lower != name.utf8Start[place] { return false }
    }
    return true
  }

  /// Equal for equal values, white space left out.
  private static func digest(_ value: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64 {
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    // Its indices would hold the slice once more.
    for place in unsafe value.startIndex..<value.endIndex {
      let byte = unsafe value[place]
      if byte > 32 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    return digest
  }

  private static func status(_ line: UnsafeBufferPointer<UInt8>, _ end: Int) -> Int {
    guard let space = unsafe line[..<end].firstIndex(of: 32) else { return 0 }
    var status = 0
    for place in (space + 1)..<min(end, space + 4) {
      let digit = unsafe line[place]
      guard (48...57).contains(digit) else { return 0 }
      status = status * 10 + Int(digit - 48)
    }
    return status
  }
}
