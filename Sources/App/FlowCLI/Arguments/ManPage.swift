internal import FlowEvents

/// Writes the man page from the table of commands.
public enum ManPage {
  /// `imgflow.1` as roff.
  public static func text(_ commands: [CommandSpec], version: String) -> String {
    let shown = commands.filter { !$0.isHidden }
    var page = ".TH IMGFLOW 1 \"\" \"imgflow \(version)\" \"User Commands\"\n"
    page += ".SH NAME\nimgflow \\- a scriptable downloader, driven by a manifest\n"
    page += ".SH SYNOPSIS\n.B imgflow\n.I COMMAND\n[arguments] [options]\n"
    page += ".SH DESCRIPTION\n"
    page += "imgflow runs a manifest: it fetches items from sources, takes them through stages, stores the results, "
    page += "and tells what happens as a stream of events.\n"
    page += ".SH COMMANDS\n"
    for command in shown {
      page += ".SS \(escape(command.usage))\n\(escape(sentence(command.summary)))\n"
      for paragraph in command.details { page += ".PP\n\(escape(paragraph))\n" }
      for operand in command.operands { page += entry(operand.name, operand.help, operand.kind) }
      for option in command.options where !option.isHidden { page += entry(option.usage, option.help, option.kind) }
      page += ".PP\nExamples:\n"
      for example in command.examples {
        page += ".PP\n.RS 4\n\(escape(sentence(example.words)))\n.PP\n.nf\n\(escape(example.line))\n.fi\n.RE\n"
      }
    }
    page += ".SH OPTIONS\n"
    for option in OptionSpec.everywhere + [Parser.version] { page += entry(option.usage, option.help, option.kind) }
    page += ".SH EXIT STATUS\n"
    for code in ExitCode.shown { page += ".TP\n.B \(code.rawValue)\n\(escape(sentence(code.meaning)))\n" }
    page +=
      ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nIf set and not empty, words are not coloured unless \\-\\-color says so.\n"
    return page
  }

  private static func entry(_ label: String, _ help: String, _ kind: ArgumentKind) -> String {
    var words = help
    if case .choice(let choices) = kind { words += ": " + choices.joined(separator: ", ") }
    return ".TP\n.B \(escape(label))\n\(escape(sentence(words)))\n"
  }

  private static func sentence(_ words: String) -> String { words.prefix(1).uppercased() + words.dropFirst() + "." }

  /// A text as roff takes it: backslashes and dashes escaped, no line that begins like a request.
  private static func escape(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "\\": escaped += "\\e"
      case "-": escaped += "\\-"
      case "…": escaped += "..."
      default: escaped.append(character)
      }
    }
    return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
  }
}

extension ExitCode {
  /// The codes that a program can end with.
  static let shown: [ExitCode] = allCases
}
