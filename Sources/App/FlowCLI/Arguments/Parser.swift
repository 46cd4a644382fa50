internal import FlowBase

/// Takes a command line apart by the table of commands.
public struct Parser: Sendable {
  /// The commands that it knows.
  public let commands: [CommandSpec]

  /// A parser for a table of commands.
  public init(_ commands: [CommandSpec]) { self.commands = commands }

  /// What a command line asks for.
  public enum Request: Sendable {
    /// A command is to be run.
    case command(CommandSpec, ParsedArguments)
    /// Help is asked for: of a command, or of the whole.
    case help(CommandSpec?)
    /// The version is asked for.
    case version
  }

  /// What a command line, without the program's name, asks for.
  public func parse(_ words: [String]) throws(UsageError) -> Request {
    var reader = WordReader(words: words, options: OptionSpec.everywhere + [Parser.version])
    // Options that stand before the command's name hold for every command.
    reader.readOptions(stopAtOperand: true)
    if let problem = reader.problem { throw problem }
    if reader.arguments.has("version") { return .version }
    guard let name = reader.nextWord() else {
      if reader.arguments.has("help") { return .help(nil) }
      throw UsageError("a command is missing", hint: "try `imgflow run manifest.yaml`, or `imgflow help`")
    }
    if name == "help" { return try help(reader.rest) }
    guard let command = commands.first(where: { $0.name == name }) else { throw unknown(name, reader.rest) }
    reader.options = command.allOptions
    reader.readOptions(stopAtOperand: false)
    if reader.arguments.has("help") { return .help(command) }
    var problem = reader.problem
    if problem == nil { problem = assign(&reader.arguments, for: command) }
    if var problem {
      problem.command = name
      problem.arguments = reader.arguments
      if problem.hint == nil { problem.hint = "see `imgflow \(name) --help`" }
      throw problem
    }
    return .command(command, reader.arguments)
  }

  /// The option that stands for the version; it has no command.
  static let version = OptionSpec(flag: "--version", help: "show the version")

  private func help(_ words: [String]) throws(UsageError) -> Request {
    guard let name = words.first(where: { !$0.hasPrefix("-") }) else { return .help(nil) }
    guard let command = commands.first(where: { $0.name == name }) else { throw unknown(name, []) }
    return .help(command)
  }

  private func unknown(_ name: String, _ rest: [String]) -> UsageError {
    let line = { (command: String, words: [String]) in
      (["imgflow", command] + words).joined(separator: " ")
    }
    if name.hasSuffix(".yaml") || name.hasSuffix(".yml") {
      return UsageError("`\(name)` is no command", hint: "type `\(line("run", [name] + rest))`")
    }
    if name.contains("://") {
      return UsageError("`\(name)` is no command", hint: "type `\(line("get", [name] + rest))`")
    }
    let near = Suggestions.near(name, among: commands.filter { !$0.isHidden }.map(\.name))
    guard let first = near.first else {
      return UsageError("unknown command `\(name)`", hint: "`imgflow help` lists the commands")
    }
    return UsageError("unknown command `\(name)`", hint: "did you mean `\(line(first, rest))`?")
  }

  /// Gives each operand to the placeholder that it stands for.
  private func assign(_ arguments: inout ParsedArguments, for command: CommandSpec) -> UsageError? {
    var words = arguments.operands[...]
    for (place, operand) in command.operands.enumerated() {
      let next = place + 1 < command.operands.count ? command.operands[place + 1] : nil
      var taken: [String] = []
      while taken.count < operand.most, let word = words.first {
        // `ctl pause`: the word can only be the verb, so the optional run before it is left out.
        if operand.count == .atMostOnce, let next, case .choice(let verbs) = next.kind, verbs.contains(word) { break }
        if let problem = operand.kind.problem(with: word, of: operand.name) { return problem }
        taken.append(word)
        words.removeFirst()
      }
      if taken.isEmpty, operand.isRequired {
        return UsageError(
          "\(operand.usage) is missing: \(operand.help)",
          hint: "type `\(command.examples.first?.line ?? command.usage)`, for example")
      }
      if !taken.isEmpty { arguments.namedOperands[operand.name] = taken }
    }
    guard let extra = words.first else { return nil }
    return UsageError("`\(extra)` is one argument too many", hint: "it is called as `\(command.usage)`")
  }
}

extension OperandSpec {
  fileprivate var most: Int { count == .once || count == .atMostOnce ? 1 : .max }
  fileprivate var isRequired: Bool { count == .once || count == .atLeastOnce }
}

