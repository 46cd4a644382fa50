internal import FlowBase
internal import FlowPlan

extension Command {
  /// `imgflow graph [MANIFEST]`.
  static let graph = Command(.graph) { arguments, console in
    let loaded = LoadedManifest(arguments, console)
    guard let plan = loaded.plan else {
      console.say(DiagnosticText(isColoured: console.coloursErrors, line: loaded.line).text(loaded.diagnostics))
      return 2
    }
    let graph = PlanGraph(plan)
    let text =
      switch arguments.has("json") ? "json" : arguments.value("format") ?? "text" {
      case "mermaid": graph.mermaid
      case "dot": graph.dot
      case "json": graph.json
      default: graph.text()
      }
    console.write(text.hasSuffix("\n") ? text : text + "\n")
    return 0
  }
}
