internal import CCrypto
internal import CLanes

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

  // MARK: Side by side

  /// How many streams are worth going on with at once; 0 where one after the other is as fast.
  public static let mostAtOnce = Int(imgflow_lanes_most(form))
  static let bestForm = imgflow_lanes_best()
  /// The form in which the processor goes on with several.
  static let form = imgflow_lanes_are_needless() != 0 ? Int32(IMGFLOW_LANES_NONE) : imgflow_lanes_best()

  /// From so many streams on it is less work to go on with them at once.
  static let fewestAtOnce = 3

  /// Takes the next bytes of several SHA-256 streams, side by side as far as the processor can.
  public static func update(_ streams: [DigestStream], _ bytes: [UnsafeRawBufferPointer]) {
    unsafe update(streams, bytes, form: form)
  }

  static func update(_ streams: [DigestStream], _ bytes: [UnsafeRawBufferPointer], form: Int32) {
    let most = Int(imgflow_lanes_most(form))
    var rest = unsafe bytes
    for place in streams.indices { unsafe rest[place] = streams[place].completeBlock(rest[place]) }
    while true {
      var lanes = streams.indices.filter { unsafe rest[$0].count >= blockSize }
      if lanes.count < fewestAtOnce || most == 0 { break }
      // The longest first: what is left in the end is done one by one.
      lanes.sort { unsafe rest[$0].count > rest[$1].count }
      lanes = Array(lanes.prefix(most))
      let blocks = lanes.map { unsafe rest[$0].count / blockSize }.min() ?? 0
      unsafe advance(lanes.map { streams[$0] }, lanes.map { unsafe rest[$0] }, blocks: blocks, form)
      for place in lanes { unsafe rest[place] = UnsafeRawBufferPointer(rebasing: rest[place][(blocks * blockSize)...]) }
    }
    for place in streams.indices { unsafe streams[place].update(rest[place]) }
  }

  /// How many bytes SHA-256 takes at once.
  static let blockSize = 64

  /// Takes what is missing of a block that has been begun; the bytes behind that.
  private func completeBlock(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    begin()
    let rest = Int(unsafe imgflow_digest_rest(&state))
    let count = rest == 0 ? 0 : min(bytes.count, DigestStream.blockSize - rest)
    if count > 0 { unsafe imgflow_digest_update(&state, bytes.baseAddress, count) }
    return unsafe UnsafeRawBufferPointer(rebasing: bytes[count...])
  }

  /// Takes so many blocks of each of some streams in which no bytes wait.
  private static func advance(_ streams: [DigestStream], _ bytes: [UnsafeRawBufferPointer], blocks: Int, _ form: Int32)
  {
    unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: streams.count * 8) { words in
      unsafe withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<UInt32>?.self, capacity: streams.count) { states in
        unsafe withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: streams.count) { messages in
          for (lane, stream) in streams.enumerated() {
            guard let own = unsafe words.baseAddress?.advanced(by: lane * 8) else { return }
            unsafe imgflow_digest_words(&stream.state, own)
            unsafe states.initializeElement(at: lane, to: own)
            unsafe messages.initializeElement(
              at: lane, to: bytes[lane].baseAddress?.assumingMemoryBound(to: UInt8.self))
          }
          unsafe imgflow_lanes_sha256(form, states.baseAddress, messages.baseAddress, Int32(streams.count), blocks)
          for (lane, stream) in streams.enumerated() {
            unsafe imgflow_digest_advance(&stream.state, words.baseAddress?.advanced(by: lane * 8), blocks)
          }
        }
      }
    }
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
