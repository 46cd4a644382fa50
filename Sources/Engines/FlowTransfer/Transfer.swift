internal import FlowBase

/// A request on its way; after it was handed to a loop, only that loop's thread touches it.
final class Transfer: @unchecked Sendable {
  typealias Outcome = Result<TransferResult, Fault>

  let request: TransferRequest
  let sink: any ByteSink & Sendable
  let progress: @Sendable (Int, Int?) -> Void
  let environment: ProxyEnvironment
  /// The cookies of the first host.
  let jar: CookieJar?
  private var done: (@Sendable (Outcome) -> Void)?

  var isCancelled = false
  /// Its place among the loop's active transfers.
  var place: Int?
  var easy: EasyHandle?
  var hop: Hop
  var start = Instant(nanoseconds: 0)
  var hopStart = Instant(nanoseconds: 0)
  /// When the last byte of any kind came.
  var lastByte = Instant(nanoseconds: 0)
  /// Whether the head of the current hop's answer has come, interim answers left out.
  var hasAnswer = false
  /// Whether the current hop waits for the addresses of its host's name, or for a file descriptor.
  var isWaiting = false
  /// What the present hop's host may send a second, with others that ask it.
  var share: BandwidthShare?
  /// The bandwidths that hold for it.
  var bandwidth: BandwidthShares?
  /// Whether it waits for bandwidth, or for room on a connection that is shared; that time counts towards no limit.
  var isHeld = false
  /// The least that our own limits have left it in a second, since the window of its speed began; nil without any.
  var leastShare: Int?
  /// Where it is among those that share connections, and on which of them.
  var origin: StreamSeats.Origin?
  var seat: StreamRoom.Seat?
  /// Whether the bandwidths count it.
  var isCounted = false
  /// The bytes that the sink has got.
  var bytes = 0
  /// The bytes that the sink has got from the current hop.
  var hopBytes = 0
  /// The body's first bytes.
  var prefix: [UInt8] = []
  var wireBytes = 0
  var speedWindow = (start: Instant(nanoseconds: 0), bytes: 0)
  private var lastProgress = Instant(nanoseconds: 0)

  init(
    _ request: TransferRequest, _ sink: any ByteSink & Sendable, _ environment: ProxyEnvironment, jar: CookieJar?,
    progress: @escaping @Sendable (Int, Int?) -> Void
  ) throws(Fault) {
    self.request = request
    self.sink = sink
    self.progress = progress
    self.environment = environment
    self.jar = jar
    hop = try Hop(first: URLParts(parsing: request.url), method: request.method)
  }

  /// Says who waits for the end; before the transfer is handed to a loop.
  func await(_ done: @escaping @Sendable (Outcome) -> Void) { self.done = done }

  func finish(_ outcome: Outcome) {
    done?(outcome)
    done = nil
  }

  /// A byte of the answer has come.
  func heard(at now: Instant) { lastByte = now }

  /// Goes on behind the bytes of an earlier try.
  func resume(at offset: Int, prefix: [UInt8]) {
    bytes = offset
    speedWindow.bytes = offset
    self.prefix = prefix
  }

  func delivered(_ count: Int, of size: Int?, at now: Instant) {
    bytes += count
    hopBytes += count
    guard now - lastProgress >= EasyHandle.progressInterval else { return }
    lastProgress = now
    progress(bytes, size)
  }
}
