/// Writes completion scripts from the table of commands.
public enum Completion {
  /// The script for a shell; nil for a shell that is not known.
  public static func script(for shell: String, _ commands: [CommandSpec]) -> String? {
    let shown = commands.filter { !$0.isHidden }
    return switch shell {
    case "bash": bash(shown)
    case "zsh": zsh(shown)
    case "fish": fish(shown)
    default: nil
    }
  }

  // MARK: bash

  private static func bash(_ commands: [CommandSpec]) -> String {
    var script = """
      # bash completion for imgflow
      _imgflow() {
        local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= place
        COMPREPLY=()
        for ((place = 1; place < COMP_CWORD; place++)); do
          case ${COMP_WORDS[place]} in
            -C|--color) ((place++)) ;;
            -*) ;;
            *) command=${COMP_WORDS[place]}; break ;;
          esac
        done
        case $command:$previous in

      """
    for option in OptionSpec.everywhere where option.placeholder != nil {
      script += option.names.map { "    *:\($0)" }.joined(separator: "|").trimmedPattern
      script += ") \(bashAnswer(option.kind)); return ;;\n"
    }
    for command in commands {
      for option in visible(command) where option.placeholder != nil {
        script += option.names.map { "    \(command.name):\($0)" }.joined(separator: "|").trimmedPattern
        script += ") \(bashAnswer(option.kind)); return ;;\n"
      }
    }
    script += "  esac\n  case $command in\n"
    let globals = OptionSpec.everywhere.flatMap(\.names) + Parser.version.names
    script += "    '') COMPREPLY=($(compgen -W '\((commands.map(\.name) + ["help"] + globals).joined(separator: " "))'"
    script += " -- \"$word\")) ;;\n"
    script += "    help) COMPREPLY=($(compgen -W '\(commands.map(\.name).joined(separator: " "))' -- \"$word\")) ;;\n"
    for command in commands {
      let words =
        command.operands.flatMap { $0.kind.choices } + (visible(command) + OptionSpec.everywhere).flatMap(\.names)
      script += "    \(command.name)) COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$word\"))"
      if command.operands.contains(where: { $0.kind.isPath }) {
        script += "\n      [[ $word == -* ]] || COMPREPLY+=($(compgen -f -- \"$word\"))"
      }
      script += " ;;\n"
    }
    return script + "  esac\n}\ncomplete -o filenames -F _imgflow imgflow\n"
  }

  private static func bashAnswer(_ kind: ArgumentKind) -> String {
    switch kind {
    case .choice(let words): "COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$word\"))"
    case .folder: "COMPREPLY=($(compgen -d -- \"$word\"))"
    case .file, .manifest: "COMPREPLY=($(compgen -f -- \"$word\"))"
    case .text, .integer, .interval, .assignment: ":"
    }
  }

  // MARK: zsh

  private static func zsh(_ commands: [CommandSpec]) -> String {
    var script = "#compdef imgflow\n_imgflow() {\n  local context state line\n  local -a commands\n  commands=(\n"
    for command in commands { script += "    \(quoted(command.name + ":" + command.summary))\n" }
    script += "    'help:explain a command'\n  )\n"
    script += "  _arguments -C \\\n"
    for option in OptionSpec.everywhere + [Parser.version] { script += "    \(zshOption(option)) \\\n" }
    script += "    '1: :->command' '*:: :->arguments'\n"
    script += "  case $state in\n    command) _describe command commands ;;\n    arguments)\n      case $line[1] in\n"
    script += "        help) _describe command commands ;;\n"
    for command in commands {
      script += "        \(command.name)) _arguments"
      for option in visible(command) + OptionSpec.everywhere { script += " \\\n          \(zshOption(option))" }
      for (place, operand) in command.operands.enumerated() {
        let isRepeated = operand.count == .any || operand.count == .atLeastOnce
        let position = isRepeated ? "*" : "\(place + 1)"
        let optional = operand.count == .atMostOnce ? "::" : ":"
        script +=
          " \\\n          \(quoted("\(position)\(optional)\(zshName(operand.name)):\(zshAction(operand.kind))"))"
      }
      script += " ;;\n"
    }
    return script + "      esac ;;\n  esac\n}\n_imgflow \"$@\"\n"
  }

