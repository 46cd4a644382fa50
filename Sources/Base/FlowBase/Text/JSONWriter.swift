internal import Glibc

/// Writes JSON into bytes, without Foundation and without an allocation a value.
///
/// The writer puts the commas; the caller balances `begin` and `end` and writes a key before each value of an object.
///
/// It has memory of its own and cannot be copied: an array would be asked with each value whether it is shared.
@safe public struct JSONWriter: ~Copyable {
  /// What has been written, and behind it room for more, so that a value needs one look at the size and no more.
  private var room: UnsafeMutablePointer<UInt8>
  private var size: Int
  private var used = 0
  /// Whether the next key or element needs a comma before it.
  private var needsComma = false

  /// A writer that has written nothing.
  public init() {
    size = 1024
    unsafe room = JSONWriter.memory(1024)
  }

  /// A writer that goes on behind some bytes.
  public init(after bytes: [UInt8]) {
    self.init()
    raw(bytes)
    needsComma = false
  }

  deinit { unsafe free(room) }

  /// What has been written.
  public var bytes: [UInt8] { unsafe Array(written) }

  /// How many bytes have been written.
  public var count: Int { used }

  /// Puts what has been written behind what a buffer holds.
  public func append(to buffer: inout [UInt8]) { unsafe buffer.append(contentsOf: written) }

  /// What has been written, as a text.
  public var text: String { unsafe String(decoding: written, as: UTF8.self) }

  private var written: UnsafeBufferPointer<UInt8> { unsafe UnsafeBufferPointer(start: room, count: used) }

  /// Forgets what was written and keeps the memory.
  public mutating func reset() {
    used = 0
    needsComma = false
  }

  mutating func separate() {
    if needsComma { put(UInt8(ascii: ",")) }
    needsComma = true
  }

  /// Opens an object.
  public mutating func beginObject() { open(UInt8(ascii: "{")) }

  /// Closes the object that was opened last.
  public mutating func endObject() { close(UInt8(ascii: "}")) }

  /// Opens an array.
  public mutating func beginArray() { open(UInt8(ascii: "[")) }

  /// Closes the array that was opened last.
  public mutating func endArray() { close(UInt8(ascii: "]")) }

