public import FlowBase

/// Room in memory for bytes that come; what was taken is given back with the object.
public protocol MemoryRoom: AnyObject, Sendable {
  /// Takes room for so many more bytes; false where there is none.
  func grow(by bytes: Int) -> Bool
}

/// Bytes that stay in memory as long as there is room for them, and lie in a temporary file from then on.
///
/// One thread at a time uses it, which is also why it may be sent from one to another.
public final class MemoryFirstFile: ByteSink, @unchecked Sendable {
  /// What has become of the bytes.
  public enum Finished: Sendable {
    /// They are all here, and hold their room.
    case memory([UInt8], sha256: Digest, room: any MemoryRoom)
    /// They were too many.
    case file(FinishedFile)
  }

  private let file: PartialFile
  private let held: GatheredDigest
  /// Nil once the bytes lie in the file.
  private var room: (any MemoryRoom)?
  /// For how many bytes there is room.
  private var reserved = 0
  /// What a later run needs to go on with the bytes, should they have to be left to it.
  private var note: String?
  private static let firstRoom = 32 * 1024

  init(_ file: PartialFile, room: any MemoryRoom) {
    self.file = file
    self.room = room
    held = GatheredDigest(file.folder.lanes, keepsBytes: true)
  }

  /// How many bytes there are.
  public var count: Int { room == nil ? file.count : held.count }

  /// Takes the next bytes.
  public func write(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
    if fits(bytes.count) {
      unsafe held.update(bytes)
    } else {
      try spill()
      unsafe try file.write(bytes)
    }
  }

  /// Forgets what was written, for another try from the start.
  public func restart() throws(Fault) {
    guard room != nil else { return try file.restart() }
    held.restart()
    note = nil
  }

  /// Ends the bytes: nothing more may be written.
  public func finish() throws(Fault) -> Finished {
    guard let room else { return .file(try file.finish()) }
    let digest = held.finish()
    return .memory(held.takeBytes(), sha256: digest, room: room)
  }

  /// Lets go of the bytes.
  public func abandon() {
    if room == nil { return file.abandon() }
    held.restart()
    room = nil
  }

  /// Says what a later run needs to go on with the bytes, should this run not come to its end.
  ///
  /// Bytes in memory outlast no crash: the note is written with the file, where there comes to be one.
  public func remember(_ note: String) throws(Fault) {
    if room == nil { try file.remember(note) } else { self.note = note }
  }

  /// Leaves the bytes to a later run, where they were noted.
  public func leave() {
    guard room != nil else { return file.leave() }
    guard note != nil, held.count > 0 else { return abandon() }
    do throws(Fault) {
      try spill()
      file.leave()
    } catch { file.abandon() }
  }

  /// Whether so many more bytes may stay in memory.
  private func fits(_ more: Int) -> Bool {
    guard let room else { return false }
    let wanted = held.count + more
    if wanted <= reserved { return true }
    // Twice as much each time, so that growing costs little; where that is too much, what is needed.
    let ample = max(wanted, reserved * 2, MemoryFirstFile.firstRoom)
    for size in [ample, wanted] where room.grow(by: size - reserved) {
      reserved = size
      held.reserve(size)
      return true
    }
    return false
  }

  /// Moves what is held into the file.
  private func spill() throws(Fault) {
    guard room != nil else { return }
    // Its digest goes on from here.
    let bytes = held.takeBytes()
    room = nil
    try file.begin(with: bytes, held)
    if let note { try file.remember(note) }
    note = nil
  }
}
