/// What takes the bytes of a transfer, in order: a partial file, a buffer, a digest.
///
/// One thread at a time writes to it.
public protocol ByteSink: AnyObject {
  /// Takes the next bytes; throwing ends the transfer with that fault.
  func write(_ bytes: UnsafeRawBufferPointer) throws(Fault)
}
