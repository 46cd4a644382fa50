internal import CPosix

/// Bytes, and their SHA-256 in the making, which waits until those of other files can be done beside it.
///
/// Each block of a message waits for the one before it, so that one message leaves most of a processor idle; its vectors
/// do the blocks of several at once. Where the processor has instructions of its own for SHA-256, nothing waits.
///
/// Not Sendable: one thread at a time feeds it.
public final class GatheredDigest {
  private let message: Message
  private let choice: [DigestLanes]
  /// Where it waits; nil where it does not.
  private var lanes: DigestLanes?
  /// A body that comes in shorter pieces is sooner hashed than others are looked for.
  private static let least = 2 * 1024

  /// A digest that has seen no bytes yet, and takes one of some lanes by the thread that brings them.
  ///
  /// - Parameter keepsBytes: whether the bytes are wanted at the end, and not only their digest.
  public init(_ lanes: [DigestLanes], keepsBytes: Bool = false) {
    choice = DigestStream.mostAtOnce == 0 ? [] : lanes
    message = Message(keepsBytes: keepsBytes)
  }

  deinit { lanes?.drop(message) }

  /// How many bytes are kept, with `keepsBytes`.
  public var count: Int { message.bytes.count }

  /// Makes room for so many bytes, with `keepsBytes`.
  public func reserve(_ count: Int) {
    guard let lanes else { return message.bytes.reserveCapacity(count) }
    lanes.with { message.bytes.reserveCapacity(count) }
  }

  /// Takes the next bytes.
  public func update(_ bytes: UnsafeRawBufferPointer) {
    if let lanes { return unsafe lanes.gather(bytes, message) }
    if bytes.count >= GatheredDigest.least, !choice.isEmpty {
      let lanes = choice[Int(imgflow_thread()) % choice.count]
      if lanes.admit(message) {
        self.lanes = lanes
        return unsafe lanes.gather(bytes, message)
      }
    }
    unsafe message.take(bytes)
  }

  /// Takes the next bytes.
  public func update(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe update($0) } }

  /// The stream, once it has taken all bytes so far; what comes next may go there.
  public func settled() -> DigestStream {
    lanes?.settle(message)
    lanes = nil
    return message.stream
  }

  /// The digest of all bytes so far; it starts anew.
  public func finish() -> Digest { settled().finish() }

  /// The bytes that were kept; from then on it keeps none, and goes on with its digest.
  public func takeBytes() -> [UInt8] {
    _ = settled()
    return message.letGo()
  }

  /// Forgets all bytes so far.
  public func restart() {
    lanes?.drop(message)
    lanes = nil
    message.forget()
    _ = message.stream.finish()
  }
}

/// One message on its way into its digest: its owner's alone, or while it waits that of the lanes, under their lock.
private final class Message {
  let stream = DigestStream(.sha256)
  private var keepsBytes: Bool
  var bytes: [UInt8] = []
  /// How many of the bytes the stream has taken.
  private(set) var taken = 0

  /// With how many bytes one message after the other is brought to go on: more than come at once, so that others have
  /// as many.
  private static let enough = 512 * 1024
  /// The same of bytes that are kept anyhow.
  private static let enoughKept = 2 << 20

  init(keepsBytes: Bool) { self.keepsBytes = keepsBytes }

  /// The whole blocks that the stream has not taken.
  var blocks: Int { (bytes.count - taken) / DigestStream.blockSize }
  /// Whether it has to go on, alone if need be.
  var hasEnough: Bool { bytes.count - taken >= (keepsBytes ? Message.enoughKept : Message.enough) }
  /// Whether it is to go on if others can.
  var hasMuch: Bool { bytes.count - taken >= (keepsBytes ? Message.enoughKept : Message.enough) / 2 }

  /// Takes bytes at once.
  func take(_ more: UnsafeRawBufferPointer) {
    if keepsBytes {
      unsafe bytes.append(contentsOf: more)
      taken = bytes.count
    }
    unsafe stream.update(more)
  }

