/// What a JPEG says of itself before its pixels begin.
struct JPEGHeader: Hashable {
  var width = 0
  var height = 0
  /// 1 for grey, 3 for colours, 4 for print colours.
  var components = 0
  /// How it is to be turned to stand upright, 1 to 8.
  var orientation = 1
  /// The profile of its colours.
  var profile: [UInt8]?
  /// The bytes of all that stands beside the pixels.
  var metadata = 0

  /// Reads up to the first pixels; nil where something is not as usual, or comes too early.
  init?(_ bytes: PinnedBytes) {
    guard bytes.count > 4, bytes[0] == 0xFF, bytes[1] == 0xD8 else { return nil }
    var pieces: [(number: UInt8, bytes: [UInt8])] = []
    var place = 2
    while true {
      // Any number of fill bytes may stand in front of a marker.
      guard place + 4 <= bytes.count, bytes[place] == 0xFF else { return nil }
      let marker = bytes[place + 1]
      if marker == 0xFF {
        place += 1
        continue
      }
      let length = Int(bytes[place + 2]) << 8 | Int(bytes[place + 3])
      guard length >= 2, place + 2 + length <= bytes.count else { return nil }
      let content = place + 4..<place + 2 + length
      switch marker {
      case 0xDA:
        guard width > 0, height > 0, components > 0 else { return nil }
        if !pieces.isEmpty { profile = pieces.sorted { $0.number < $1.number }.flatMap(\.bytes) }
        return
      case 0xC0, 0xC1, 0xC2:
        guard components == 0, content.count >= 6, bytes[content.lowerBound] == 8 else { return nil }
        height = Int(bytes[place + 5]) << 8 | Int(bytes[place + 6])
        width = Int(bytes[place + 7]) << 8 | Int(bytes[place + 8])
        components = Int(bytes[place + 9])
      case 0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF: return nil
      case 0xE1:
        metadata += length
        if let found = JPEGHeader.orientation(bytes.array(content)) { orientation = found }
      case 0xE2:
        metadata += length
        let piece = bytes.array(content)
        if piece.count > 14, piece.starts(with: Array("ICC_PROFILE\0".utf8)) {
          pieces.append((piece[12], Array(piece[14...])))
        }
      case 0xE0...0xEF, 0xFE: metadata += length
      default: break
      }
      place += 2 + length
    }
  }

  /// The orientation that a block of EXIF names.
  static func orientation(_ block: [UInt8]) -> Int? {
    guard block.starts(with: Array("Exif\0\0".utf8)), block.count >= 14 else { return nil }
    let tiff = Array(block[6...])
    let isBig = tiff[0] == UInt8(ascii: "M")
    func number(_ place: Int, _ count: Int) -> Int? {
      guard place >= 0, place + count <= tiff.count else { return nil }
      let bytes = tiff[place..<place + count]
      return (isBig ? Array(bytes) : bytes.reversed()).reduce(0) { $0 << 8 | Int($1) }
    }
    guard let start = number(4, 4), let count = number(start, 2) else { return nil }
    for entry in 0..<min(count, 512) {
      let place = start + 2 + entry * 12
      guard let tag = number(place, 2) else { return nil }
      if tag == 0x0112, number(place + 2, 2) == 3, let value = number(place + 8, 2), (1...8).contains(value) {
        return value
      }
    }
    return nil
  }
}
