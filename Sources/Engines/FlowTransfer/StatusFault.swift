internal import CCurl
internal import FlowBase

/// What a status that is no success means.
enum StatusFault {
  /// The longest time that a host can ask to be left alone.
  static let longestRetryAfter = Interval.seconds(600)

  static func make(_ status: Int, retryAfter: String?, host: String, now: WallTime) -> Fault {
    let kind: FaultClass =
      switch status {
      case 429, 503: .quota
      case 408, 425, 500...599: .transient
      case 401, 403, 407: .auth
      default: .permanent
      }
    let words = reasons[status].map { " (\($0))" } ?? ""
    return Fault(
      "http.\(status)", kind, "\(host) answered \(status)\(words)", httpStatus: status, host: host,
      retryAfter: kind.isRetryable ? retryAfter.flatMap { interval($0, now: now) } : nil)
  }

  /// Reads a Retry-After in seconds or as a date; nil for neither, at most `longestRetryAfter`.
  static func interval(_ text: String, now: WallTime) -> Interval? {
    if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
      return min(longestRetryAfter, Int(text).map { .seconds(min($0, 86_400)) } ?? longestRetryAfter)
    }
    let date = unsafe curl_getdate(text, nil)
    guard date >= 0 else { return nil }
    // The year 9999 has more nanoseconds than a number can hold.
    let soon = min(date, now.microseconds / 1_000_000 + 2 * Int(longestRetryAfter.seconds))
    let wait = Interval(nanoseconds: (soon * 1_000_000 - now.microseconds) * 1000)
    return min(longestRetryAfter, max(.zero, wait))
  }

  private static let reasons = [
    400: "bad request", 401: "unauthorised", 403: "forbidden", 404: "not found", 405: "method not allowed",
    408: "request timeout", 410: "gone", 416: "range not satisfiable", 425: "too early", 429: "too many requests",
    451: "unavailable for legal reasons", 500: "internal error", 502: "bad gateway", 503: "unavailable",
    504: "gateway timeout",
  ]
}