  /// Takes the first bytes that the stream has not taken.
  func take(_ count: Int) {
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe stream.update(UnsafeRawBufferPointer(rebasing: bytes[taken..<taken + count]))
    }
    leaveBehind(count)
  }

  /// The stream has taken so many more bytes.
  func leaveBehind(_ count: Int) {
    taken += count
    guard !keepsBytes, taken == bytes.count || taken >= Message.enough / 2 else { return }
    bytes.removeFirst(taken)
    taken = 0
  }

  func forget() {
    bytes.removeAll(keepingCapacity: true)
    taken = 0
  }

  /// The bytes; none is kept any more.
  func letGo() -> [UInt8] {
    var own: [UInt8] = []
    swap(&own, &bytes)
    taken = 0
    keepsBytes = false
    return own
  }
}

/// The messages that wait for one another.
public final class DigestLanes: Sendable {
  /// Those that wait.
  private let waiting = Guarded<[Message]>([])
  /// How many may: each has memory of its own.
  private static let most = 32
  /// With how many messages it is worth going on before one has to.
  private static let full = DigestStream.mostAtOnce * 3 / 4

  private init() {}

  /// Lanes for files of so many threads that seldom wait for one another.
  public static func ofThreads(_ count: Int) -> [DigestLanes] { (0..<count).map { _ in DigestLanes() } }

  /// How many messages wait.
  var count: Int { waiting.withLock { $0.count } }

  fileprivate func with(_ body: () -> Void) { waiting.withLock { _ in body() } }

  /// Lets a message wait; false where too many do.
  fileprivate func admit(_ message: Message) -> Bool {
    waiting.withLock { waiting in
      guard waiting.count < DigestLanes.most else { return false }
      waiting.append(message)
      return true
    }
  }

  /// Takes the next bytes of a message that waits.
  fileprivate func gather(_ bytes: UnsafeRawBufferPointer, _ message: Message) {
    waiting.withLock { waiting in
      unsafe message.bytes.append(contentsOf: bytes)
      if message.hasMuch { DigestLanes.advance(message, among: waiting, atLeast: DigestLanes.full) }
      while message.hasEnough { DigestLanes.advance(message, among: waiting) }
    }
  }

  /// Lets a message take all of its bytes, and wait no more.
  fileprivate func settle(_ message: Message) {
    waiting.withLock { waiting in
      while message.blocks > 0 { DigestLanes.advance(message, among: waiting) }
      message.take(message.rest)
      DigestLanes.remove(message, from: &waiting)
    }
  }

  /// Lets a message wait no more, whatever it has not taken.
  fileprivate func drop(_ message: Message) { waiting.withLock { DigestLanes.remove(message, from: &$0) } }

  private static func remove(_ message: Message, from waiting: inout [Message]) {
    guard let place = waiting.firstIndex(where: { $0 === message }) else { return }
    waiting.swapAt(place, waiting.count - 1)
    waiting.removeLast()
  }

  /// Takes blocks of a message, and as many of those others of which most wait; only with some number of them, or alone.
  private static func advance(_ message: Message, among waiting: [Message], atLeast least: Int = 0) {
    // Of which little waits would cut what the others do into small parts.
    let enough = max(1, message.blocks / 2)
    var beside = waiting.filter { $0 !== message && $0.blocks >= enough }
    let most = DigestStream.mostAtOnce - 1
    if beside.count > most {
      beside.sort { $0.blocks > $1.blocks }
      beside.removeLast(beside.count - most)
    }
    if beside.count + 1 < least { return }
    guard beside.count + 1 >= DigestStream.fewestAtOnce else {
      return message.take(message.blocks * DigestStream.blockSize)
    }
    beside.append(message)
    let count = (beside.map(\.blocks).min() ?? 0) * DigestStream.blockSize
    unsafe update(beside[...], count, [])
    for message in beside { message.leaveBehind(count) }
  }

  private static func update(_ messages: ArraySlice<Message>, _ count: Int, _ before: [UnsafeRawBufferPointer]) {
    guard unsafe before.count < messages.count else {
      return unsafe DigestStream.update(messages.map(\.stream), before)
    }
    let message = unsafe messages[messages.startIndex + before.count]
    unsafe message.bytes.withUnsafeBytes { bytes in
      let head = unsafe UnsafeRawBufferPointer(rebasing: bytes[message.taken..<message.taken + count])
      unsafe update(messages, count, before + [head])
    }
  }
}

extension Message {
  /// How many bytes the stream has not taken.
  fileprivate var rest: Int { bytes.count - taken }
}
