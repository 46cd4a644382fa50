extension Command {
  /// `imgflow completion SHELL`.
  static let completion = Command(.completion) { arguments, console in
    guard let script = Completion.script(for: arguments.operand("SHELL") ?? "", Command.all.map(\.spec)) else {
      throw UsageError("no such shell", hint: "type `imgflow completion bash`")
    }
    console.write(script)
    return 0
  }

  /// `imgflow man`.
  static let man = Command(.man) { _, console in
    console.write(ManPage.text(Command.all.map(\.spec), version: CommandLineTool.version))
    return 0
  }
}
