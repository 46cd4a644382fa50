internal import FlowBase

/// What was found for the origin of the last address, since the next one's is mostly the same.
///
/// An address is not taken apart for that. Whatever ends its authority stands before or at its third slash, so that
/// two addresses with the same bytes up to there have the same one; unless there is nothing between the second and
/// the third.
final class LastOrigin<Found: Sendable>: Sendable {
  private let last = Guarded<(origin: [UInt8], found: Found)?>(nil)

  /// What was found for the same origin, or else what `find` finds now.
  func of(_ url: String, _ find: () -> Found?) -> Found? {
    var copy = url
    let count = copy.withUTF8 { unsafe LastOrigin.length($0) }
    guard count > 0 else { return find() }
    let known = last.withLock { last -> Found? in
      guard let last, last.origin.count == count else { return nil }
      let isSame = copy.withUTF8 { bytes in
        for place in 0..<count where unsafe bytes[place] != last.origin[place] { return false }
        return true
      }
      return isSame ? last.found : nil
    }
    if let known { return known }
    guard let found = find() else { return nil }
    let origin = Array(copy.utf8.prefix(count))
    last.withLock { $0 = (origin, found) }
    return found
  }

  /// How many bytes stand before the third slash; 0 where there is no such slash, or nothing before it.
  private static func length(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var (slashes, last) = (0, -1)
    for place in 0..<bytes.count where unsafe bytes[place] == UInt8(ascii: "/") {
      slashes += 1
      if slashes == 3 { return place > last + 1 ? place : 0 }
      last = place
    }
    return 0
  }
}
