internal import FlowBase

/// What one try has learnt of a body, so that the next can go on where it ended, and cannot splice two versions.
public final class ResumeRecord: Sendable {
  private struct State {
    var validator: String?
    var total: Int?
    var prefix: [UInt8] = []
  }

  private let state = Guarded(State())

  /// Nothing learnt yet.
  public init() {}

  /// What says that the body is still the same: a strong ETag, else a date; nil where a next try must start anew.
  public var validator: String? { state.withLock { $0.validator } }

  /// The body's first bytes.
  var prefix: [UInt8] { state.withLock { $0.prefix } }

  func note(_ answer: Answer) {
    let isPlain = answer.contentEncoding == nil && answer.acceptRanges != "none"
    let etag = answer.etag.flatMap { $0.hasPrefix("\"") ? $0 : nil }
    state.withLock { state in
      state.validator = isPlain ? etag ?? answer.lastModified : nil
      state.total = answer.contentLength
      state.prefix = []
    }
  }

  func note(prefix: [UInt8]) { state.withLock { $0.prefix = prefix } }

  /// Whether a 206 is exactly what is missing behind so many bytes of the same body.
  func fits(_ answer: Answer, after offset: Int) -> Bool {
    guard let range = answer.contentRange, range.start == offset, range.end == range.total - 1 else { return false }
    guard answer.contentEncoding == nil else { return false }
    return state.withLock { state in
      if let total = state.total, total != range.total { return false }
      guard let validator = state.validator else { return false }
      return !validator.hasPrefix("\"") || answer.etag == nil || answer.etag == validator
    }
  }
}

/// A Content-Range that names all three of its numbers.
struct ContentRange: Sendable, Hashable {
  var start: Int
  var end: Int
  var total: Int

  /// Reads `bytes 100-199/200`; nil for anything else, an unknown total included.
  init?(parsing text: String) {
    guard text.lowercased().hasPrefix("bytes ") else { return nil }
    let numbers = text.dropFirst(6).split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "/" }.map { Int($0) }
    guard numbers.count == 3, let start = numbers[0], let end = numbers[1], let total = numbers[2],
      0 <= start, start <= end, end < total
    else { return nil }
    (self.start, self.end, self.total) = (start, end, total)
  }
}
