/// What takes the bytes of a transfer, in order: a partial file, a buffer, a digest.
///
/// One thread at a time writes to it.
public protocol ByteSink: AnyObject {
  /// Takes the next bytes; throwing ends the transfer with that fault.
  func write(_ bytes: UnsafeRawBufferPointer) throws(Fault)
}

extension ByteSink {
  /// Takes the next bytes from an array.
  public func write(contentsOf bytes: [UInt8]) throws(Fault) {
    let outcome = unsafe bytes.withUnsafeBytes { buffer -> Result<Void, Fault> in
      do throws(Fault) {
        return .success(try unsafe write(buffer))
      } catch {
        return .failure(error)
      }
    }
    try outcome.get()
  }
}
