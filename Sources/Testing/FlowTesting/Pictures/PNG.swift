internal import FlowRecords

/// Writes PNG: eight bits a colour, no interlacing.
enum PNG {
  /// The file's bytes.
  static func encode(_ canvas: Canvas) -> [UInt8] {
    var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    append("IHDR", bigEndian(canvas.width) + bigEndian(canvas.height) + [8, 2, 0, 0, 0], to: &file)
    append("IDAT", Zlib.compress(filtered(canvas)), to: &file)
    append("IEND", [], to: &file)
    return file
  }

  /// The rows, each with the filter in front that leaves the smallest differences.
  private static func filtered(_ canvas: Canvas) -> [UInt8] {
    let bytes = canvas.bytes
    let stride = canvas.width * 3
    var rows: [UInt8] = []
    rows.reserveCapacity(bytes.count + canvas.height)
    var sub = [UInt8](repeating: 0, count: stride)
    var up = sub
    for row in 0..<canvas.height {
      let start = row * stride
      var subCost = 0
      var upCost = 0
      for place in 0..<stride {
        let byte = bytes[start + place]
        let left = byte &- (place >= 3 ? bytes[start + place - 3] : 0)
        let above = byte &- (row > 0 ? bytes[start + place - stride] : 0)
        sub[place] = left
        up[place] = above
        subCost += left < 128 ? Int(left) : 256 - Int(left)
        upCost += above < 128 ? Int(above) : 256 - Int(above)
      }
      rows.append(subCost < upCost ? 1 : 2)
      rows += subCost < upCost ? sub : up
    }
    return rows
  }

  private static func append(_ kind: String, _ data: [UInt8], to file: inout [UInt8]) {
    let chunk = Array(kind.utf8) + data
    file += bigEndian(data.count) + chunk + bigEndian(Int(Crc32.checksum(chunk)))
  }

  private static func bigEndian(_ number: Int) -> [UInt8] {
    [UInt8(number >> 24 & 255), UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)]
  }
}
