/// How texts look on a terminal: how many columns they take, and what of them is fit to be shown.
public enum TextWidth {
  /// The number of columns that a text takes; East Asian wide characters take two.
  public static func columns(of text: String) -> Int {
    text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.reduce(0) { $0 + columns(of: $1) }
  }

  /// A text cut to so many columns; an ellipsis stands for what is gone.
  public static func cut(_ text: String, to width: Int) -> String {
    guard columns(of: text) > width else { return text }
    guard width > 0 else { return "" }
    var cut = ""
    var used = 0
    for character in text {
      let columns = columns(of: character)
      if used + columns > width - 1 { break }
      cut.append(character)
      used += columns
    }
    return cut + "…"
  }

  /// A text that may be shown: control characters, which could steer the terminal, are replaced.
  public static func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { shown.append(isControl(scalar) ? "\u{FFFD}" : scalar) }
    return String(shown)
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  private static func columns(of character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    if character.unicodeScalars.contains(where: { $0.value == 0xFE0F }) { return 2 }
    switch first.value {
    case 0x0300...0x036F, 0x200B...0x200D, 0xFE00...0xFE0F: return 0
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
      0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
      0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }
}

extension Interval {
  /// The span for people, in two units at most: `1.2 s`, `1 min 04 s`, `2 h 03 min`.
  public var words: String {
    let whole = Int(seconds.rounded())
    func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    switch seconds {
    case ..<0.9995: return "\(Int(milliseconds.rounded())) ms"
    case ..<9.95: return "\(decimal(seconds, digits: 1)) s"
    case ..<59.5: return "\(whole) s"
    case ..<3599.5: return "\(whole / 60) min \(padded(whole % 60)) s"
    case ..<86_400: return "\(whole / 3600) h \(padded(whole / 60 % 60)) min"
    default: return "\(whole / 86_400) d \(whole / 3600 % 24) h"
    }
  }
}
