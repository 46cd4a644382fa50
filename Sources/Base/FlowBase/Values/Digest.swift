internal import CCrypto

/// The hash functions that manifests may name.
public enum DigestAlgorithm: String, Sendable, Hashable, CaseIterable {
  case sha256
  case sha512

  /// The length of a digest in bytes.
  public var byteCount: Int { self == .sha256 ? 32 : 64 }
}

/// The fingerprint of some bytes.
public struct Digest: Sendable, Hashable {
  /// The function that made it.
  public let algorithm: DigestAlgorithm
  /// Its bytes.
  public let bytes: [UInt8]

  /// A digest from its bytes; nil if there are too few or too many for the function.
  public init?(_ algorithm: DigestAlgorithm, bytes: [UInt8]) {
    guard bytes.count == algorithm.byteCount else { return nil }
    self.algorithm = algorithm
    self.bytes = bytes
  }

  /// Reads the digest in hex, or in the form of Subresource Integrity (`sha256-` and base64).
  public init?(_ algorithm: DigestAlgorithm, parsing text: String) {
    let prefix = algorithm.rawValue + "-"
    let bytes = text.hasPrefix(prefix) ? Base64.decode(text.dropFirst(prefix.count)) : Hex.decode(text)
    guard let bytes else { return nil }
    self.init(algorithm, bytes: bytes)
  }

  /// The digest in lower-case hex.
  public var hex: String { Hex.encode(bytes) }
  /// The digest in the form of Subresource Integrity.
  public var integrity: String { algorithm.rawValue + "-" + Base64.encode(bytes) }

  /// The SHA-256 of a text's UTF-8 bytes.
  public static func sha256(of text: String) -> Digest {
    var text = text
    return text.withUTF8 { unsafe DigestStream.once(.sha256, UnsafeRawBufferPointer($0)) }
  }

  /// The SHA-256 of some bytes.
  public static func sha256(of bytes: [UInt8]) -> Digest {
    unsafe bytes.withUnsafeBytes { unsafe DigestStream.once(.sha256, $0) }
  }
}

/// A digest in the making: bytes go in as they come, the digest comes out at the end.
///
/// Not Sendable: one thread at a time feeds it.
@safe public final class DigestStream {
  private let algorithm: DigestAlgorithm
  private var state = imgflow_digest()
  private var isBegun = false

  /// A stream that has seen no bytes yet.
  public init(_ algorithm: DigestAlgorithm = .sha256) { self.algorithm = algorithm }

  /// Takes the next bytes.
  public func update(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 0 else { return }
    begin()
    unsafe imgflow_digest_update(&state, bytes.baseAddress, bytes.count)
  }

  /// Takes the next bytes.
  public func update(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe update($0) } }

  /// The digest of all bytes so far; the stream starts anew.
  public func finish() -> Digest {
    begin()
    isBegun = false
    return DigestStream.finish(&state, algorithm)
  }

  private func begin() {
    if isBegun { return }
    isBegun = true
    unsafe imgflow_digest_begin(&state, algorithm == .sha512 ? 1 : 0)
  }

  /// The digest of some bytes that are all there.
  static func once(_ algorithm: DigestAlgorithm, _ bytes: UnsafeRawBufferPointer) -> Digest {
    var state = imgflow_digest()
    unsafe imgflow_digest_begin(&state, algorithm == .sha512 ? 1 : 0)
    if bytes.count > 0 { unsafe imgflow_digest_update(&state, bytes.baseAddress, bytes.count) }
    return finish(&state, algorithm)
  }

  private static func finish(_ state: inout imgflow_digest, _ algorithm: DigestAlgorithm) -> Digest {
    // An array made of bytes that are there is one call less of what is written for all types than an empty one.
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: algorithm.byteCount) { bytes in
      unsafe imgflow_digest_finish(&state, bytes.baseAddress)
      return Digest(verified: algorithm, unsafe [UInt8](UnsafeBufferPointer(bytes)))
    }
  }
}

extension Digest {
  /// A digest of bytes whose count its maker vouches for.
  fileprivate init(verified algorithm: DigestAlgorithm, _ bytes: [UInt8]) {
    self.algorithm = algorithm
    self.bytes = bytes
  }
}
