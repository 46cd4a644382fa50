public import FlowBase

/// A piece of a YAML document, with the place where it stands.
///
/// Scalars keep their text as written: what type they are is decided by the field that they land in.
public struct Node: Sendable, Hashable {
  /// What a node can be.
  public indirect enum Content: Sendable, Hashable {
    /// A scalar's text, after YAML's own unquoting.
    case scalar(String, ScalarStyle)
    /// A sequence.
    case list([Node])
    /// A mapping, in the order of the file; keys are distinct.
    case map([Entry])
  }

  /// How a scalar was written: a plain `true` may be a boolean, a quoted one is a text.
  public enum ScalarStyle: Sendable, Hashable {
    case plain
    case quoted
    case block
  }

  /// One `key: value` of a mapping.
  public struct Entry: Sendable, Hashable {
    /// The key's text.
    public var key: String
    /// Where the key stands.
    public var keyMark: Mark
    /// The value.
    public var value: Node

    /// An entry.
    public init(key: String, keyMark: Mark, value: Node) {
      self.key = key
      self.keyMark = keyMark
      self.value = value
    }
  }

  /// What stands here.
  public var content: Content
  /// Where it stands; `length` covers it as far as its first line goes.
  public var mark: Mark
  /// The file that it came from, since `extends` joins several.
  public var file: String

  /// A node.
  public init(_ content: Content, mark: Mark, file: String) {
    self.content = content
    self.mark = mark
    self.file = file
  }

  /// The node's place.
  public var place: Place { Place(file: file, mark: mark) }

  /// The value under a key, if this is a mapping that has it.
  public subscript(key: String) -> Node? {
    guard case .map(let entries) = content else { return nil }
    return entries.first { $0.key == key }?.value
  }

  /// The entries, if this is a mapping.
  public var entries: [Entry]? {
    if case .map(let entries) = content { entries } else { nil }
  }

  /// The elements, if this is a sequence.
  public var elements: [Node]? {
    if case .list(let nodes) = content { nodes } else { nil }
  }

  /// The text, if this is a scalar.
  public var scalar: String? {
    if case .scalar(let text, _) = content { text } else { nil }
  }

  /// Whether this is an empty plain scalar, `~` or `null`.
  public var isNull: Bool {
    if case .scalar(let text, .plain) = content { ["", "~", "null", "Null", "NULL"].contains(text) } else { false }
  }
}
