internal import FlowBase

/// Addresses that need no work, as most do.
extension URLParts {
  /// Takes an address apart in which every byte stands for itself; nil where the full rules have to decide.
  ///
  /// Plain is: `http` or `https` in small letters, a name or a dotted quad in its usual form, a port without zeros in
  /// front, and a path of harmless bytes without dot segments. What libcurl would make of such an address is the
  /// address itself, and taking it apart here costs a tenth.
  init?(plain text: String) {
    var copy = text
    let found = copy.withUTF8 { bytes -> Plain? in unsafe Plain(bytes) }
    guard let found else { return nil }
    let utf8 = copy.utf8
    func part(_ range: Range<Int>) -> String {
      let start = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
      return String(copy[start..<utf8.index(start, offsetBy: range.count)])
    }
    self.init(
      text: copy, scheme: found.isSecure ? "https" : "http", host: part(found.host), port: found.port,
      path: part(found.path), userInfo: nil)
  }

  private struct Plain {
    var isSecure: Bool
    var host: Range<Int>
    var port: Int
    var path: Range<Int>

    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
      let length = bytes.count
      var place = 0
      for byte in "http".utf8 {
        guard place < length, unsafe bytes[place] == byte else { return nil }
        place += 1
      }
      isSecure = unsafe place < length && bytes[place] == UInt8(ascii: "s")
      if isSecure { place += 1 }
      for byte in "://".utf8 {
        guard place < length, unsafe bytes[place] == byte else { return nil }
        place += 1
      }
      let start = place
      var (dots, letters, lastLetter, label) = (0, 0, -1, 0)
      while place < length, unsafe Plain.hosts[Int(bytes[place])] {
        switch unsafe bytes[place] {
        case UInt8(ascii: "."):
          if label == 0 { return nil }
          dots += 1
          label = 0
        case UInt8(ascii: "a")...UInt8(ascii: "z"):
          letters += 1
          lastLetter = dots
          label += 1
        default: label += 1
        }
        place += 1
      }
      host = start..<place
      if host.isEmpty || label == 0 { return nil }
      if letters == 0 {
        guard unsafe Plain.isQuad(bytes, host) else { return nil }
      } else if lastLetter != dots || letters < 2 {
        // Numbers have odd spellings, such as 0x7f.1: a name ends in a label with letters, and not in one of them alone.
        return nil
      } else if unsafe Plain.mayBeNumber(bytes[host.lowerBound..<host.upperBound]) {
        return nil
      }
      port = isSecure ? 443 : 80
      if place < length, unsafe bytes[place] == UInt8(ascii: ":") {
        place += 1
        guard place < length, unsafe (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(bytes[place]) else { return nil }
        var number = 0
        while place < length, unsafe (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[place]) {
          number = unsafe number * 10 + Int(bytes[place] - UInt8(ascii: "0"))
          if number > 65535 { return nil }
          place += 1
        }
        // A port that goes without saying is not written.
        if number == port { return nil }
        port = number
      }
      guard place < length, unsafe bytes[place] == UInt8(ascii: "/") else { return nil }
      let pathStart = place
      var pathEnd: Int?
      while place < length {
        let byte = unsafe bytes[place]
        if byte == UInt8(ascii: "?") {
          // A query without a word is no query, and goes.
          if pathEnd == nil, place + 1 == length { return nil }
          if pathEnd == nil { pathEnd = place }
        } else if byte == UInt8(ascii: "."), unsafe bytes[place - 1] == UInt8(ascii: "/") {
          return nil
        } else if !Plain.paths[Int(byte)] {
          return nil
        }
        place += 1
      }
      path = pathStart..<(pathEnd ?? length)
    }

    private static let hosts = table("abcdefghijklmnopqrstuvwxyz0123456789-.")
    private static let paths = table(
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/!$&'()*+,;=:@")

    private static func table(_ characters: String) -> [Bool] {
      var table = [Bool](repeating: false, count: 256)
      for byte in characters.utf8 { table[Int(byte)] = true }
      return table
    }

    /// Whether the last label reads as a hexadecimal number.
    private static func mayBeNumber(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
      let last = unsafe host.lastIndex(of: UInt8(ascii: ".")).map { $0 + 1 } ?? host.startIndex
      return unsafe host[last...].starts(with: "0x".utf8)
    }

    /// Four numbers up to 255, without zeros in front.
    private static func isQuad(_ bytes: UnsafeBufferPointer<UInt8>, _ host: Range<Int>) -> Bool {
      var (numbers, digits, value) = (0, 0, 0)
      for place in host {
        let byte = unsafe bytes[place]
        if byte == UInt8(ascii: ".") {
          numbers += 1
          (digits, value) = (0, 0)
          continue
        }
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), digits == 0 || value > 0 else { return false }
        value = value * 10 + Int(byte - UInt8(ascii: "0"))
        digits += 1
        if value > 255 { return false }
      }
      return numbers == 3
    }
  }
}
