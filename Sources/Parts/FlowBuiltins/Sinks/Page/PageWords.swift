internal import FlowBase
internal import FlowEvents

/// How a run is put into words on its page.
enum PageWords {
  /// How far the run is: `312 of 1,000 · 48 MB/s · about 20 s left`.
  static func line(_ book: PageBook) -> String {
    let counts = book.counts
    var parts: [String] = []
    switch book.state {
    case .idle: return "waiting for a tap"
    case .done:
      let took = book.elapsed.seconds
      parts.append(
        counts.ended == 0
          ? "no items"
          : "\(number(counts.ended)) item\(counts.ended == 1 ? "" : "s") in \(took < 10 ? decimal(took, digits: 1) + " s" : time(took))"
      )
      if counts.failed > 0 { parts.append("\(number(counts.failed)) failed") }
      if counts.cancelled > 0 { parts.append("\(number(counts.cancelled)) cancelled") }
      if counts.cached > 0 { parts.append("\(number(counts.cached)) from before") }
      if book.bytesIn > 0 { parts.append("\(ByteCount(book.bytesIn).text) received") }
      return parts.joined(separator: " · ")
    case .active, .paused, .draining: break
    }
    parts.append(book.total.map { "\(number(counts.ended)) of \(number($0))" } ?? "\(number(counts.ended)) so far")
    if book.bytesPerSecond >= 1 {
      parts.append("\(rate(book.bytesPerSecond))/s")
    } else if book.itemsPerSecond >= 0.1 {
      parts.append("\(decimal(book.itemsPerSecond, digits: 1)) items/s")
    }
    if let left = book.secondsLeft, counts.ended > 0 { parts.append("about \(time(left)) left") }
    if counts.failed > 0 { parts.append("\(number(counts.failed)) failed") }
    return parts.joined(separator: " · ")
  }

  /// Bytes a second, without a digit that says nothing.
  private static func rate(_ bytes: Double) -> String {
    let text = ByteCount(Int(bytes)).text
    guard let point = text.firstRange(of: ".0 ") else { return text }
    return text[..<point.lowerBound] + " " + text[point.upperBound...]
  }

  /// A number with commas between its thousands.
  static func number(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var text = ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place) % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return number < 0 ? "-" + text : text
  }

  /// A time as people say it, no more exact than a guess is.
  static func time(_ seconds: Double) -> String {
    switch seconds {
    case ..<1: return "1 s"
    case ..<90: return "\(Int(seconds.rounded())) s"
    case ..<5400: return "\(Int((seconds / 60).rounded())) min"
    default: return "\(decimal(seconds / 3600, digits: 1)) h"
    }
  }
}
