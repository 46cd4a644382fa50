extension String {
  /// The text that bytes are; nil where they are no UTF-8.
  ///
  /// Most text of the machine's own is ASCII, which a look at the highest bits tells; the general way costs several
  /// times as much.
  public init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
    var seen: UInt8 = 0
    for place in bytes.indices { seen |= unsafe bytes[place] }
    if seen < 0x80 {
      self = unsafe String(decoding: bytes, as: UTF8.self)
    } else if let text = unsafe String(validating: bytes, as: UTF8.self) {
      self = text
    } else {
      return nil
    }
  }

  /// The text that bytes are; nil where they are no UTF-8.
  public init?(utf8 bytes: [UInt8]) {
    guard let text = unsafe bytes.withUnsafeBufferPointer({ unsafe String(utf8: $0) }) else { return nil }
    self = text
  }
}
