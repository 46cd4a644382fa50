public import FlowBase

/// Unpacks a stream piece by piece, and knows whether its end has come.
public protocol Unpacker: AnyObject {
  /// Whether the stream is complete, with nothing behind it.
  var isAtEnd: Bool { get }
  /// Takes the next packed bytes and hands out what they unpack to; `body.truncated` where they are no such stream.
  func update(
    _ input: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) throws(Fault) -> Void
  ) throws(Fault)
}

/// The ways in which HTTP packs a body.
public enum ContentCoding: String, Sendable, Hashable, CaseIterable {
  /// Gzip (RFC 1952).
  case gzip
  /// Zlib (RFC 1950), or from some servers nothing around it.
  case deflate
  /// Brotli (RFC 7932).
  case br
  /// Zstandard (RFC 8878).
  case zstd

  /// The coding that a word of a `Content-Encoding` names.
  public init?(word: String) {
    self.init(rawValue: word == "x-gzip" ? "gzip" : word)
  }

  /// What unpacks it, at its beginning.
  public func makeUnpacker() throws(Fault) -> any Unpacker {
    switch self {
    case .gzip: Inflater(.gzip)
    case .deflate: Inflater(.deflate)
    case .br: try BrotliUnpacker()
    case .zstd: try ZstdUnpacker()
    }
  }
}
