internal import FlowBase

/// What one try has learnt of a body, so that the next can go on where it ended, and cannot splice two versions.
public final class ResumeRecord: Sendable {
  private struct State {
    var validator: String?
    /// The strong ETag of the body.
    var etag: String?
    /// Whether the server has shown that it takes no ETags in If-Range.
    var refusesTags = false
    var total: Int?
    var prefix: [UInt8] = []
    var isNoted = false
  }

  private let state = Guarded(State())

  private let keep: (@Sendable (String) -> Void)?

  /// Bodies shorter than this are fetched again by a later run rather than gone on with.
  public static let worthKeeping = 1 << 20

  /// Nothing learnt yet; `keep` gets what a later run needs, of a body that is long enough and vouched for.
  public init(keep: (@Sendable (String) -> Void)? = nil) { self.keep = keep }

  /// What an earlier run has learnt; nil where the text is none of `keep`'s.
  public init?(_ text: String, keep: (@Sendable (String) -> Void)? = nil) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 3, let total = Int(lines[0]), let prefix = Hex.decode(String(lines[1])), !lines[2].isEmpty
    else {
      return nil
    }
    self.keep = keep
    let validator = String(lines[2])
    state.withLock { state in
      state = State(validator: validator, total: total, prefix: prefix, isNoted: true)
      state.etag = validator.hasPrefix("\"") ? validator : nil
    }
  }

  /// What says that the body is still the same: a strong ETag, else a date; nil where a next try must start anew.
  public var validator: String? { state.withLock { $0.validator } }

  /// The body's first bytes.
  var prefix: [UInt8] { state.withLock { $0.prefix } }

  /// Takes note of an answer that brings the whole body; `isInsteadOfRest` where its rest alone was asked for.
  func note(_ answer: Answer, isInsteadOfRest: Bool = false) {
    let isPlain = answer.contentEncoding == nil && answer.acceptRanges != "none"
    let etag = answer.etag.flatMap { $0.hasPrefix("\"") ? $0 : nil }
    let date = answer.hasStrongDate ? answer.lastModified : nil
    state.withLock { state in
      // The same body under the same tag, and yet not its rest: what is understood there is a date, if anything.
      if isInsteadOfRest, let etag, etag == state.validator { state.refusesTags = true }
      state.etag = etag
      state.validator = isPlain ? (state.refusesTags ? date ?? etag : etag ?? date) : nil
      state.total = answer.contentLength
      state.prefix = []
      state.isNoted = false
    }
  }

  /// Takes note of the body's first bytes; `isWhole` once there are as many as are wanted.
  func note(prefix: [UInt8], isWhole: Bool) {
    let text = state.withLock { state -> String? in
      state.prefix = prefix
      guard isWhole, !state.isNoted, let validator = state.validator, let total = state.total,
        total >= ResumeRecord.worthKeeping
      else { return nil }
      state.isNoted = true
      return "\(total)\n\(Hex.encode(prefix))\n\(validator)"
    }
    if let text { keep?(text) }
  }

  /// Whether a 206 is exactly what is missing behind so many bytes of the same body.
  func fits(_ answer: Answer, after offset: Int) -> Bool {
    guard let range = answer.contentRange, range.start == offset, range.end == range.total - 1 else { return false }
    guard answer.contentEncoding == nil else { return false }
    return state.withLock { state in
      if let total = state.total, total != range.total { return false }
      guard let validator = state.validator else { return false }
      if let etag = state.etag, let now = answer.etag, now != etag { return false }
      return validator.hasPrefix("\"") || answer.lastModified == nil || answer.lastModified == validator
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
