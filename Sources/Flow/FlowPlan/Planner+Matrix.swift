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
    // Also those of axes that cannot be, so that one mistake is told once and not again wherever an axis is used.
    draft.axisNames = read.names.filter { !["exclude", "include", "zip"].contains($0) }
    do throws(AxesProblem) {
      let axes = try Axes(matrix: read)
      draft.axisNames = axes.names
      guard axes.product <= Planner.mostLegs else {
        throw AxesProblem(
          "\(draft.subject) would have \(axes.product) legs, more than \(Planner.mostLegs)",
          hint: "let a source make so many items instead")
      }
      draft.legs = Array(axes)
    } catch {
      let node = error.key.flatMap { entry.value[$0] } ?? entry.value
      reader.add("E0122", error.message, at: node.place, hint: error.hint)
    }
  }

  /// Tells of loops of a source that cannot be, before the source is asked.
  mutating func checkLoop(of config: Config, node: Node, spec: PartSpec) {
    guard spec.fields.contains(where: { $0.name == "for" }), let loop = config.value("for")?.asMap else { return }
    func combinations(_ key: String) -> [Fields] { (config.value(key)?.asList ?? []).compactMap(\.asMap) }
    do {
      _ = try Axes(
        loop: loop, zip: config.bool("zip") ?? false, exclude: combinations("exclude"),
        include: combinations("include"))
    } catch {
      let place = error.key.flatMap { node["for"]?[$0] ?? node[$0] } ?? node["for"] ?? node
      reader.add("E0122", error.message, at: place.place, hint: error.hint)
    }
  }
}