  private mutating func open(_ bracket: UInt8) {
    separate()
    put(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    put(bracket)
    needsComma = true
  }

  /// A key known at compile time, which needs no escapes.
  public mutating func key(_ name: StaticString) {
    let count = name.utf8CodeUnitCount
    let start = needsComma ? 1 : 0
    unsafe put(start + count + 3) { place in
      unsafe place[0] = UInt8(ascii: ",")
      unsafe place[start] = UInt8(ascii: "\"")
      unsafe JSONWriter.copy(name.utf8Start, count, to: place + start + 1)
      unsafe place[start + count + 1] = UInt8(ascii: "\"")
      unsafe place[start + count + 2] = UInt8(ascii: ":")
    }
    needsComma = false
  }

  /// A key that came with the data.
  public mutating func key(of name: String) {
    string(name)
    put(UInt8(ascii: ":"))
    needsComma = false
  }

  /// A text, escaped.
  public mutating func string(_ text: String) {
    let bytes = text.utf8.span
    unsafe bytes.withUnsafeBufferPointer { unsafe quoted($0) }
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
    append(Value.text(of: number).utf8)
  }

  /// A number of milliseconds with three digits behind the point, from nanoseconds.
  public mutating func milliseconds(nanoseconds: Int) {
    separate()
    let micros = nanoseconds / 1000
    appendDigits(micros / 1000)
    put(UInt8(ascii: "."))
    appendPadded(micros % 1000, width: 3)
  }

  /// A truth value.
  public mutating func bool(_ flag: Bool) { word(flag ? "true" : "false") }

  /// Nothing.
  public mutating func null() { word("null") }

  private mutating func word(_ word: StaticString) {
    separate()
    unsafe put(word.utf8CodeUnitCount) { unsafe JSONWriter.copy(word.utf8Start, word.utf8CodeUnitCount, to: $0) }
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
    let done: Void? = json.withContiguousStorageIfAvailable { bytes in
      guard let from = bytes.baseAddress else { return }
      unsafe put(bytes.count) { unsafe $0.update(from: from, count: bytes.count) }
    }
    if done == nil { append(json) }
  }

  /// Bytes outside of any value, such as a line's end.
  public mutating func verbatim(_ byte: UInt8) {
    put(byte)
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
    var limit: UInt = 10
    while number >= limit {
      count += 1
      // A number of twenty digits: no limit goes beyond it.
      if count == 20 { break }
      limit *= 10
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

  // MARK: The room

  /// Appends so many bytes, which `fill` writes.
  @inline(__always)
  mutating func put(_ count: Int, _ fill: (UnsafeMutablePointer<UInt8>) -> Void) {
    unsafe put(upTo: count) { place in
      unsafe fill(place)
      return count
    }
  }

  /// Appends as many bytes as `fill` says that it has written, at most `most`.
  @inline(__always)
  private mutating func put(upTo most: Int, _ fill: (UnsafeMutablePointer<UInt8>) -> Int) {
    if size - used < most { makeRoom(for: most) }
    unsafe used += fill(room + used)
  }

  private mutating func put(_ byte: UInt8) {
    if used == size { makeRoom(for: 1) }
    unsafe room[used] = byte
    used += 1
  }

  private mutating func append(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { put(byte) }
  }

  /// Memory from `malloc` itself: Swift's own call names an alignment, for which allocators take a longer way.
  ///
  /// Where there is none, that call ends the process as it does everywhere else; `free` takes back what either gave.
  private static func memory(_ count: Int) -> UnsafeMutablePointer<UInt8> {
    unsafe malloc(count)?.assumingMemoryBound(to: UInt8.self) ?? .allocate(capacity: count)
  }

  @inline(never)
  private mutating func makeRoom(for count: Int) {
    let larger = max(2 * size, used + count)
    let place = unsafe JSONWriter.memory(larger)
    unsafe place.update(from: room, count: used)
    unsafe free(room)
    unsafe room = place
    size = larger
  }

  /// Copies bytes; few of them, as most keys and words have, in two overlapping pieces and without a call.
  @inline(__always)
  private static func copy(_ from: UnsafePointer<UInt8>, _ count: Int, to place: UnsafeMutablePointer<UInt8>) {
    let (source, target) = unsafe (UnsafeRawPointer(from), UnsafeMutableRawPointer(place))
    switch count {
    case 4..<8:
      let last = unsafe source.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
      unsafe target.storeBytes(of: source.loadUnaligned(as: UInt32.self), as: UInt32.self)
      unsafe target.storeBytes(of: last, toByteOffset: count - 4, as: UInt32.self)
    case 8...16:
      let last = unsafe source.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
      unsafe target.storeBytes(of: source.loadUnaligned(as: UInt64.self), as: UInt64.self)
      unsafe target.storeBytes(of: last, toByteOffset: count - 8, as: UInt64.self)
    case 0..<4: for index in 0..<count { unsafe place[index] = from[index] }
    default: unsafe place.update(from: from, count: count)
    }
  }

  /// A text in quotes; the common case of a text without anything to escape is found first and goes the short way.
  private mutating func quoted(_ text: UnsafeBufferPointer<UInt8>) {
    let count = text.count
    let start = needsComma ? 1 : 0
    needsComma = true
    // Without an early exit, so that it is done many bytes at a time.
    var odd: UInt8 = 0
    for place in 0..<count {
      let byte = unsafe text[place]
      odd |= (byte < 0x20 ? 1 : 0) | (byte == 0x22 ? 1 : 0) | (byte == 0x5C ? 1 : 0) | (byte == 0x7F ? 1 : 0)
    }
    if odd != 0 { return unsafe escaped(text, behind: start) }
    unsafe put(start + count + 2) { place in
      unsafe place[0] = UInt8(ascii: ",")
      unsafe place[start] = UInt8(ascii: "\"")
      if let from = text.baseAddress { unsafe JSONWriter.copy(from, count, to: place + start + 1) }
      unsafe place[start + count + 1] = UInt8(ascii: "\"")
    }
  }

  @inline(never)
  private mutating func escaped(_ text: UnsafeBufferPointer<UInt8>, behind start: Int) {
    // No byte becomes more than six.
    unsafe put(upTo: start + 6 * text.count + 2) { place in
      unsafe place[0] = UInt8(ascii: ",")
      unsafe place[start] = UInt8(ascii: "\"")
      var end = start + 1
      for index in 0..<text.count {
        let byte = unsafe text[index]
        let short: UInt8? =
          switch byte {
          case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
          case 0x0A: UInt8(ascii: "n")
          case 0x0D: UInt8(ascii: "r")
          case 0x09: UInt8(ascii: "t")
          default: nil
          }
        if let short {
          unsafe place[end] = UInt8(ascii: "\\")
          unsafe place[end + 1] = short
          end += 2
        } else if byte < 0x20 || byte == 0x7F {
          unsafe (place + end).update(from: JSONWriter.unicode, count: 4)
          unsafe place[end + 4] = Hex.digit(byte >> 4)
          unsafe place[end + 5] = Hex.digit(byte & 15)
          end += 6
        } else {
          unsafe place[end] = byte
          end += 1
        }
      }
      unsafe place[end] = UInt8(ascii: "\"")
      return end + 1
    }
  }

  private static let unicode = Array("\\u00".utf8)
}
