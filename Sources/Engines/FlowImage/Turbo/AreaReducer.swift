/// Makes pictures smaller: each new pixel is the mean of the area that it covers, fractions of pixels included.
enum AreaReducer {
  /// What one new column or row is made of: old ones from `start` on, each with its weight; the weights sum to 4096.
  struct Share: Hashable {
    var start: Int
    var weights: [UInt32]
  }

  /// How so many are made of so many more.
  static func shares(of old: Int, in new: Int) -> [Share] {
    let whole = 4096.0
    let width = Double(old) / Double(new)
    return (0..<new).map { place in
      let from = Double(place) * width
      let to = min(Double(old), from + width)
      let first = min(old - 1, Int(from))
      let last = min(old - 1, max(first, Int(to.rounded(.up)) - 1))
      // Rounded as a running sum, so that nothing is lost or won and an even picture stays even.
      var done = 0.0
      let weights = (first...last).map { index in
        let before = (done * whole).rounded()
        done += max(0, min(to, Double(index + 1)) - max(from, Double(index))) / width
        return UInt32(((index == last ? 1 : min(1, done)) * whole).rounded() - before)
      }
      return Share(start: first, weights: weights)
    }
  }

  static func reduce(_ block: PixelBlock, to size: PictureSize) -> PixelBlock {
    if block.width == size.width, block.height == size.height { return block }
    let columns = shares(of: block.width, in: size.width)
    let rows = shares(of: block.height, in: size.height)
    let bands = block.bands
    let stride = block.width * bands
    var sums = [UInt32](repeating: 0, count: stride)
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size.width * size.height * bands) { result, count in
      unsafe block.bytes.withUnsafeBufferPointer { pixels in
        unsafe sums.withUnsafeMutableBufferPointer { sums in
          for (number, row) in rows.enumerated() {
            for (offset, weight) in row.weights.enumerated() {
              let line = unsafe UnsafeBufferPointer(
                rebasing: pixels[(row.start + offset) * stride..<(row.start + offset + 1) * stride])
              if offset == 0 {
                for place in 0..<stride { unsafe sums[place] = weight &* UInt32(truncatingIfNeeded: line[place]) }
              } else {
                for place in 0..<stride { unsafe sums[place] &+= weight &* UInt32(truncatingIfNeeded: line[place]) }
              }
            }
            unsafe across(sums, columns, bands, into: result, at: number * size.width * bands)
          }
        }
      }
      count = size.width * size.height * bands
    }
    return PixelBlock(width: size.width, height: size.height, bands: bands, bytes: bytes)
  }

  /// Makes one new row of the sums of the old ones, which are 4096 times too large.
  private static func across(
    _ sums: UnsafeMutableBufferPointer<UInt32>, _ columns: [Share], _ bands: Int,
    into result: UnsafeMutableBufferPointer<UInt8>, at start: Int
  ) {
    var target = start
    for column in columns {
      for band in 0..<bands {
        var total: UInt32 = 0
        var place = column.start * bands + band
        for weight in column.weights {
          // Sixteen bits of the sum are enough, and leave room for the second weight.
          total &+= weight &* (unsafe sums[place] >> 4)
          place += bands
        }
        unsafe result[target] = UInt8(truncatingIfNeeded: min(255, (total &+ (1 << 19)) >> 20))
        target += 1
      }
    }
  }
}
