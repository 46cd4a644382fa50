/// Something that can be explained; text, JSON and reference pages are written from it.
public struct Topic: Sendable, Hashable {
  /// What it is.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case op, field, section, code, event, diagnostic, exit, item, list
  }

  /// Rows under a heading.
  public struct Table: Sendable, Hashable {
    /// The heading.
    public var title: String
    /// A name and what is to be said of it.
    public var rows: [Row]

    /// A name and what is to be said of it.
    public struct Row: Sendable, Hashable {
      /// The name.
      public var name: String
      /// What is to be said of it.
      public var words: String
    }

    init(_ title: String, _ rows: [(String, String)]) {
      self.title = title
      self.rows = rows.map { Row(name: $0.0, words: $0.1) }
    }
  }

  /// What it is.
  public var kind: Kind
  /// The name by which it is asked for.
  public var name: String
  /// What it is in one sentence.
  public var summary: String
  /// Single facts, such as the class of a code.
  public var facts: [Table.Row] = []
  /// What to know or to do, a paragraph each.
  public var paragraphs: [String] = []
  /// What it consists of.
  public var tables: [Table] = []
  /// How it looks.
  public var example: String?

  init(_ kind: Kind, _ name: String, _ summary: String) {
    self.kind = kind
    self.name = name
    self.summary = summary
  }

  mutating func fact(_ name: String, _ words: String?) {
    if let words { facts.append(Table.Row(name: name, words: words)) }
  }
}
