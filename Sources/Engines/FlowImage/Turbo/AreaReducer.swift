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
    let columns = Columns(shares(of: block.width, in: size.width))
    let rows = shares(of: block.height, in: size.height)
    let bands = block.bands
    let stride = block.width * bands
    var sums = [UInt32](repeating: 0, count: stride)
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size.width * size.height * bands) { result, count in
      unsafe block.bytes.withUnsafeBufferPointer { pixels in
        unsafe sums.withUnsafeMutableBufferPointer { sums in
          for (number, row) in rows.enumerated() {
            unsafe down(pixels, row, stride, into: sums)
            let start = number * size.width * bands
            switch bands {
            case 3: unsafe acrossColours(sums, columns, into: result, at: start)
            default: unsafe across(sums, columns, bands, into: result, at: start)
            }
          }
        }
      }
      count = size.width * size.height * bands
    }
    return PixelBlock(width: size.width, height: size.height, bands: bands, bytes: bytes)
  }

  /// Sums the old rows of a new one by their weights; the sums are 4096 times too large.
  ///
  /// Two rows at a time, which halves how often the sums are read and written. That a weight has thirteen bits is said
  /// to the compiler by cutting off those above: only then is there an instruction that multiplies four at once.
  private static func down(
    _ pixels: UnsafeBufferPointer<UInt8>, _ row: Share, _ stride: Int, into sums: UnsafeMutableBufferPointer<UInt32>
  ) {
    for offset in Swift.stride(from: 0, to: row.weights.count, by: 2) {
      let isSingle = offset + 1 == row.weights.count
      let weight = row.weights[offset] & 0x1FFF
      let next = isSingle ? 0 : row.weights[offset + 1] & 0x1FFF
      let start = (row.start + offset) * stride
      let line = unsafe UnsafeBufferPointer(rebasing: pixels[start..<start + stride])
      let below =
        isSingle ? unsafe line : unsafe UnsafeBufferPointer(rebasing: pixels[start + stride..<start + 2 * stride])
      if offset == 0 {
        for place in 0..<stride {
          unsafe sums[place] = weight &* UInt32(line[place]) &+ next &* UInt32(below[place])
        }
      } else {
        for place in 0..<stride {
          unsafe sums[place] &+= weight &* UInt32(line[place]) &+ next &* UInt32(below[place])
        }
      }
    }
  }

  /// The shares of all columns, one behind the other.
  private struct Columns {
    /// For each column where its old ones start, and behind which weight its own end.
    var places: [(start: Int, end: Int)] = []
    var weights: [UInt32] = []

    init(_ shares: [Share]) {
      for share in shares {
        weights += share.weights
        places.append((share.start, weights.count))
      }
    }
  }

  /// Makes one new row of the sums of the old ones, which are 4096 times too large.
  private static func across(
    _ sums: UnsafeMutableBufferPointer<UInt32>, _ columns: Columns, _ bands: Int,
    into result: UnsafeMutableBufferPointer<UInt8>, at start: Int
  ) {
    var target = start
    var first = 0
    for column in columns.places {
      for band in 0..<bands {
        var total: UInt32 = 0
        var place = column.start * bands + band
        for index in first..<column.end {
          total &+= unsafe columns.weights[index] &* (sums[place] >> 4)
          place += bands
        }
        unsafe result[target] = byte(total)
        target += 1
      }
      first = column.end
    }
  }

  /// The same for three bands, as nearly all pictures have: all three at a time.
  private static func acrossColours(
    _ sums: UnsafeMutableBufferPointer<UInt32>, _ columns: Columns, into result: UnsafeMutableBufferPointer<UInt8>,
    at start: Int
  ) {
    unsafe columns.weights.withUnsafeBufferPointer { weights in
      var target = start
      var first = 0
      for column in columns.places {
        var (red, green, blue): (UInt32, UInt32, UInt32) = (0, 0, 0)
        var place = column.start * 3
        for index in first..<column.end {
          let weight = unsafe weights[index]
          red &+= unsafe weight &* (sums[place] >> 4)
          green &+= unsafe weight &* (sums[place + 1] >> 4)
          blue &+= unsafe weight &* (sums[place + 2] >> 4)
          place += 3
        }
        unsafe result[target] = byte(red)
        unsafe result[target + 1] = byte(green)
        unsafe result[target + 2] = byte(blue)
        target += 3
        first = column.end
      }
    }
  }

  /// A new value of a sum with both weights: sixteen bits of the first sum are enough, and leave room for the second.
  private static func byte(_ total: UInt32) -> UInt8 {
    UInt8(truncatingIfNeeded: min(255, (total &+ (1 << 19)) >> 20))
  }
}
