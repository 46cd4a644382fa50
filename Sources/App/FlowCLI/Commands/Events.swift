internal import FlowBase
internal import FlowEvents

extension Command {
  /// `imgflow events check FILE`.
  static let events = Command(.events) { arguments, console in
    let file = arguments.operand("FILE") ?? "-"
    let bytes = file == "-" ? try console.input() : try SmallFiles.read(file)
    let types = arguments.all("types")
    if let odd = EventFilter.unmatched(types).first {
      throw UsageError("`\(odd)` matches no type of events", hint: "`imgflow explain events` lists them")
    }
    let problems = StreamCheck.problems(in: bytes, expecting: types.isEmpty ? nil : EventFilter(globs: types))
    if arguments.has("json") {
      var writer = JSONWriter()
      writer.value(
        .map([
          "format_version": 1, "complete": .bool(problems.isEmpty),
          "problems": .list(problems.map { .map(["line": .int($0.line), "message": .string($0.message)]) }),
        ]))
      console.line(writer.text)
    } else if problems.isEmpty {
      console.line("\(file): complete, \(bytes.count { $0 == UInt8(ascii: "\n") }) events")
    } else {
      for problem in problems { console.line("\(file):\(problem.line): \(problem.message)") }
    }
    return problems.isEmpty ? 0 : 1
  }
}
