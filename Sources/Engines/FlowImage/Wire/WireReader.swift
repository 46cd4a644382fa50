/// Reads what a `WireWriter` has built.
struct WireReader {
  /// The message is none, or ends too early.
  struct Garbled: Error {}

  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private mutating func take(_ count: Int) throws(Garbled) -> ArraySlice<UInt8> {
    guard count >= 0, count <= bytes.count - place else { throw Garbled() }
    place += count
    return bytes[place - count..<place]
  }

  mutating func int() throws(Garbled) -> Int {
    var number = 0
    for byte in try take(8).reversed() { number = number << 8 | Int(byte) }
    return number
  }
  mutating func double() throws(Garbled) -> Double { Double(bitPattern: UInt64(bitPattern: Int64(try int()))) }
  mutating func flag() throws(Garbled) -> Bool { try take(1).first == 1 }
  mutating func raw() throws(Garbled) -> [UInt8] { Array(try take(try int())) }
  mutating func raw(_ count: Int) throws(Garbled) -> [UInt8] { Array(try take(count)) }
  mutating func text() throws(Garbled) -> String { String(decoding: try take(try int()), as: UTF8.self) }
  mutating func word<Word: RawRepresentable<String>>(_ type: Word.Type = Word.self) throws(Garbled) -> Word {
    guard let word = Word(rawValue: try text()) else { throw Garbled() }
    return word
  }
  mutating func optionalInt() throws(Garbled) -> Int? { try flag() ? try int() : nil }
  mutating func colour() throws(Garbled) -> Colour {
    let parts = Array(try take(4))
    return Colour(red: parts[0], green: parts[1], blue: parts[2], alpha: parts[3])
  }
  mutating func list<Element>(_ each: (inout WireReader) throws(Garbled) -> Element) throws(Garbled) -> [Element] {
    let count = try int()
    // Each element takes a byte at least, so that a made-up length ends here.
    guard count >= 0, count <= bytes.count - place else { throw Garbled() }
    var elements: [Element] = []
    for _ in 0..<count { elements.append(try each(&self)) }
    return elements
  }
}
