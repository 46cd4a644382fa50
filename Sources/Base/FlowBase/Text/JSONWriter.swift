/// Writes JSON into bytes, without Foundation and without an allocation a value.
///
/// The writer puts the commas; the caller balances `begin` and `end` and writes a key before each value of an object.
public struct JSONWriter {
  /// What has been written.
  public private(set) var bytes: [UInt8] = []
  /// Whether the next key or element needs a comma before it.
  private var needsComma = false

  /// A writer that has written nothing.
  public init() {}

  /// A writer that appends to a buffer which keeps its capacity between lines.
  public init(reusing buffer: consuming [UInt8]) {
    bytes = buffer
    bytes.removeAll(keepingCapacity: true)
  }

  /// A writer that goes on behind what a buffer holds.
  public init(appendingTo buffer: consuming [UInt8]) { bytes = buffer }

  /// Gives up what was written, without a copy.
  public consuming func takeBytes() -> [UInt8] { bytes }

  /// What has been written, as a text.
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Forgets what was written and keeps the memory.
  public mutating func reset() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  /// Opens an object.
  public mutating func beginObject() {
    separate()
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
  }

  /// Closes the object that was opened last.
  public mutating func endObject() {
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  /// Opens an array.
  public mutating func beginArray() {
    separate()
    bytes.append(UInt8(ascii: "["))
    needsComma = false
  }

  /// Closes the array that was opened last.
  public mutating func endArray() {
    bytes.append(UInt8(ascii: "]"))
    needsComma = true
  }

  /// A key known at compile time, which needs no escapes.
  public mutating func key(_ name: StaticString) {
    let count = name.utf8CodeUnitCount
    let start = needsComma ? 1 : 0
    unsafe put(start + count + 3) { place in
      unsafe place[0] = UInt8(ascii: ",")
      unsafe place[start] = UInt8(ascii: "\"")
      unsafe (place + start + 1).update(from: name.utf8Start, count: count)
      unsafe place[start + count + 1] = UInt8(ascii: "\"")
      unsafe place[start + count + 2] = UInt8(ascii: ":")
    }
    needsComma = false
  }

  /// A key that came with the data.
  public mutating func key(of name: String) {
    string(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// A text, escaped.
  public mutating func string(_ text: String) {
    let done: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { unsafe quoted($0) }
    if done == nil {
      var native = text
      native.withUTF8 { unsafe quoted($0) }
    }
  }

  /// A whole number.
  public mutating func int(_ number: Int) {
    separate()
    appendDigits(number)
  }

  /// A number; not-a-number and the infinities, which JSON lacks, are null.
  public mutating func double(_ number: Double) {
    guard number.isFinite else { return null() }
    separate()
    bytes.append(contentsOf: Value.text(of: number).utf8)
  }

  /// A number of milliseconds with three digits behind the point, from nanoseconds.
  public mutating func milliseconds(nanoseconds: Int) {
    separate()
    let micros = nanoseconds / 1000
    appendDigits(micros / 1000)
    bytes.append(UInt8(ascii: "."))
    appendPadded(micros % 1000, width: 3)
  }

  /// A truth value.
  public mutating func bool(_ flag: Bool) {
    separate()
    bytes.append(contentsOf: (flag ? "true" : "false").utf8)
  }

  /// Nothing.
  public mutating func null() {
    separate()
    bytes.append(contentsOf: "null".utf8)
  }

  /// Any value, with all that it holds.
  public mutating func value(_ value: Value) {
    switch value {
    case .null: null()
    case .bool(let flag): bool(flag)
    case .int(let number): int(number)
    case .double(let number): double(number)
    case .string(let text): string(text)
    case .list(let values):
      beginArray()
      for element in values { self.value(element) }
      endArray()
    case .map(let fields):
      beginObject()
      for (name, element) in fields {
        key(of: name)
        self.value(element)
      }
      endObject()
    }
  }

  /// Text that is JSON already, as it is.
  public mutating func raw(_ json: some Sequence<UInt8>) {
    separate()
    bytes.append(contentsOf: json)
  }

  /// Bytes outside of any value, such as a line's end.
  public mutating func verbatim(_ byte: UInt8) {
    bytes.append(byte)
    needsComma = false
  }

  private mutating func appendDigits(_ number: Int) {
    let digits = JSONWriter.digits(of: number.magnitude)
    let start = number < 0 ? 1 : 0
    unsafe put(start + digits) { place in
      unsafe place[0] = UInt8(ascii: "-")
      unsafe JSONWriter.write(number.magnitude, digits, at: place + start)
    }
  }

  /// Digits with zeros in front, for clock readings.
  mutating func appendPadded(_ number: Int, width: Int) {
    unsafe put(width) { unsafe JSONWriter.write(number.magnitude, width, at: $0) }
  }

  /// How many decimal digits a number has.
  private static func digits(of number: UInt) -> Int {
    var count = 1
    var rest = number / 10
    while rest > 0 {
      count += 1
      rest /= 10
    }
    return count
  }

  /// Writes the last digits of a number to a place that has room for them.
  static func write(_ number: UInt, _ digits: Int, at place: UnsafeMutablePointer<UInt8>) {
    var rest = number
    for offset in stride(from: digits - 1, through: 0, by: -1) {
      unsafe place[offset] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
  }

  /// Appends so many bytes, which `fill` writes, in one go.
  @inline(__always)
  mutating func put(_ count: Int, _ fill: (UnsafeMutablePointer<UInt8>) -> Void) {
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(32, count)) { room in
      guard let place = room.baseAddress else { return }
      unsafe fill(place)
      unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: place, count: count))
    }
  }

  /// A text in quotes; the common case of a text without anything to escape is found first and goes the short way.
  private mutating func quoted(_ text: UnsafeBufferPointer<UInt8>) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    // Without an early exit, so that it is done many bytes at a time.
    var odd: UInt8 = 0
    for place in 0..<text.count {
      let byte = unsafe text[place]
      odd |= (byte < 0x20 ? 1 : 0) | (byte == 0x22 ? 1 : 0) | (byte == 0x5C ? 1 : 0) | (byte == 0x7F ? 1 : 0)
    }
    if odd != 0 { unsafe appendEscaped(text) } else { unsafe bytes.append(contentsOf: text) }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
    var start = 0
    for place in 0..<text.count {
      let byte = unsafe text[place]
      guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F else { continue }
      unsafe bytes.append(contentsOf: text[start..<place])
      start = place + 1
      bytes.append(UInt8(ascii: "\\"))
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
      case 0x0A: bytes.append(UInt8(ascii: "n"))
      case 0x0D: bytes.append(UInt8(ascii: "r"))
      case 0x09: bytes.append(UInt8(ascii: "t"))
      default: bytes.append(contentsOf: "u00\(Hex.encode([byte]))".utf8)
      }
    }
    unsafe bytes.append(contentsOf: text[start...])
  }
}
