/// An address in which every byte stands for itself, as in most: what names an item is had without taking it apart.
///
/// Plain is what `WebAddress` would leave as it is: `http` or `https` in small letters, a name or a dotted quad in its
/// usual form, a port that is written only where it is not the scheme's own, a path, and no fragment, user info,
/// percent-encoding or white space.
public struct PlainAddress: Sendable {
  /// The address as it was written, which is its canonical form too.
  public let canonical: String
  /// The host.
  public let host: String
  /// The last segment of the path as a file's name; `_` where there is none.
  public let fileName: String

  /// Looks at an address; nil where the full rules have to decide what it means, or that it is none.
  public init?(_ text: String) {
    var copy = text
    guard let found = copy.withUTF8({ bytes in unsafe Places(bytes) }) else { return nil }
    canonical = copy
    let utf8 = copy.utf8
    let host = copy[utf8.index(utf8.startIndex, offsetBy: found.host.lowerBound)...].utf8.prefix(found.host.count)
    // The rules of numbers that are hosts stand in one place only.
    if found.mayBeNumber, !AddressLiteral.isDottedQuad(host) { return nil }
    self.host = String(Substring(host))
    let name = utf8[utf8.index(utf8.startIndex, offsetBy: found.name.lowerBound)...].prefix(found.name.count)
    fileName = FileName.safe(String(Substring(name)))
  }

  /// Where the parts of an address are.
  private struct Places {
    var host: Range<Int>
    var name: Range<Int>
    /// Whether the last label of the host begins with a digit, as those of numbers do.
    var mayBeNumber: Bool

    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
      guard bytes.count <= 64 * 1024, var place = unsafe Places.schemeEnd(bytes) else { return nil }
      let standard = place == 8 ? 443 : 80
      let start = place
      var label = 0
      var lastLabel = place
      while place < bytes.count {
        let byte = unsafe bytes[place]
        if byte == UInt8(ascii: ".") {
          if label == 0 { return nil }
          label = 0
          lastLabel = place + 1
        } else if (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (48...57).contains(byte)
          || byte == UInt8(ascii: "-")
        {
          label += 1
          if label > 63 { return nil }
        } else {
          break
        }
        place += 1
      }
      host = start..<place
      guard label > 0, host.count <= 253 else { return nil }
      mayBeNumber = unsafe (48...57).contains(bytes[lastLabel])
      if place < bytes.count, unsafe bytes[place] == UInt8(ascii: ":") {
        place += 1
        var port = 0
        // A zero in front would not be written again.
        guard place < bytes.count, unsafe bytes[place] != 48 else { return nil }
        while place < bytes.count, unsafe (48...57).contains(bytes[place]) {
          port = unsafe port * 10 + Int(bytes[place] - 48)
          if port > 65535 { return nil }
          place += 1
        }
        if port == 0 || port == standard { return nil }
      }
      guard place < bytes.count, unsafe bytes[place] == UInt8(ascii: "/") else { return nil }
      // The last segment that is not empty.
      var (segment, name) = (place + 1, place..<place)
      while place < bytes.count, unsafe bytes[place] != UInt8(ascii: "?") {
        let byte = unsafe bytes[place]
        if byte == UInt8(ascii: "/") {
          if place > segment { name = segment..<place }
          segment = place + 1
        } else if !PercentEncoding.Allowed.path.contains(byte) {
          return nil
        }
        place += 1
      }
      if place > segment { name = segment..<place }
      self.name = name
      if place == bytes.count { return }
      place += 1
      while place < bytes.count {
        if unsafe !PercentEncoding.Allowed.query.contains(bytes[place]) { return nil }
        place += 1
      }
    }

    /// How long `http://` or `https://` is, where it stands there in small letters.
    private static func schemeEnd(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
      guard bytes.count > 8, unsafe bytes[0] == UInt8(ascii: "h"), unsafe bytes[1] == UInt8(ascii: "t"),
        unsafe bytes[2] == UInt8(ascii: "t"), unsafe bytes[3] == UInt8(ascii: "p")
      else { return nil }
      let colon = unsafe bytes[4] == UInt8(ascii: "s") ? 5 : 4
      guard unsafe bytes[colon] == UInt8(ascii: ":"), unsafe bytes[colon + 1] == UInt8(ascii: "/"),
        unsafe bytes[colon + 2] == UInt8(ascii: "/")
      else { return nil }
      return colon + 3
    }
  }
}
