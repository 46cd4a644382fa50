// Moves of whole pixels.
extension PixelBlock {
  /// The block turned as an orientation from 1 to 8 says.
  func upright(_ orientation: Int) -> PixelBlock {
    switch orientation {
    case 2: moved(width, height) { (width - 1 - $0, $1) }
    case 3: moved(width, height) { (width - 1 - $0, height - 1 - $1) }
    case 4: moved(width, height) { ($0, height - 1 - $1) }
    case 5: moved(height, width) { ($1, $0) }
    case 6: moved(height, width) { ($1, height - 1 - $0) }
    case 7: moved(height, width) { (width - 1 - $1, height - 1 - $0) }
    case 8: moved(height, width) { (width - 1 - $1, $0) }
    default: self
    }
  }

  /// A part of it.
  func cut(x: Int, y: Int, _ size: PictureSize) -> PixelBlock {
    if size.width == width, size.height == height { return self }
    return moved(size.width, size.height) { ($0 + x, $1 + y) }
  }

  /// It on a larger ground of one colour.
  func surrounded(by colour: [UInt8], x: Int, y: Int, _ size: PictureSize) -> PixelBlock {
    if size.width == width, size.height == height { return self }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size.width * size.height * bands)
    for row in 0..<size.height {
      for column in 0..<size.width {
        let (across, down) = (column - x, row - y)
        if (0..<width).contains(across), (0..<height).contains(down) {
          let start = (down * width + across) * bands
          bytes += self.bytes[start..<start + bands]
        } else {
          bytes += colour
        }
      }
    }
    return PixelBlock(width: size.width, height: size.height, bands: bands, bytes: bytes)
  }

  /// A block in which each pixel is one of this one.
  private func moved(_ newWidth: Int, _ newHeight: Int, _ origin: (Int, Int) -> (Int, Int)) -> PixelBlock {
    var result: [UInt8] = []
    result.reserveCapacity(newWidth * newHeight * bands)
    for row in 0..<newHeight {
      for column in 0..<newWidth {
        let (x, y) = origin(column, row)
        let start = (y * width + x) * bands
        for band in 0..<bands { result.append(bytes[start + band]) }
      }
    }
    return PixelBlock(width: newWidth, height: newHeight, bands: bands, bytes: result)
  }
}
