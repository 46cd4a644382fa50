internal import FlowBase

/// A document's bytes, known to be UTF-8 without characters that YAML forbids, and a way from characters to bytes.
struct SourceText {
  /// The bytes without a byte order mark.
  let bytes: [UInt8]
  private let isASCII: Bool
  /// The last character looked for and its byte; marks come nearly in order, so the way from there is short.
  private var knownIndex = 0
  private var knownByte = 0

  private init(bytes: [UInt8], isASCII: Bool) {
    self.bytes = bytes
    self.isASCII = isASCII
  }

  /// The text, or the first thing that makes it no YAML document.
  static func check(_ bytes: [UInt8], file: String) -> Result<SourceText, Diagnostic> {
    if bytes.count > Limits.bytes {
      return .failure(
        YAMLProblems.tooLarge.at(
          Place(file: file, mark: .start), "the document has \(bytes.count) bytes; at most \(Limits.bytes) are allowed",
          hint: "put long lists into files of their own (the source `file`)"))
    }
    if let name = foreignEncoding(bytes) {
      return .failure(
        YAMLProblems.encoding.at(
          Place(file: file, mark: .start), "this file is written in \(name), not in UTF-8",
          hint: "save it as UTF-8"))
    }
    let content = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    var isASCII = true
    var place = 0
    while place < content.count {
      let byte = content[place]
      if byte >= 0x20 && byte < 0x7F || byte == 0x0A || byte == 0x0D || byte == 0x09 {
        place += 1
        continue
      }
      isASCII = isASCII && byte < 0x80
      guard let (scalar, width) = decodeUTF8(content, at: place) else {
        let mark = countMark(content, to: place)
        return .failure(
          YAMLProblems.brokenUTF8.at(
            Place(file: file, mark: mark), "the byte 0x\(Hex.encode([byte])) is not part of any UTF-8 character",
            hint: "save the file as UTF-8"))
      }
      if scalar < 0x20 || scalar >= 0x7F && scalar < 0xA0 && scalar != 0x85 || scalar == 0xFFFE || scalar == 0xFFFF {
        let mark = countMark(content, to: place)
        let what = scalar == 0 ? "a NUL byte" : "the control character U+\(hexadecimal(scalar))"
        return .failure(
          YAMLProblems.control.at(
            Place(file: file, mark: mark), "\(what) stands here; YAML allows none",
            hint:
              "remove it, or write it as an escape in a text in double quotes, such as \"\\x\(hexadecimal(scalar).suffix(2))\""
          ))
      }
      place += width
    }
    return .success(SourceText(bytes: content, isASCII: isASCII))
  }

  /// The byte at which a character stands; characters are counted from 0 over the whole document.
  mutating func byte(ofCharacter index: Int) -> Int {
    if isASCII { return min(max(0, index), bytes.count) }
    while knownIndex < index && knownByte < bytes.count {
      knownByte += 1
      while knownByte < bytes.count && bytes[knownByte] & 0xC0 == 0x80 { knownByte += 1 }
      knownIndex += 1
    }
    while knownIndex > index && knownByte > 0 {
      knownByte -= 1
      while knownByte > 0 && bytes[knownByte] & 0xC0 == 0x80 { knownByte -= 1 }
      knownIndex -= 1
    }
    return knownByte
  }

  /// The byte of a character, or nil at the end.
  mutating func character(at index: Int) -> UInt8? {
    let place = byte(ofCharacter: index)
    return place < bytes.count ? bytes[place] : nil
  }

  /// How many characters there are from here to the end of the line, trailing blanks left out.
  mutating func charactersToLineEnd(from index: Int) -> Int {
    var count = 0
    var solid = 0
    var place = byte(ofCharacter: index)
    while place < bytes.count, bytes[place] != 0x0A, bytes[place] != 0x0D {
      if bytes[place] & 0xC0 != 0x80 { count += 1 }
      if bytes[place] != 0x20 && bytes[place] != 0x09 { solid = count }
      place += 1
    }
    return solid
  }

  /// How many characters there are from here to the next blank or line's end; at most 1024, so that a long line
  /// without blanks costs nothing.
  mutating func charactersToBlank(from index: Int) -> Int {
    var count = 0
    var place = byte(ofCharacter: index)
    while place < bytes.count, bytes[place] > 0x20, count < 1024 {
      if bytes[place] & 0xC0 != 0x80 { count += 1 }
      place += 1
    }
    return count
  }

  /// How many characters a node's anchor and tag take, the blanks behind them included.
  mutating func charactersOfProperties(from index: Int) -> Int {
    var skipped = 0
    while let byte = character(at: index + skipped), byte == UInt8(ascii: "&") || byte == UInt8(ascii: "!") {
      let word = charactersToBlank(from: index + skipped)
      var blanks = 0
      while let blank = character(at: index + skipped + word + blanks), blank == 0x20 || blank == 0x09 { blanks += 1 }
      // A property at the end of its line belongs to what begins below: there is nothing to skip to.
      guard let next = character(at: index + skipped + word + blanks), next > 0x20, next != UInt8(ascii: "#") else {
        return skipped
      }
      skipped += word + blanks
    }
    return skipped
  }

