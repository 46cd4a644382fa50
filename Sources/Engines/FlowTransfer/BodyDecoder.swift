internal import FlowBase
internal import FlowRecords

/// Undoes the codings of a body, the one that was applied last first.
///
/// libcurl could, but it does not look whether the end of a stream has come.
final class BodyDecoder {
  private let unpackers: [any Unpacker]
  private var hasBytes = false

  /// A decoder for a `Content-Encoding`; `encoding.unsupported` for a coding that is not known here.
  init(codings: String, host: String) throws(Fault) {
    let words = codings.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
      .filter { !$0.isEmpty && $0 != "identity" }
    var unpackers: [any Unpacker] = []
    for word in words.reversed() {
      guard let coding = ContentCoding(word: word), unpackers.count < BodyDecoder.mostCodings else {
        throw Fault(
          "encoding.unsupported", .permanent, "the body comes in the coding `\(codings.prefix(40))`", host: host)
      }
      unpackers.append(try coding.makeUnpacker())
    }
    self.unpackers = unpackers
  }

  private static let mostCodings = 4

  /// Whether every stream has come to its end; a body of no bytes has none.
  var isAtEnd: Bool { !hasBytes || unpackers.allSatisfy(\.isAtEnd) }

  /// Takes the next bytes from the network and hands out what they decode to.
  func update(
    _ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) throws(Fault) -> Void
  ) throws(Fault) {
    if bytes.count > 0 { hasBytes = true }
    try unsafe pass(bytes, from: 0, take)
  }

  private func pass(
    _ bytes: UnsafeRawBufferPointer, from place: Int, _ take: (UnsafeRawBufferPointer) throws(Fault) -> Void
  ) throws(Fault) {
    guard place < unpackers.count else { return try unsafe take(bytes) }
    try unsafe unpackers[place].update(bytes) { (inner) throws(Fault) in
      try unsafe pass(inner, from: place + 1, take)
    }
  }
}
