internal import FlowBase

/// Makes requests of the bytes that come over a connection: a pure value.
///
/// It reads what browsers and curl send, and refuses everything that two programs might read differently: folded
/// lines, blanks before a colon, a length given twice, transfer encodings.
public struct RequestReader: Sendable {
  /// What the bytes so far are.
  public enum Reading: Sendable, Hashable {
    /// The beginning of a request.
    case partial
    /// A request; its bytes are taken.
    case request(WebRequest)
    /// No request: what to answer before the connection is closed.
    case refused(Int)
  }

  /// The most bytes of a head.
  public static let longestHead = 16_384
  /// The most bytes of a body.
  public static let longestBody = 65_536

  private var bytes: [UInt8] = []
  /// From where on the end of the head is looked for.
  private var looked = 0

  /// A reader that has seen nothing.
  public init() {}

  /// Whether a request has begun.
  public var isEmpty: Bool { bytes.isEmpty }

  /// Takes bytes that have come.
  public mutating func add(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

  /// Looks at what has come.
  public mutating func next() -> Reading {
    // Blank lines before a request are let pass, as the standard asks for.
    while bytes.starts(with: [13, 10]) { bytes.removeFirst(2) }
    guard let end = endOfHead() else {
      looked = max(0, bytes.count - 3)
      return bytes.count > Self.longestHead ? .refused(431) : .partial
    }
    guard end <= Self.longestHead else { return .refused(431) }
    guard var request = Self.head(bytes[..<(end - 4)]) else { return .refused(400) }
    if request.has("transfer-encoding") { return .refused(501) }
    if request.has("expect") { return .refused(417) }
    var length = 0
    if request.has("content-length") {
      guard let text = request.header("content-length"), !text.isEmpty,
        text.utf8.allSatisfy({ (48...57).contains($0) }),
        let number = Int(text)
      else { return .refused(400) }
      length = number
    }
    guard length <= Self.longestBody else { return .refused(413) }
    guard bytes.count >= end + length else { return .partial }
    request.body = Array(bytes[end..<(end + length)])
    bytes.removeFirst(end + length)
    looked = 0
    return .request(request)
  }

  private func endOfHead() -> Int? {
    var place = looked
    while place + 3 < bytes.count {
      if bytes[place] == 13, bytes[place + 1] == 10, bytes[place + 2] == 13, bytes[place + 3] == 10 { return place + 4 }
      place += 1
    }
    return nil
  }

  private static func head(_ bytes: ArraySlice<UInt8>) -> WebRequest? {
    // A control character has no place in a head: it is there to make somebody read it differently.
    var lines: [ArraySlice<UInt8>] = []
    var start = bytes.startIndex
    var place = start
    while place < bytes.endIndex {
      let byte = bytes[place]
      if byte == 13 {
        guard place + 1 < bytes.endIndex, bytes[place + 1] == 10 else { return nil }
        lines.append(bytes[start..<place])
        place += 2
        start = place
        continue
      }
      if byte < 32 && byte != 9 || byte == 127 { return nil }
      place += 1
    }
    lines.append(bytes[start...])
    guard let first = lines.first, let request = requestLine(first) else { return nil }
    var made = request
    for line in lines.dropFirst() {
      guard let header = header(line) else { return nil }
      made.headers.append(header)
    }
    guard made.headers.count <= 100 else { return nil }
    let connection = made.header("connection")?.lowercased() ?? ""
    if connection.contains("close") { made.keepsAlive = false }
    return made
  }

  private static func requestLine(_ line: ArraySlice<UInt8>) -> WebRequest? {
    let words = line.split(separator: 32, omittingEmptySubsequences: false)
    guard words.count == 3, words[0].allSatisfy({ (65...90).contains($0) }), !words[0].isEmpty,
      words[1].first == UInt8(ascii: "/"), words[1].allSatisfy({ $0 > 32 && $0 < 127 })
    else { return nil }
    let version = String(decoding: words[2], as: UTF8.self)
    guard version == "HTTP/1.1" || version == "HTTP/1.0" else { return nil }
    let target = words[1].split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    return WebRequest(
      String(decoding: words[0], as: UTF8.self), String(decoding: target[0], as: UTF8.self),
      query: target.count > 1 ? String(decoding: target[1], as: UTF8.self) : "", keepsAlive: version == "HTTP/1.1")
  }

  private static func header(_ line: ArraySlice<UInt8>) -> WebRequest.Header? {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { return nil }
    let name = line[..<colon]
    guard name.allSatisfy(isNameByte) else { return nil }
    var value = line[(colon + 1)...]
    while value.first == 32 || value.first == 9 { value.removeFirst() }
    while value.last == 32 || value.last == 9 { value.removeLast() }
    return WebRequest.Header(
      String(decoding: name, as: UTF8.self).lowercased(), String(decoding: value, as: UTF8.self))
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
