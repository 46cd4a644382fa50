internal import FlowBase
internal import FlowManifest
internal import FlowParts
internal import FlowYAML

// The legs of a stage's own matrix.
extension Planner {
  mutating func readMatrix(into draft: inout StageDraft) {
    guard let entry = draft.resolved.entry["matrix"] else { return }
    draft.hasMatrix = true
    guard entry.value.entries != nil else {
      reader.add(
        "E0122", "`matrix` is a map from axes to their values, and this is \(entry.value.kindName)",
        at: entry.value.place, hint: "such as `{ w: [64, 256] }`")
      return
    }
    let site = ConfigReader.Site(name: "matrix", owner: draft.id, types: loadTypes("the matrix of \(draft.subject)"))
    guard let read = reader.read(entry.value, as: .map(.anything), at: site)?.plain?.asMap else { return }
    do throws(AxesProblem) {
      let axes = try Axes(matrix: read)
      guard axes.product <= Planner.mostLegs else {
        throw AxesProblem("\(draft.subject) would have \(axes.product) legs, more than \(Planner.mostLegs)")
      }
      draft.legs = Array(axes)
    } catch {
      let node = error.key.flatMap { entry.value[$0] } ?? entry.value
      reader.add("E0122", error.message, at: node.place, hint: error.hint)
    }
  }
}
