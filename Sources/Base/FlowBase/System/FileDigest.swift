extension Digest {
  /// The digest of a file's bytes; blocks the calling thread while it reads.
  public init(_ algorithm: DigestAlgorithm, ofFileAt path: String) throws(Fault) {
    do throws(Errno) {
      let file = try FileSystem.open(path, [.read])
      let stream = DigestStream(algorithm)
      var buffer = [UInt8](repeating: 0, count: 256 * 1024)
      while true {
        let count = try file.read(into: &buffer)
        if count == 0 { break }
        unsafe buffer.withUnsafeBytes { bytes in unsafe stream.update(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
      }
      self = stream.finish()
    } catch {
      throw error.fault("read", path)
    }
  }
}
