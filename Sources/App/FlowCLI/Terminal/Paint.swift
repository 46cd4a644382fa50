/// Colours words, or leaves them as they are.
public struct Paint: Sendable {
  /// Whether anything is coloured at all.
  public var isOn: Bool

  /// A brush; one that is off leaves texts as they are.
  public init(_ isOn: Bool) { self.isOn = isOn }

  /// For what failed.
  public func red(_ text: String) -> String { wrap(text, "31") }
  /// For what went well.
  public func green(_ text: String) -> String { wrap(text, "32") }
  /// For what may be wrong.
  public func yellow(_ text: String) -> String { wrap(text, "33") }
  /// For places and links.
  public func cyan(_ text: String) -> String { wrap(text, "36") }
  /// For headings.
  public func bold(_ text: String) -> String { wrap(text, "1") }
  /// For what matters less.
  public func dim(_ text: String) -> String { wrap(text, "2") }

  private func wrap(_ text: String, _ code: String) -> String { isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}
