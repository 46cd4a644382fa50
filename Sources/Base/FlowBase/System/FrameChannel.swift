internal import CPosix
internal import Glibc

/// Sends and takes whole messages over a socket: eight bytes of length, the lowest first, and then the message.
///
/// One thread at a time uses it.
public struct FrameChannel: Sendable {
  /// Why a message did not go or come.
  public enum Failure: Error, Sendable, Hashable {
    /// The other end is gone.
    case closed
    /// It took longer than it may.
    case late
    /// What came is no message.
    case garbled
  }

  private let socket: Descriptor
  /// Longer messages are garbage.
  private static let longest = 1 << 34

  /// A channel over a socket.
  public init(_ socket: Descriptor) { self.socket = socket }

  /// Sends a message that stands in several pieces.
  public func send(_ pieces: [[UInt8]], until deadline: Instant? = nil) throws(Failure) {
    let count = pieces.reduce(0) { $0 + $1.count }
    try write((0..<8).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }, deadline)
    for piece in pieces { try write(piece, deadline) }
  }

  /// Takes the next message.
  public func receive(until deadline: Instant? = nil) throws(Failure) -> [UInt8] {
    var head = [UInt8](repeating: 0, count: 8)
    try read(into: &head, deadline)
    var count = 0
    for byte in head.reversed() { count = count << 8 | Int(byte) }
    guard (0...FrameChannel.longest).contains(count) else { throw .garbled }
    var message = [UInt8](repeating: 0, count: count)
    try read(into: &message, deadline)
    return message
  }

  private func write(_ bytes: [UInt8], _ deadline: Instant?) throws(Failure) {
    let failure: Failure? = unsafe bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count {
        do throws(Failure) { try wait(for: Int16(POLLOUT), deadline) } catch { return error }
        let count = unsafe Glibc.send(
          socket.number, buffer.baseAddress?.advanced(by: done), buffer.count - done,
          Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        if count >= 0 { done += count } else if errno != EINTR && errno != EAGAIN { return .closed }
      }
      return nil
    }
    if let failure { throw failure }
  }

  private func read(into bytes: inout [UInt8], _ deadline: Instant?) throws(Failure) {
    let failure: Failure? = unsafe bytes.withUnsafeMutableBytes { buffer in
      var done = 0
      while done < buffer.count {
        do throws(Failure) { try wait(for: Int16(POLLIN), deadline) } catch { return error }
        let count = unsafe recv(
          socket.number, buffer.baseAddress?.advanced(by: done), buffer.count - done, Int32(MSG_DONTWAIT))
        if count > 0 { done += count } else if count == 0 || errno != EINTR && errno != EAGAIN { return .closed }
      }
      return nil
    }
    if let failure { throw failure }
  }

  /// Waits until the socket is ready, or the other end is gone, which the next call shows.
  private func wait(for event: Int16, _ deadline: Instant?) throws(Failure) {
    while true {
      var time: Int32 = -1
      if let deadline {
        let left = (deadline - SystemTime().now()).nanoseconds
        if left <= 0 { throw .late }
        time = Int32(clamping: left / 1_000_000 + 1)
      }
      var entry = pollfd(fd: socket.number, events: event, revents: 0)
      let ready = unsafe poll(&entry, 1, time)
      if ready > 0 { return }
      if ready < 0 && errno != EINTR { throw .closed }
    }
  }
}
