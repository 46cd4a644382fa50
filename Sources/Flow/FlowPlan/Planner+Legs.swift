internal import FlowBase
internal import FlowExpressions
internal import FlowManifest
internal import FlowParts
internal import FlowYAML

/// A leg of a stage: where it is on the axes, and the nodes whose results it takes.
struct LegCombination {
  var axes: Fields
  var inputs: [Int]
}

// Which legs a stage has, with those that it inherits.
extension Planner {
  /// The most nodes that a plan may have; a matrix beyond that is a mistake of its author.
  static let mostLegs = 10_000

  mutating func joinLegs(
    of draft: StageDraft, per: Per, needs: [Int], drafts: [StageDraft], outlooks: [Int: StageOutlook]
  ) -> [LegCombination] {
    let inherited =
      per == .leg
      ? joined(needs, of: draft, drafts: drafts, outlooks: outlooks)
      : [LegCombination(axes: [:], inputs: needs.flatMap { outlooks[$0]?.nodes.map(\.place) ?? [] })]
    guard draft.hasMatrix else { return inherited }
    let taken = Set(inherited.flatMap(\.axes.names)).intersection(draft.legs.flatMap(\.names))
    if let axis = taken.min(), let entry = draft.resolved.entry["matrix"] {
      reader.add(
        "E0123", "\(draft.subject) gets the axis `\(axis)` already from a stage that it needs",
        at: Place(
          file: entry.value.file, mark: entry.value.entries?.first { $0.key == axis }?.keyMark ?? entry.keyMark),
        hint: "give the axis another name")
      return inherited
    }
    guard inherited.count * draft.legs.count <= Planner.mostLegs else {
      reader.add(
        "E0122",
        "\(draft.subject) would have \(inherited.count * draft.legs.count) legs, more than \(Planner.mostLegs)",
        at: draft.resolved.entry["matrix"]?.value.place ?? draft.resolved.place)
      return inherited
    }
    return inherited.flatMap { combination in
      draft.legs.map { LegCombination(axes: combination.axes.merging($0), inputs: combination.inputs) }
    }
  }

  /// The legs on which all needed stages meet: equal on the axes that they share.
  private mutating func joined(
    _ needs: [Int], of draft: StageDraft, drafts: [StageDraft], outlooks: [Int: StageOutlook]
  ) -> [LegCombination] {
    var result = [LegCombination(axes: [:], inputs: [])]
    var joinedAxes: [(id: String, names: Set<String>)] = []
    for need in needs {
      let nodes = outlooks[need]?.nodes ?? []
      let names = Set(nodes.flatMap(\.axes.names))
      let all = joinedAxes.reduce(into: Set<String>()) { $0.formUnion($1.names) }
      if !names.isEmpty, !all.isEmpty, all.isDisjoint(with: names) {
        tellDisjoint(draft, (drafts[need].id, names), joinedAxes.first { !$0.names.isEmpty })
      }
      joinedAxes.append((drafts[need].id, names))
      result = result.flatMap { combination in
        nodes.compactMap { node in
          let agrees = node.axes.allSatisfy { name, value in combination.axes[name].map { $0 == value } ?? true }
          guard agrees else { return nil }
          return LegCombination(axes: combination.axes.merging(node.axes), inputs: combination.inputs + [node.place])
        }
      }
      if result.count > Planner.mostLegs { return Array(result.prefix(Planner.mostLegs)) }
    }
    return result
  }

  private mutating func tellDisjoint(
    _ draft: StageDraft, _ one: (id: String, names: Set<String>), _ other: (id: String, names: Set<String>)?
  ) {
    let place = draft.resolved.entry["needs"]?.value.place ?? draft.resolved.place
    let words = [other, one].compactMap(\.self).map { "`\($0.id)` has \($0.names.sorted().joined(separator: ", "))" }
    reader.add(
      "E0123", "\(draft.subject) needs stages without a common matrix axis: \(words.joined(separator: ", "))",
      at: place,
      hint: "say `per: item` to take all legs of both")
  }

  /// Warns where several legs would write one path.
  mutating func warnOfSharedPath(_ draft: StageDraft, config: Config, combos: [Fields]) {
    guard combos.count > 1,
      let field = draft.resolved.spec.fields.first(where: { $0.type == .path && $0.name == "path" }),
      let path = config[field.name]
    else { return }
    var used = Set<String>()
    var source = ""
    switch path {
    case .template(let template, _):
      source = template.source
      for reference in template.references where reference.namespace == .matrix {
        guard let axis = reference.path.first else { return }
        used.insert(axis)
      }
    case .value(let value): source = value.text
    default: return
    }
    let seen = Set(combos.map { leg in Fields(names: used.sorted(), values: used.sorted().map { leg[$0] ?? .null }) })
    guard seen.count < combos.count else { return }
    let varying = combos[0].names.filter { name in !used.contains(name) && Set(combos.map { $0[name] }).count > 1 }
    reader.add(
      "W0301", "several legs of \(draft.subject) write one path: `\(source.shortened)`",
      at: (expanded(draft.resolved)[field.name] ?? draft.resolved.op.value).place,
      hint: varying.isEmpty ? nil : "put \(varying.map { "`${matrix.\($0)}`" }.joined(separator: " and ")) into it",
      severity: .warning)
  }

  /// Warns where two stages write one path that does not depend on the item.
  mutating func warnOfSamePath(_ draft: StageDraft, config: Config) {
    guard draft.resolved.spec.fields.contains(where: { $0.type == .path && $0.name == "path" }),
      let path = config.text("path"), let relative = try? RelativePath(parsing: path)
    else { return }
    let node = expanded(draft.resolved)["path"] ?? draft.resolved.op.value
    guard let first = literalPaths[relative.foldedForCollision] else {
      literalPaths[relative.foldedForCollision] = draft.id
      return
    }
    reader.add(
      "W0301", "\(draft.subject) writes the path of stage `\(first)`: `\(path.shortened)`", at: node.place,
      hint: "give one of them another path", severity: .warning)
  }
}
