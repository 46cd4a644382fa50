/// All that is to be said of a command: parsing, help, completion and the man page come from it and nothing else.
public struct CommandSpec: Sendable {
  /// Its name.
  public var name: String
  /// What it does, in a few words without a full stop.
  public var summary: String
  /// What a reader of its help should know beside the options; one element a paragraph.
  public var details: [String]
  /// What stands behind the name, in order.
  public var operands: [OperandSpec]
  /// Its options, in the order of the help.
  public var options: [OptionSpec]
  /// Command lines that show it at work.
  public var examples: [Example]
  /// Whether help and completion keep silent about it.
  public var isHidden: Bool

  /// A command line and what it does.
  public struct Example: Sendable, Hashable {
    /// The command line.
    public var line: String
    /// What it does.
    public var words: String

    /// An example.
    public init(_ line: String, _ words: String) {
      self.line = line
      self.words = words
    }
  }

  /// A command.
  public init(
    _ name: String, _ summary: String, details: [String] = [], operands: [OperandSpec] = [],
    options: [OptionSpec] = [], examples: [Example], isHidden: Bool = false
  ) {
    self.name = name
    self.summary = summary
    self.details = details
    self.operands = operands
    self.options = options
    self.examples = examples
    self.isHidden = isHidden
  }

  /// Its own options and those that every command has.
  public var allOptions: [OptionSpec] { options + OptionSpec.everywhere }

  /// The line that shows how it is called.
  public var usage: String {
    (["imgflow", name] + operands.map(\.usage) + ["[options]"]).joined(separator: " ")
  }
}

/// One of the words behind a command's name.
public struct OperandSpec: Sendable, Hashable {
  /// How often it may stand there.
  public enum Count: Sendable, Hashable {
    case once
    case atMostOnce
    case any
    case atLeastOnce
  }

  /// Its placeholder, in capitals.
  public var name: String
  /// What may stand there.
  public var kind: ArgumentKind
  /// How often it may stand there.
  public var count: Count
  /// What it means.
  public var help: String

  /// An operand.
  public init(_ name: String, _ kind: ArgumentKind, _ count: Count, _ help: String) {
    self.name = name
    self.kind = kind
    self.count = count
    self.help = help
  }

  /// The operand as the usage line shows it.
  public var usage: String {
    let word = if case .choice(let words) = kind { words.joined(separator: "|") } else { name }
    return switch count {
    case .once: word
    case .atMostOnce: "[\(word)]"
    case .any: "[\(word)…]"
    case .atLeastOnce: "\(word)…"
    }
  }
}

/// One option of a command.
public struct OptionSpec: Sendable, Hashable {
  /// Its names with their dashes, the short one first: `-j`, `--concurrency`.
  public var names: [String]
  /// The placeholder of its value; nil for a flag.
  public var placeholder: String?
  /// What its value may be.
  public var kind: ArgumentKind
  /// What it does, in a few words without a full stop.
  public var help: String
  /// Whether it may stand there more than once.
  public var isRepeated: Bool
  /// Whether help and completion keep silent about it.
  public var isHidden: Bool

  /// An option with a value.
  public init(
    _ names: String..., value placeholder: String, _ kind: ArgumentKind, _ help: String,
    repeated isRepeated: Bool = false, hidden isHidden: Bool = false
  ) {
    self.names = names
    self.placeholder = placeholder
    self.kind = kind
    self.help = help
    self.isRepeated = isRepeated
    self.isHidden = isHidden
  }

  /// A flag.
  public init(flag names: String..., help: String, hidden isHidden: Bool = false) {
    self.names = names
    placeholder = nil
    kind = .text
    self.help = help
    isRepeated = false
    self.isHidden = isHidden
  }

  /// The name under which the parsed arguments hold it: the longest, without dashes.
  public var key: String { String((names.max { $0.count < $1.count } ?? "").drop { $0 == "-" }) }

  /// The names with the placeholder, as help shows them.
  public var usage: String { names.joined(separator: ", ") + (placeholder.map { " " + $0 } ?? "") }

  /// What every command takes.
  public static let everywhere: [OptionSpec] = [
    OptionSpec("-C", value: "DIR", .folder, "work in this folder, as if started there"),
    OptionSpec("--color", value: "WHEN", .choice(["auto", "always", "never"]), "colour the words on a terminal"),
    OptionSpec(flag: "-h", "--help", help: "show this help"),
  ]
}

/// What may stand as an argument; decides how it is checked and completed.
public enum ArgumentKind: Sendable, Hashable {
  /// Any text.
  case text
  /// A path of a file.
  case file
  /// A path of a folder.
  case folder
  /// A file of this name's ending, or another file.
  case manifest
  /// A whole number of at least so much.
  case integer(atLeast: Int)
  /// A span of time such as `10m`.
  case interval
  /// `name=value`.
  case assignment
  /// One of some words.
  case choice([String])

  /// What is expected, in words.
  public var words: String {
    switch self {
    case .text: "a text"
    case .file: "a file"
    case .folder: "a folder"
    case .manifest: "a manifest"
    case .integer(let least): "a whole number of at least \(least)"
    case .interval: "a duration such as 500ms, 30s or 10m"
    case .assignment: "name=value"
    case .choice(let words): "one of \(words.joined(separator: ", "))"
    }
  }
}
