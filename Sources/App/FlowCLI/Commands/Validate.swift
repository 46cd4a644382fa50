internal import FlowBase
internal import FlowPlan

extension Command {
  /// `imgflow validate [MANIFEST…]`.
  static let validate = Command(.validate) { arguments, console in
    let named = arguments.operands("MANIFEST")
    let manifests = (named.isEmpty ? ["imgflow.yaml"] : named).map { LoadedManifest(path: $0, arguments, console) }
    let diagnostics = manifests.flatMap(\.diagnostics)
    switch arguments.has("json") ? "json" : arguments.value("format") ?? "text" {
    case "json": console.line(DiagnosticText.json(diagnostics))
    case "github": console.write(DiagnosticText.github(diagnostics))
    default:
      for manifest in manifests {
        if !manifest.diagnostics.isEmpty {
          let text = DiagnosticText(isColoured: console.coloursOutput, line: manifest.line).text(manifest.diagnostics)
          console.write(text.hasSuffix("\n") ? text : text + "\n")
        }
        if let plan = manifest.plan { console.line("\(manifest.path): \(plan.cleanLine)") }
      }
    }
    return manifests.allSatisfy { $0.plan != nil } ? 0 : 2
  }
}
