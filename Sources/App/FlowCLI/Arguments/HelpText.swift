/// Writes help from the table of commands.
public struct HelpText: Sendable {
  private let width = 80
  /// Whether headings are bold.
  private let isColoured: Bool

  /// A writer of help.
  public init(coloured isColoured: Bool = false) { self.isColoured = isColoured }

  /// The help of the whole program.
  public func overview(_ commands: [CommandSpec]) -> String {
    let shown = commands.filter { !$0.isHidden }
    var text = "imgflow runs a manifest: it fetches items from sources, takes them through\n"
    text += "stages, stores the results, and tells what happens as a stream of events.\n\n"
    text += heading("Usage") + "\n  imgflow COMMAND [arguments] [options]\n\n"
    text += heading("Commands") + "\n" + columns(shown.map { ($0.name, $0.summary) }) + "\n"
    text += heading("Options") + "\n"
    text += columns((OptionSpec.everywhere + [Parser.version]).map { (label($0), $0.help) }) + "\n"
    text += heading("Examples") + "\n"
    text += examples(["run", "get", "validate"].compactMap { name in shown.first { $0.name == name }?.examples.first })
    text += "\n`imgflow COMMAND --help` says more of a command, `imgflow explain` of manifests.\n"
    return text
  }

  /// The help of one command.
  public func command(_ command: CommandSpec) -> String {
    var text = "imgflow \(command.name): \(command.summary)\n\n"
    text += heading("Usage") + "\n  \(command.usage)\n\n"
    for paragraph in command.details { text += wrap(paragraph, indent: 0) + "\n" }
    if !command.operands.isEmpty {
      text += heading("Arguments") + "\n" + columns(command.operands.map { ($0.name, describe($0)) }) + "\n"
    }
    text += heading("Options") + "\n"
    text += columns(command.allOptions.filter { !$0.isHidden }.map { (label($0), describe($0)) }) + "\n"
    return text + heading("Examples") + "\n" + examples(command.examples)
  }

  private func heading(_ name: String) -> String { isColoured ? "\u{1B}[1m\(name)\u{1B}[0m" : name }

  private func label(_ option: OptionSpec) -> String {
    // Long names stand under one another, whether or not there is a short one before them.
    (option.names[0].hasPrefix("--") ? "    " : "") + option.usage
  }

  private func describe(_ option: OptionSpec) -> String {
    var words = option.help
    if case .choice(let choices) = option.kind { words += ": " + choices.joined(separator: ", ") }
    return option.isRepeated ? words + " (may be repeated)" : words
  }

  private func describe(_ operand: OperandSpec) -> String {
    guard case .choice(let choices) = operand.kind else { return operand.help }
    return operand.help + ": " + choices.joined(separator: ", ")
  }

  private func examples(_ examples: [CommandSpec.Example]) -> String {
    examples.map { "  \($0.line)\n      \($0.words)\n" }.joined()
  }

  /// Two columns; a left side that is too long has a line of its own.
  private func columns(_ rows: [(left: String, right: String)]) -> String {
    let longest = rows.map(\.left.count).filter { $0 <= 26 }.max() ?? 0
    var text = ""
    for (left, right) in rows {
      let lines = Wrapping.lines(right, width: width - longest - 4)
      if left.count > longest {
        text += "  \(left)\n"
      } else {
        text += "  " + left + String(repeating: " ", count: longest - left.count) + "  " + lines[0] + "\n"
      }
      for line in left.count > longest ? lines[...] : lines.dropFirst() {
        text += String(repeating: " ", count: longest + 4) + line + "\n"
      }
    }
    return text
  }

  private func wrap(_ paragraph: String, indent: Int) -> String {
    Wrapping.lines(paragraph, width: width - indent).map { String(repeating: " ", count: indent) + $0 + "\n" }.joined()
  }
}
