public import FlowBase

extension Payload {
  /// Work on an item begins.
  public struct ItemStart: Sendable, Hashable {
    /// The item's key.
    public var key: String
    /// The part that is done: 0, unless an earlier run has left some.
    public var ratio: Double?
    /// Why there is work for it, in a few words; nil where there is none, or nobody knows.
    public var why: String?

    /// A start.
    public init(key: String, ratio: Double? = 0, why: String? = nil) {
      self.key = key
      self.ratio = ratio
      self.why = why
    }
  }

  /// How far an item's bytes have come.
  public struct ItemProgress: Sendable, Hashable {
    /// Bytes that are there.
    public var bytes: Int
    /// Bytes that there will be; nil where that is unknown.
    public var size: Int?
    /// The part that is there, from 0 to 1; nil where the length is unknown or the body is encoded.
    public var ratio: Double?

    /// A reading.
    public init(bytes: Int, size: Int?, ratio: Double?) {
      self.bytes = bytes
      self.size = size
      self.ratio = ratio
    }
  }

  /// A try failed, and another will be made.
  public struct ItemRetry: Sendable, Hashable {
    /// The number of the try that failed, from 1.
    public var attempt: Int
    /// The time until the next.
    public var delay: Interval
    /// Why it failed.
    public var error: EventError

    /// A retry.
    public init(attempt: Int, delay: Interval, error: EventError) {
      self.attempt = attempt
      self.delay = delay
      self.error = error
    }
  }

  /// An item is done.
  public struct ItemEnd: Sendable, Hashable {
    /// What came of it.
    public var status: ItemStatus
    /// Whether an earlier run had done all of it.
    public var isCached: Bool
    /// Whether its bytes came with those of another item that asked for the same.
    public var isShared: Bool
    /// How many tries it took, over all stages the most of one.
    public var attempts: Int
    /// The part that is done, from 0 to 1.
    public var ratio: Double?
    /// The files that it became.
    public var outputs: [Output]
    /// Why it failed.
    public var error: EventError?
    /// Why it was filtered or cancelled, in a few words.
    public var reason: String?
    /// What its stages took.
    public var stages: [StageTime]
    /// Where redirects led to, fit for logs; nil where none was followed.
    public var finalURL: String?

    /// An end.
    public init(
      status: ItemStatus, isCached: Bool = false, isShared: Bool = false, attempts: Int = 1, ratio: Double? = nil,
      outputs: [Output] = [], error: EventError? = nil, reason: String? = nil, stages: [StageTime] = []
    ) {
      self.status = status
      self.isCached = isCached
      self.isShared = isShared
      self.attempts = attempts
      self.ratio = ratio
      self.outputs = outputs
      self.error = error
      self.reason = reason
      self.stages = stages
    }
  }

  /// What a stage took for an item.
  public struct StageTime: Sendable, Hashable {
    /// The stage's id.
    public var stage: String
    /// The time that it took; over several legs their sum.
    public var elapsed: Interval
    /// Whether an earlier run had done it.
    public var isCached: Bool

    /// A time.
    public init(stage: String, elapsed: Interval, isCached: Bool = false) {
      self.stage = stage
      self.elapsed = elapsed
      self.isCached = isCached
    }
  }

  /// A file below the folder of the results, safe at the chosen durability.
  public struct Output: Sendable, Hashable {
    /// Its path below the folder of the results.
    public var path: String
    /// The leg's place on the axes of the matrix; empty without a matrix.
    public var leg: Fields
    /// The group that it was made for; nil where it was made for none.
    public var group: String?
    /// Its media type, where known.
    public var media: String?
    /// Its length.
    public var bytes: Int
    /// Its SHA-256 in hex.
    public var sha256: String
    /// The picture's width, where known.
    public var width: Int?
    /// The picture's height, where known.
    public var height: Int?

    /// A file.
    public init(
      path: String, leg: Fields = [:], group: String? = nil, media: String? = nil, bytes: Int, sha256: String,
      width: Int? = nil, height: Int? = nil
    ) {
      self.path = path
      self.leg = leg
      self.group = group
      self.media = media
      self.bytes = bytes
      self.sha256 = sha256
      self.width = width
      self.height = height
    }
  }
}
