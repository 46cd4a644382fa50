public import FlowBase
public import FlowYAML

extension Manifest {
  /// One source, stage or sink as it was written.
  public struct Entry: Sendable, Hashable {
    /// What an entry can stand for.
    public enum Role: String, Sendable, Hashable, CaseIterable {
      case source, stage, sink

      /// The keys of the engine, which stand beside the op.
      public var keys: [String] {
        switch self {
        case .source: ["id", "where", "sample", "take", "note"]
        case .stage:
          [
            "id", "needs", "after", "per", "if", "matrix", "on_error", "concurrency", "interval", "retry", "timeout",
            "deadline", "pool", "note",
          ]
        case .sink: ["id", "events", "required", "note"]
        }
      }

      /// The list of the top level in which such entries stand.
      public var list: String { rawValue + "s" }
    }

    /// What it stands for.
    public var role: Role
    /// The whole entry.
    public var node: Node
    /// The keys that are none of the engine's: the op, and what was put beside it by mistake.
    public var candidates: [Node.Entry]
    /// The keys of the engine that are there.
    public var keys: [Node.Entry]

    /// The engine's key of that name, if it is there.
    public subscript(key: String) -> Node.Entry? { keys.first { $0.key == key } }

    /// The id: the one that was written, else the one that follows from the op's name.
    public var id: String {
      self["id"]?.value.scalar ?? candidates.first.map { Entry.defaultID(op: $0.key) } ?? ""
    }

    /// Where a message about the id points.
    public var idPlace: Place {
      if let key = self["id"] { return key.value.place }
      return candidates.first.map { Place(file: node.file, mark: $0.keyMark) } ?? node.place
    }

    /// The id that an op's name gives: what follows its last dot, in the letters of ids.
    public static func defaultID(op: String) -> String {
      let name = op.split(separator: ".").last.map(String.init) ?? op
      return String(name.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    /// Whether a text can be an id: `[a-z][a-z0-9_]*`.
    public static func isID(_ text: String) -> Bool {
      let scalars = text.unicodeScalars
      guard let first = scalars.first, ("a"..."z").contains(first) else { return false }
      return scalars.allSatisfy { ("a"..."z").contains($0) || ("0"..."9").contains($0) || $0 == "_" }
    }
  }
}
