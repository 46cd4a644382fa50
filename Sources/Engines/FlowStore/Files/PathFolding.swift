@_spi(_Unicode) internal import Swift

/// What two paths have in common when some file system takes them for one: letter case and Unicode form put aside.
enum PathFolding {
  /// The path in the form that is compared.
  static func fold(_ path: String) -> String {
    var isPlain = true
    var isASCII = true
    for byte in path.utf8 {
      if byte >= 0x80 {
        isASCII = false
        break
      }
      if byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") { isPlain = false }
    }
    if isASCII { return isPlain ? path : path.lowercased() }
    // Upper case first: it joins letters that have several small forms, as ß and ss, or the two sigmas.
    var scalars = String.UnicodeScalarView()
    scalars.append(contentsOf: path.uppercased().lowercased()._nfc)
    return String(scalars)
  }

  /// A number for a folded path, the same on every machine and in every run; equal paths have equal numbers.
  static func hash(_ folded: String) -> Int64 { StableHash.of(folded) }
}

/// A hash that does not change from run to run, unlike the standard library's; collisions are told apart by comparing.
enum StableHash {
  /// The hash of a text's UTF-8 bytes.
  static func of(_ text: String) -> Int64 {
    var state = basis
    mix(text, into: &state)
    return finish(state)
  }

  /// The hash of a pair of texts; the pairs `a`, `bc` and `ab`, `c` differ.
  static func of(_ first: String, _ second: String) -> Int64 {
    var state = basis
    mix(first, into: &state)
    state = (state ^ 0xFF) &* prime
    mix(second, into: &state)
    return finish(state)
  }

  // FNV-1a, and the end of MurmurHash3 so that neighbours lie far apart in all bits.
  private static let basis: UInt64 = 0xCBF2_9CE4_8422_2325
  private static let prime: UInt64 = 0x0000_0100_0000_01B3

  private static func mix(_ text: String, into state: inout UInt64) {
    for byte in text.utf8 { state = (state ^ UInt64(byte)) &* prime }
  }

  private static func finish(_ state: UInt64) -> Int64 {
    var hash = state
    hash = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
    hash = (hash ^ (hash >> 33)) &* 0xC4CE_B9FE_1A85_EC53
    return Int64(bitPattern: hash ^ (hash >> 33))
  }
}
