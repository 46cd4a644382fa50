/// Finds what is secret in the URLs of a text by where it stands.
enum AddressRedaction {
  /// Words of a parameter's name that tell that its value is secret.
  static let words: Set<String> = [
    "token", "sig", "key", "secret", "password", "pass", "signature", "credential", "auth",
  ]

  /// The text with user info and telling values masked; nil if there are none.
  static func mask(_ bytes: [UInt8]) -> [UInt8]? {
    var result: [UInt8]?
    var copied = 0
    var place = 0
    while place < bytes.count {
      guard let secret = secret(in: bytes, at: place) else {
        place += 1
        continue
      }
      var text = result ?? []
      text.append(contentsOf: bytes[copied..<secret.lowerBound])
      text.append(contentsOf: Redaction.mask.utf8)
      result = text
      copied = secret.upperBound
      place = max(secret.upperBound, place + 1)
    }
    result?.append(contentsOf: bytes[copied...])
    return result
  }

  /// The secret that begins with the mark at a place: behind `://`, or as the value of a parameter.
  private static func secret(in bytes: [UInt8], at place: Int) -> Range<Int>? {
    switch bytes[place] {
    case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: ";"): value(in: bytes, from: place + 1)
    case UInt8(ascii: "/")
    where place > 1 && bytes[place - 1] == UInt8(ascii: "/") && bytes[place - 2] == UInt8(ascii: ":"):
      userInfo(in: bytes, from: place + 1)
    default: nil
    }
  }

  private static func userInfo(in bytes: [UInt8], from start: Int) -> Range<Int>? {
    let authority = bytes[start...].prefix { !endsText($0) && $0 != 0x2F && $0 != 0x3F && $0 != 0x23 }
    guard let at = authority.lastIndex(of: UInt8(ascii: "@")), at > start else { return nil }
    return start..<at
  }

  private static func value(in bytes: [UInt8], from start: Int) -> Range<Int>? {
    let name = bytes[start...].prefix { isNameByte($0) }
    guard !name.isEmpty, name.endIndex < bytes.count, bytes[name.endIndex] == UInt8(ascii: "="), isTelling(name) else {
      return nil
    }
    let begin = name.endIndex + 1
    let value = bytes[begin...].prefix { !endsText($0) && $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: "#") }
    return value.isEmpty ? nil : begin..<value.endIndex
  }

  /// White space, quotes and angle brackets end a URL in running text.
  private static func endsText(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == 0x22 || byte == 0x27 || byte == 0x3C || byte == 0x3E || byte == 0x60
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "-_.~%[]+".utf8.contains(byte)
  }

  /// Whether one of a name's words, split at `-`, `_`, `.` and changes of case, is telling.
  static func isTelling(_ name: ArraySlice<UInt8>) -> Bool {
    var name = name
    if name.contains(UInt8(ascii: "%")) {
      name = Array(PercentEncoding.decode(String(decoding: name, as: UTF8.self)).utf8)[...]
    }
    var word: [UInt8] = []
    func isOver() -> Bool { words.contains(String(decoding: word, as: UTF8.self)) }
    for place in name.indices {
      let byte = name[place]
      guard isLetter(byte) else {
        if isOver() { return true }
        word.removeAll(keepingCapacity: true)
        continue
      }
      if isCapital(byte), place > name.startIndex {
        let isAfterSmall = isLetter(name[place - 1]) && !isCapital(name[place - 1])
        // In `APIKey`, the last capital of a row begins the next word.
        let isBeforeSmall = place + 1 < name.endIndex && isLetter(name[place + 1]) && !isCapital(name[place + 1])
        if isAfterSmall || isBeforeSmall {
          if isOver() { return true }
          word.removeAll(keepingCapacity: true)
        }
      }
      word.append(byte | 0x20)
    }
    return isOver()
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
  private static func isCapital(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
}