  private static func zshOption(_ option: OptionSpec) -> String {
    let value = option.placeholder.map { ":\(zshName($0)):\(zshAction(option.kind))" } ?? ""
    let words =
      "[\(option.help.replacing("[", with: "(").replacing("]", with: ")").replacing(":", with: "\\:"))]\(value)"
    // Names of one option exclude one another unless it may be repeated.
    let others = option.isRepeated ? "*" : "(\(option.names.joined(separator: " ")))"
    if option.names.count == 1 { return quoted("\(others)\(option.names[0])\(words)") }
    if option.isRepeated { return "{\(option.names.map { "\\*" + $0 }.joined(separator: ","))}\(quoted(words))" }
    return "\(quoted(others)){\(option.names.joined(separator: ","))}\(quoted(words))"
  }

  private static func zshName(_ name: String) -> String { name.replacing(":", with: "\\:") }

  private static func zshAction(_ kind: ArgumentKind) -> String {
    switch kind {
    case .choice(let words): "(\(words.joined(separator: " ")))"
    case .folder: "_files -/"
    case .file: "_files"
    case .manifest: "_files -g \"*.(yaml|yml)\""
    case .text, .integer, .interval, .assignment: " "
    }
  }

  // MARK: fish

  private static func fish(_ commands: [CommandSpec]) -> String {
    let names = commands.map(\.name)
    var script = "# fish completion for imgflow\ncomplete -c imgflow -f\n"
    let none = "not __fish_seen_subcommand_from \((names + ["help"]).joined(separator: " "))"
    for command in commands {
      script += "complete -c imgflow -n \(quoted(none)) -a \(command.name) -d \(quoted(command.summary))\n"
    }
    script += "complete -c imgflow -n \(quoted(none)) -a help -d 'explain a command'\n"
    script += "complete -c imgflow -n '__fish_seen_subcommand_from help' -a \(quoted(names.joined(separator: " ")))\n"
    for option in OptionSpec.everywhere { script += "complete -c imgflow\(fishOption(option))\n" }
    script += "complete -c imgflow -n \(quoted(none))\(fishOption(Parser.version))\n"
    for command in commands {
      let seen = quoted("__fish_seen_subcommand_from \(command.name)")
      for option in visible(command) { script += "complete -c imgflow -n \(seen)\(fishOption(option))\n" }
      for operand in command.operands {
        if !operand.kind.choices.isEmpty {
          script += "complete -c imgflow -n \(seen) -a \(quoted(operand.kind.choices.joined(separator: " ")))\n"
        } else if operand.kind.isPath {
          script += "complete -c imgflow -n \(seen) -F\n"
        }
      }
    }
    return script
  }

  private static func fishOption(_ option: OptionSpec) -> String {
    var line = ""
    for name in option.names {
      line += name.hasPrefix("--") ? " -l \(name.dropFirst(2))" : " -s \(name.dropFirst())"
    }
    if option.placeholder != nil {
      line += option.kind.choices.isEmpty ? " -r" : " -x -a \(quoted(option.kind.choices.joined(separator: " ")))"
      if option.kind.isPath { line += " -F" }
    }
    return line + " -d \(quoted(option.help))"
  }

  // MARK: common

  private static func visible(_ command: CommandSpec) -> [OptionSpec] { command.options.filter { !$0.isHidden } }

  private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}

extension ArgumentKind {
  fileprivate var choices: [String] {
    if case .choice(let words) = self { words } else { [] }
  }

  fileprivate var isPath: Bool { self == .file || self == .folder || self == .manifest }
}

extension String {
  /// A pattern of `case` whose alternatives were joined with their indentation.
  fileprivate var trimmedPattern: String { "    " + replacing("    ", with: "") }
}
