import FlowBase

/// Ids of runs: ten characters of Crockford's base 32 that sort by time, to the millisecond.
enum RunID {
  private static let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

  static func make(at time: WallTime) -> String {
    var rest = UInt64(max(0, time.microseconds / 1000))
    var text = [UInt8](repeating: digits[0], count: 10)
    for place in (0..<10).reversed() {
      text[place] = digits[Int(rest & 31)]
      rest >>= 5
    }
    return String(decoding: text, as: UTF8.self)
  }
}