  /// The numbers of the lines whose indentation holds a tab.
  func linesIndentedWithTabs() -> [Int] {
    var lines: [Int] = []
    var line = 1
    var isIndent = true
    for byte in bytes {
      if byte == 0x0A {
        line += 1
        isIndent = true
      } else if isIndent && byte == 0x09 {
        lines.append(line)
        isIndent = false
        if lines.count > 20 { return lines }
      } else if byte != 0x20 {
        isIndent = false
      }
    }
    return lines
  }

  /// How many characters the expression takes that begins with the `$` at this character.
  ///
  /// It goes to its `}`, or else to the line's end. A `}` in quotes does not count, where they are closed on the line.
  mutating func lengthOfExpression(at index: Int) -> Int {
    let start = byte(ofCharacter: index)
    return expressionLength(from: start, mindingQuotes: true) ?? expressionLength(from: start, mindingQuotes: false)
      ?? charactersToLineEnd(from: index)
  }

  private func expressionLength(from start: Int, mindingQuotes: Bool) -> Int? {
    var depth = 0
    var length = 0
    var quote: UInt8?
    for byte in bytes[start...] {
      if byte == 0x0A || byte == 0x0D { return nil }
      if byte & 0xC0 != 0x80 { length += 1 }
      if let opening = quote {
        if byte == opening { quote = nil }
        continue
      }
      switch byte {
      case UInt8(ascii: "'") where mindingQuotes, UInt8(ascii: "\"") where mindingQuotes: quote = byte
      case UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "}"):
        depth -= 1
        if depth == 0 { return length }
      default: break
      }
    }
    return nil
  }

  /// The text with letters in the place of an expression, as long as it; nil if it does not end in its line.
  func maskingExpression(at index: Int) -> SourceText? {
    var measure = self
    let length = measure.lengthOfExpression(at: index)
    let start = measure.byte(ofCharacter: index)
    let end = measure.byte(ofCharacter: index + length)
    guard end > start, bytes[end - 1] == UInt8(ascii: "}") else { return nil }
    var masked = bytes
    masked.replaceSubrange(start..<end, with: [UInt8](repeating: UInt8(ascii: "x"), count: length))
    return SourceText(bytes: masked, isASCII: false)
  }

  /// The text between two characters.
  mutating func text(from index: Int, length: Int) -> String {
    let start = byte(ofCharacter: index)
    let end = byte(ofCharacter: index + length)
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }
}

/// The name of another encoding that the first bytes tell of.
private func foreignEncoding(_ bytes: [UInt8]) -> String? {
  if bytes.starts(with: [0xFF, 0xFE, 0, 0]) || bytes.starts(with: [0, 0, 0xFE, 0xFF]) { return "UTF-32" }
  if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return "UTF-16" }
  // Without a byte order mark, every second byte of English text in UTF-16 is zero.
  if bytes.count >= 4, (bytes[0] == 0 && bytes[2] == 0) != (bytes[1] == 0 && bytes[3] == 0) { return "UTF-16" }
  return nil
}

/// The character at a place and how many bytes it takes; nil where the bytes are no UTF-8.
private func decodeUTF8(_ bytes: [UInt8], at place: Int) -> (scalar: UInt32, width: Int)? {
  let first = bytes[place]
  let (width, least): (Int, UInt32)
  switch first {
  case 0..<0x80: return (UInt32(first), 1)
  case 0xC2..<0xE0: (width, least) = (2, 0x80)
  case 0xE0..<0xF0: (width, least) = (3, 0x800)
  case 0xF0..<0xF5: (width, least) = (4, 0x10000)
  default: return nil
  }
  guard place + width <= bytes.count else { return nil }
  var scalar = UInt32(first) & (0x7F >> UInt32(width))
  for next in bytes[place + 1..<place + width] {
    guard next & 0xC0 == 0x80 else { return nil }
    scalar = scalar << 6 | UInt32(next & 0x3F)
  }
  guard scalar >= least, Unicode.Scalar(scalar) != nil else { return nil }
  return (scalar, width)
}

/// The mark of a byte, found by counting from the beginning.
private func countMark(_ bytes: [UInt8], to place: Int) -> Mark {
  var mark = Mark.start
  for (offset, byte) in bytes[..<place].enumerated() {
    let isLineEnd = byte == 0x0A || byte == 0x0D && (offset + 1 >= bytes.count || bytes[offset + 1] != 0x0A)
    if isLineEnd {
      mark.line += 1
      mark.column = 1
    } else if byte & 0xC0 != 0x80 && byte != 0x0D {
      mark.column += 1
    }
  }
  return mark
}

/// A character's number as it is usually written: at least four digits.
private func hexadecimal(_ scalar: UInt32) -> String {
  let digits = String(scalar, radix: 16, uppercase: true)
  return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}
