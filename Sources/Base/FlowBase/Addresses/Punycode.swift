/// Names of hosts in other scripts, as the labels of ASCII that name servers know (RFC 3492).
enum Punycode {
  /// The label without its prefix `xn--`; nil where its numbers overflow.
  static func encode(_ label: [Unicode.Scalar]) -> String? {
    var output = label.filter(\.isASCII).map { UInt8($0.value) }
    let basic = output.count
    if basic > 0 { output.append(UInt8(ascii: "-")) }
    var code: UInt32 = 128
    var delta: UInt32 = 0
    var bias: UInt32 = 72
    var handled = UInt32(basic)
    while handled < UInt32(label.count) {
      guard let next = label.lazy.map(\.value).filter({ $0 >= code }).min() else { return nil }
      let (jump, isTooFar) = (next - code).multipliedReportingOverflow(by: handled + 1)
      let (sum, isTooLarge) = delta.addingReportingOverflow(jump)
      if isTooFar || isTooLarge { return nil }
      delta = sum
      code = next
      for scalar in label {
        if scalar.value < code { delta += 1 }
        guard scalar.value == code else { continue }
        append(delta, bias, to: &output)
        bias = adapted(delta, handled + 1, isFirst: handled == UInt32(basic))
        delta = 0
        handled += 1
      }
      delta += 1
      code += 1
    }
    return String(decoding: output, as: UTF8.self)
  }

  private static func append(_ delta: UInt32, _ bias: UInt32, to output: inout [UInt8]) {
    var rest = delta
    var place: UInt32 = 36
    while true {
      let threshold = place <= bias ? 1 : place >= bias + 26 ? 26 : place - bias
      if rest < threshold { break }
      output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
      rest = (rest - threshold) / (36 - threshold)
      place += 36
    }
    output.append(digit(rest))
  }

  private static func digit(_ value: UInt32) -> UInt8 {
    UInt8(value < 26 ? value + 97 : value + 22)
  }

  private static func adapted(_ delta: UInt32, _ count: UInt32, isFirst: Bool) -> UInt32 {
    var delta = isFirst ? delta / 700 : delta / 2
    delta += delta / count
    var place: UInt32 = 0
    while delta > 455 {
      delta /= 35
      place += 36
    }
    return place + 36 * delta / (delta + 38)
  }
}
