internal import FlowBase

/// Whether a file stops before its format says that it is over, told by its structure alone.
enum PictureEnd {
  static func isCut(_ bytes: PinnedBytes, _ format: PictureFormat) -> Bool {
    switch format {
    case .png: isCutPNG(bytes)
    case .gif: isCutGIF(bytes)
    case .webp: isCutWebP(bytes)
    case .jpeg: !endsJPEG(bytes)
    case .heic, .avif: isCutBoxes(bytes)
    case .tiff, .jxl, .svg, .pdf: false
    }
  }

  private static func bigEndian(_ bytes: PinnedBytes, _ place: Int) -> Int {
    (0..<4).reduce(0) { $0 << 8 | Int(bytes[place + $1]) }
  }

  /// Chunks follow one another up to the one that says that it is the last.
  private static func isCutPNG(_ bytes: PinnedBytes) -> Bool {
    var place = 8
    while place + 12 <= bytes.count {
      let length = bigEndian(bytes, place)
      if bigEndian(bytes, place + 4) == 0x4945_4E44 { return false }
      place += 12 + length
    }
    return true
  }

  private static func isCutWebP(_ bytes: PinnedBytes) -> Bool {
    guard bytes.count >= 12 else { return true }
    let length = (0..<4).reduce(0) { $0 | Int(bytes[4 + $1]) << ($1 * 8) }
    // The byte that makes the length even may be missing.
    return bytes.count + 1 < length + 8
  }

  /// The last marker of a JPEG stands at its end, or before what others have put behind it.
  private static func endsJPEG(_ bytes: PinnedBytes) -> Bool {
    var place = bytes.count - 2
    while place >= 2 {
      if bytes[place] == 0xFF, bytes[place + 1] == 0xD9 { return true }
      place -= 1
    }
    return false
  }

  /// Blocks follow one another up to the trailer.
  private static func isCutGIF(_ bytes: PinnedBytes) -> Bool {
    func skipBlocks(_ start: Int) -> Int? {
      var place = start
      while place < bytes.count {
        let length = Int(bytes[place])
        place += 1 + length
        if length == 0 { return place }
      }
      return nil
    }
    func table(_ flags: UInt8) -> Int { flags & 0x80 != 0 ? 3 << (Int(flags & 7) + 1) : 0 }
    guard bytes.count >= 13 else { return true }
    var place = 13 + table(bytes[10])
    while place < bytes.count {
      switch bytes[place] {
      case 0x3B: return false
      case 0x21:
        guard let next = skipBlocks(place + 2) else { return true }
        place = next
      case 0x2C:
        guard place + 10 < bytes.count, let next = skipBlocks(place + 11 + table(bytes[place + 9])) else { return true }
        place = next
      default: return false  // No GIF from here on: broken, but not cut.
      }
    }
    return true
  }

  /// Boxes with their lengths in front fill the file.
  private static func isCutBoxes(_ bytes: PinnedBytes) -> Bool {
    var place = 0
    while place + 8 <= bytes.count {
      var length = bigEndian(bytes, place)
      if length == 0 { return false }
      if length == 1 {
        guard place + 16 <= bytes.count, bigEndian(bytes, place + 8) == 0 else { return true }
        length = bigEndian(bytes, place + 12)
      }
      if length < 8 { return false }
      place += length
    }
    // A few bytes behind the last box, such as the end of a line, are no box that was cut.
    return place > bytes.count
  }
}
