public import FlowBase

/// The bytes that an item has at some stage.
public enum Content: Sendable {
  /// A file, temporary or published, or what becomes one as soon as somebody asks for its path.
  case file(HeldFile)
  /// Bytes in memory, small enough for `limits.memory`.
  case bytes([UInt8])
  /// Work that is done when a stage of another kind asks for its bytes.
  case deferred(any DeferredContent)
}

/// Content that is computed when it is asked for, so that neighbouring stages of one kind run as one pass.
public protocol DeferredContent: Sendable {
  /// The kind with which it fuses, such as `picture`.
  var kind: String { get }
  /// Equal for work that gives the same bytes: what it starts from, and what is done to that.
  var identity: String { get }
  /// Does the work and gives the bytes.
  func realise() async throws -> Content
}

/// A file that holds an item's bytes, and goes away with its last user unless it was published.
///
/// Its bytes may still be in memory. Who works on bytes takes them from there; who needs a path gets one, and then they
/// are written to a temporary file.
public final class HeldFile: Sendable {
  /// Bytes that are in no file yet.
  private struct Unwritten: Sendable {
    var bytes: [UInt8]
    /// What says, as long as it is held, that they take room in memory.
    var room: (any AnyObject & Sendable)?
    var write: @Sendable ([UInt8]) throws(Fault) -> HeldFile
  }

  private struct State {
    /// Nil for what is in memory alone.
    var path: String?
    var unwritten: Unwritten?
    var discard: @Sendable (String) -> Void
    var isTemporary: Bool
    /// Whether several items hold it, so that nobody may move it.
    var isShared = false
    /// Whether somebody is moving it.
    var isClaimed = false
  }

  private let state: Guarded<State>

  /// How many bytes it holds.
  public let bytes: Int
  /// Their SHA-256.
  public let sha256: Digest

  /// A file at an absolute path; `discard` removes it when it is temporary and nobody holds it any more.
  public init(
    path: String, bytes: Int, sha256: Digest, isTemporary: Bool, discard: @escaping @Sendable (String) -> Void
  ) {
    state = Guarded(State(path: path, discard: discard, isTemporary: isTemporary))
    self.bytes = bytes
    self.sha256 = sha256
  }

  /// Bytes in memory, for as long as nobody needs a path; `write` puts them into a temporary file.
  public init(
    memory bytes: [UInt8], sha256: Digest, room: (any AnyObject & Sendable)?,
    write: @escaping @Sendable ([UInt8]) throws(Fault) -> HeldFile
  ) {
    let unwritten = Unwritten(bytes: bytes, room: room, write: write)
    state = Guarded(State(path: nil, unwritten: unwritten, discard: { _ in }, isTemporary: true))
    self.bytes = bytes.count
    self.sha256 = sha256
  }

  deinit {
    let last = state.withLock { $0 }
    if last.isTemporary, let path = last.path { last.discard(path) }
  }

  /// Where it is now; bytes in memory are written first, which blocks and may fail.
  public var path: String {
    get throws(Fault) {
      let now = state.withLock { $0 }
      if let path = now.path { return path }
      guard let unwritten = now.unwritten else { throw .internal("held", "a file has neither a path nor bytes") }
      let file = try unwritten.write(unwritten.bytes)
      let path = try file.path
      // Where another thread was faster, its file counts, and this one goes away again.
      return state.withLock { state in
        if let first = state.path { return first }
        state.path = path
        state.discard = file.state.withLock { $0.discard }
        state.unwritten = nil
        file.keep()
        return path
      }
    }
  }

  /// Where it is now; nil where its bytes are in memory alone.
  public var writtenPath: String? { state.withLock { $0.path } }
  /// Its bytes, where they are in memory alone.
  public var memory: [UInt8]? { state.withLock { $0.unwritten?.bytes } }
  /// Whether it is still ours to move; once published or kept, others may only read or copy it.
  public var isTemporary: Bool { state.withLock { $0.isTemporary } }

  /// Lets another item hold the file as well; false while somebody is moving it, and then it cannot be relied on.
  public func share() -> Bool {
    state.withLock {
      if $0.isClaimed { return false }
      $0.isShared = true
      return true
    }
  }

  /// Reserves the file for moving it to its final place; false where it is not ours to move and must be copied.
  public func claimMove() -> Bool {
    state.withLock {
      guard $0.isTemporary, !$0.isShared, !$0.isClaimed, $0.path != nil else { return false }
      $0.isClaimed = true
      return true
    }
  }

  /// Gives a reservation back without having moved the file.
  public func releaseClaim() { state.withLock { $0.isClaimed = false } }

  /// Says that the file is at its final place now and stays.
  public func becamePublished(at path: String) {
    state.withLock {
      $0.path = path
      $0.isTemporary = false
      $0.isClaimed = false
    }
  }

  /// Gives the file away to whoever takes it up by its path, who then removes it; false where it is not ours alone, and
  /// then it stays where it is.
  public func giveAway() -> Bool {
    state.withLock {
      guard $0.path != nil else { return false }
      let isOurs = $0.isTemporary && !$0.isShared && !$0.isClaimed
      // Nobody may come to share it any more: it goes when the other wants it gone.
      if isOurs { $0.isClaimed = true }
      $0.isTemporary = false
      return isOurs
    }
  }

  /// Says that the file is to stay where it is, for a later part of the run or a later run.
  public func keep() { state.withLock { $0.isTemporary = false } }
}

/// A file below `output.dir`, safe at the chosen durability.
public struct OutputFact: Sendable, Hashable {
  /// Its path below `output.dir`.
  public var path: String
  /// Its length.
  public var bytes: Int
  /// Its SHA-256 in hex.
  public var sha256: String
  /// Its media type, where known.
  public var media: String?
  /// The picture's width, where known.
  public var width: Int?
  /// The picture's height, where known.
  public var height: Int?

  /// A published file.
  public init(path: String, bytes: Int, sha256: String, media: String? = nil, width: Int? = nil, height: Int? = nil) {
    self.path = path
    self.bytes = bytes
    self.sha256 = sha256
    self.media = media
    self.width = width
    self.height = height
  }
}
