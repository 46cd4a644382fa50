@_spi(_Unicode) internal import Swift

/// Forms of a text that are the same for everything that looks the same.
public enum CanonicalText {
  /// The text with composed characters (Unicode form C).
  public static func composed(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    var view = String.UnicodeScalarView()
    view.append(contentsOf: text._nfc)
    return String(view)
  }

  /// The text composed and in small letters: equal for names that some file system takes for one.
  public static func folded(_ text: String) -> String { composed(composed(text).lowercased()) }
}