/// Goes over the words of a command line and keeps the first thing that is wrong.
private struct WordReader {
  var words: [String]
  var options: [OptionSpec]
  var place = 0
  var arguments = ParsedArguments()
  var problem: UsageError?

  init(words: [String], options: [OptionSpec]) {
    self.words = words
    self.options = options
  }

  var rest: [String] { Array(words[place...]) }

  mutating func nextWord() -> String? {
    guard place < words.count else { return nil }
    place += 1
    return words[place - 1]
  }

  /// Reads on to the end, or up to the first word that is no option.
  mutating func readOptions(stopAtOperand: Bool) {
    while let word = nextWord() {
      if word == "--" {
        if stopAtOperand { return }
        arguments.operands += rest
        place = words.count
      } else if word.hasPrefix("--") {
        readLong(word)
      } else if word.hasPrefix("-") && word != "-" {
        readShort(word)
      } else if stopAtOperand {
        place -= 1
        return
      } else {
        arguments.operands.append(word)
      }
    }
  }

  private mutating func readLong(_ word: String) {
    let equals = word.firstIndex(of: "=")
    let name = equals.map { String(word[..<$0]) } ?? word
    let inline = equals.map { String(word[word.index(after: $0)...]) }
    guard let option = options.first(where: { $0.names.contains(name) }) else { return reportUnknown(name) }
    guard let placeholder = option.placeholder else {
      if inline != nil { return report(UsageError("`\(name)` takes no value", hint: "type `\(name)` alone")) }
      return set(option, "", as: name)
    }
    if let value = inline ?? takeValue() { return set(option, value, as: name) }
    report(UsageError("`\(name)` needs a value: \(option.kind.words)", hint: "type `\(name) \(placeholder)`"))
  }

  /// Reads `-q`, `-j4`, `-j 4`, `-qv`, `-qj4`.
  private mutating func readShort(_ word: String) {
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      let name = "-\(letter)"
      guard let option = options.first(where: { $0.names.contains(name) }) else {
        return reportUnknown(word.count == 2 ? name : word)
      }
      guard let placeholder = option.placeholder else {
        set(option, "", as: name)
        continue
      }
      if letters.first == "=" { letters.removeFirst() }
      if let value = letters.isEmpty ? takeValue() : String(letters) { return set(option, value, as: name) }
      return report(UsageError("`\(name)` needs a value: \(option.kind.words)", hint: "type `\(name) \(placeholder)`"))
    }
  }

  /// The next word as a value; a word that looks like an option is none, `-` and numbers are.
  private mutating func takeValue() -> String? {
    guard place < words.count else { return nil }
    let word = words[place]
    if word.hasPrefix("-") && word != "-" && Int(word) == nil { return nil }
    place += 1
    return word
  }

  private mutating func set(_ option: OptionSpec, _ value: String, as name: String) {
    if option.placeholder != nil, let problem = option.kind.problem(with: value, of: name) { report(problem) }
    if !option.isRepeated, option.placeholder != nil, let earlier = arguments.value(option.key), earlier != value {
      report(UsageError("`\(name)` is given twice: `\(earlier)` and `\(value)`", hint: "leave one of them out"))
    }
    arguments.values[option.key, default: []].append(value)
  }

  private mutating func reportUnknown(_ name: String) {
    let names = options.filter { !$0.isHidden }.flatMap(\.names)
    let near = name.hasPrefix("--") ? Suggestions.near(name, among: names.filter { $0.hasPrefix("--") }) : []
    // A single dash before a long name is the likeliest slip of all.
    let doubled = names.contains("-" + name) ? ["-" + name] : near
    report(UsageError("unknown option `\(name)`", hint: Suggestions.question(doubled)))
  }

  private mutating func report(_ error: UsageError) { if problem == nil { problem = error } }
}

extension ArgumentKind {
  /// What is wrong with a text as an argument of this kind.
  fileprivate func problem(with text: String, of name: String) -> UsageError? {
    let isFine =
      switch self {
      case .text, .file, .folder, .manifest: true
      case .integer(let least): Int(text).map { $0 >= least } ?? false
      case .interval: Interval(parsing: text) != nil
      case .assignment: (text.firstIndex(of: "=").map { $0 > text.startIndex }) ?? false
      case .choice(let words): words.contains(text)
      }
    if isFine { return nil }
    var hint: String?
    if case .choice(let words) = self { hint = Suggestions.question(Suggestions.near(text, among: words)) }
    return UsageError("`\(name)` takes \(self.words), not `\(text)`", hint: hint)
  }
}
