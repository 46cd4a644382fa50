internal import FlowBase
internal import FlowEvents

/// What a report tells of a run, gathered from its events; its size does not grow with the items.
struct ReportBook {
  /// An item that failed.
  struct Failure {
    var item: String
    var url: String?
    var code: String
    var message: String
  }

  /// A picture that an item became.
  struct Picture: Sendable, Hashable {
    var item: String
    var path: String
    var media: String
    var bytes: Int
    var width: Int?
    var height: Int?
  }

  private(set) var start: Payload.StreamStart?
  private(set) var run = ""
  private(set) var started = WallTime(microseconds: 0)
  private(set) var elapsed = Interval.zero
  private(set) var end: Payload.RunEnd?
  private(set) var stages: [Payload.StageEnd] = []
  private(set) var groups = FailureGroups()
  private(set) var failures: [Failure] = []
  private(set) var items = Timeline()
  private(set) var bytes = Timeline()
  private(set) var pictures = EvenSample<Picture>(limit: pictureLimit)
  private(set) var files = 0
  private(set) var fileBytes = 0
  private(set) var diagnostics: [Diagnostic] = []
  private var bytesIn = 0
  /// When the bytes were read last.
  private var readAt = Interval.zero

  static let failureLimit = 500
  private static let pictureLimit = 96

  mutating func handle(_ event: Event) {
    elapsed = event.elapsed
    groups.handle(event)
    switch event.payload {
    case .streamStart(let start):
      self.start = start
      run = event.run
      started = event.time
    case .runProgress(let progress): received(progress.bytesIn)
    case .stageEnd(let end): stages.append(end)
    case .itemEnd(let end):
      items.add(1, at: event.elapsed)
      guard let subject = event.subject else { return }
      if let error = end.error, end.status == .failed, failures.count < ReportBook.failureLimit {
        failures.append(
          Failure(item: subject.label, url: subject.url, code: error.fault.code, message: error.fault.message))
      }
      see(end.outputs, of: subject.label)
    case .barrierEnd(let end): see(end.outputs, of: end.barrier.group ?? end.barrier.stage)
    case .output(let output):
      files += 1
      fileBytes += output.bytes
    case .diagnostic(let found): if diagnostics.count < 100 { diagnostics.append(found.diagnostic) }
    case .runEnd(let end):
      received(end.bytesIn)
      self.end = end
    default: break
    }
  }

  private mutating func received(_ total: Int) {
    bytes.add(Double(max(0, total - bytesIn)), from: readAt, to: max(readAt, elapsed))
    bytesIn = max(bytesIn, total)
    readAt = elapsed
  }

  /// Of an item's pictures the smallest is shown.
  private mutating func see(_ outputs: [Payload.Output], of item: String) {
    let found = outputs.filter { ReportBook.isPicture($0.media) }
    guard let least = found.min(by: { $0.bytes < $1.bytes }), let media = least.media else { return }
    pictures.offer(
      Picture(
        item: item, path: least.path, media: media, bytes: least.bytes, width: least.width, height: least.height))
  }

  private static func isPicture(_ media: String?) -> Bool {
    ["image/png", "image/jpeg", "image/webp", "image/gif", "image/avif"].contains(media ?? "")
  }
}
