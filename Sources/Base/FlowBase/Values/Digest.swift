internal import CCrypto
internal import Glibc

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
  private let context: OpaquePointer?
  private let algorithm: DigestAlgorithm
  private var isBegun = false

  /// A stream that has seen no bytes yet.
  public init(_ algorithm: DigestAlgorithm = .sha256) {
    self.algorithm = algorithm
    unsafe context = EVP_MD_CTX_new()
  }

  deinit { unsafe EVP_MD_CTX_free(context) }

  /// Takes the next bytes.
  public func update(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 0 else { return }
    begin()
    _ = unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
  }

  /// Takes the next bytes.
  public func update(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe update($0) } }

  /// The digest of all bytes so far; the stream starts anew.
  public func finish() -> Digest {
    begin()
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: algorithm.byteCount) { buffer, count in
      var length: UInt32 = 0
      _ = unsafe EVP_DigestFinal_ex(context, buffer.baseAddress, &length)
      count = algorithm.byteCount
    }
    isBegun = false
    return Digest(verified: algorithm, bytes)
  }

  private func begin() {
    if isBegun { return }
    isBegun = true
    _ = unsafe EVP_DigestInit_ex(context, DigestStream.function(algorithm), nil)
  }

  /// The digest of some bytes that are all there.
  static func once(_ algorithm: DigestAlgorithm, _ bytes: UnsafeRawBufferPointer) -> Digest {
    let context = unsafe contextOfThread()
    let digest = unsafe [UInt8](unsafeUninitializedCapacity: algorithm.byteCount) { buffer, count in
      var length: UInt32 = 0
      _ = unsafe EVP_DigestInit_ex(context, function(algorithm), nil)
      _ = unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
      _ = unsafe EVP_DigestFinal_ex(context, buffer.baseAddress, &length)
      count = algorithm.byteCount
    }
    return Digest(verified: algorithm, digest)
  }

  /// The context of this thread for digests of what is all there: to make one costs more than a short text's digest.
  private static func contextOfThread() -> OpaquePointer? {
    if let known = unsafe pthread_getspecific(contextKey) { return OpaquePointer(known) }
    let context = unsafe EVP_MD_CTX_new()
    unsafe pthread_setspecific(contextKey, UnsafeMutableRawPointer(context))
    return unsafe context
  }

  private static let contextKey: pthread_key_t = {
    var key = pthread_key_t()
    unsafe pthread_key_create(&key) { context in unsafe EVP_MD_CTX_free(OpaquePointer(context)) }
    return key
  }()

  // Fetched once: what EVP_sha256 gives is looked up anew each time that it is used.
  nonisolated(unsafe) private static let sha256 = unsafe EVP_MD_fetch(nil, "SHA256", nil)
  nonisolated(unsafe) private static let sha512 = unsafe EVP_MD_fetch(nil, "SHA512", nil)

  private static func function(_ algorithm: DigestAlgorithm) -> OpaquePointer? {
    switch algorithm {
    case .sha256: unsafe sha256
    case .sha512: unsafe sha512
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
