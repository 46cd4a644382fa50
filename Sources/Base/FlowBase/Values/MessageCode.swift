/// Codes that prove that a message comes from somebody who knows a key.
public enum MessageCode {
  private static let block = 64

  /// The HMAC-SHA256 of a message (RFC 2104).
  public static func sha256(of message: [UInt8], key: [UInt8]) -> [UInt8] {
    var padded = key.count > block ? Digest.sha256(of: key).bytes : key
    padded += [UInt8](repeating: 0, count: block - padded.count)
    let stream = DigestStream(.sha256)
    stream.update(padded.map { $0 ^ 0x36 })
    stream.update(message)
    let inner = stream.finish().bytes
    stream.update(padded.map { $0 ^ 0x5C })
    stream.update(inner)
    return stream.finish().bytes
  }
}
