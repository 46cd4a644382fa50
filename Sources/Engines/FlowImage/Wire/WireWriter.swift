/// Builds a message: numbers in eight bytes, texts and lists with their length in front.
struct WireWriter {
  private(set) var bytes: [UInt8] = []

  mutating func put(_ number: Int) {
    for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
  }
  mutating func put(_ number: Double) { put(Int(truncatingIfNeeded: number.bitPattern)) }
  mutating func put(_ flag: Bool) { bytes.append(flag ? 1 : 0) }
  mutating func put(_ raw: [UInt8]) {
    put(raw.count)
    bytes += raw
  }
  mutating func put(_ text: String) { put(Array(text.utf8)) }
  mutating func put(_ word: some RawRepresentable<String>) { put(word.rawValue) }
  mutating func put(optional number: Int?) {
    put(number != nil)
    if let number { put(number) }
  }
  mutating func put(_ colour: Colour) { bytes += [colour.red, colour.green, colour.blue, colour.alpha] }
  mutating func put<Element>(list: [Element], _ each: (inout WireWriter, Element) -> Void) {
    put(list.count)
    for element in list { each(&self, element) }
  }
}
