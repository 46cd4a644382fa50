internal import FlowBase
internal import FlowExpressions
internal import FlowManifest
internal import FlowParts
internal import FlowYAML

/// What is known behind a stage.
struct StageOutlook {
  /// The fields of items, by name.
  var fields: [String: ValueType]
  /// Whether items may have fields that nobody can tell beforehand.
  var isOpen = false
  /// The names of the axes, there also where there is no leg.
  var axisNames: Set<String> = []
  /// The nodes, as places in the plan's list, with their axes.
  var nodes: [(place: Int, axes: Fields)]
}

// Stages with their typed configuration, and their nodes.
extension Planner {
  mutating func buildStages(
    _ drafts: [StageDraft], edges: Edges, sources: [DraftSource]
  ) -> (stages: [PlannedStage], nodes: [PlannedNode]) {
    var stages: [PlannedStage] = []
    var nodes: [PlannedNode] = []
    var outlooks: [Int: StageOutlook] = [:]
    var positions: [Int: Int] = [:]
    let ground = Ground(sources: sources)
    for place in edges.order {
      let draft = drafts[place]
      let needs = edges.needs[place].filter { outlooks[$0] != nil }
      let combos = joinLegs(of: draft, per: edges.per[place], needs: needs, drafts: drafts, outlooks: outlooks)
      let types = self.types(
        of: draft, per: edges.per[place], needs: needs, drafts: drafts, outlooks: outlooks, ground: ground,
        axes: combos.map(\.axes))
      let told = reader.diagnostics
      var stage = PlannedStage(id: draft.id, op: draft.resolved.spec.name, part: draft.part)
      stage.place = draft.resolved.place
      stage.needs = edges.needs[place].compactMap { positions[$0] }
      stage.after = edges.after[place].compactMap { positions[$0] }
      stage.scope = scope(of: place, drafts: drafts, edges: edges, types: types.inner)
      stage.legs = draft.legs
      readEngineKeys(of: draft, into: &stage, types: types.place)
      let config = readConfig(of: draft.resolved, types: types.place)
      meetAddresses(in: expanded(draft.resolved), fields: draft.resolved.spec.fields)
      checkPaths(in: expanded(draft.resolved), fields: draft.resolved.spec.fields)
      checkReads(of: draft, types: types.place)
      if draft.isLook { reader.diagnostics = told }
      switch draft.part.spec.order(config) {
      case .any: break
      case .listed: stage.isOrdered = true
      case .complete: stage.after += stage.needs
      }
      let position = stages.count
      var outlook = StageOutlook(fields: types.inner.item ?? [:], nodes: [])
      for field in draft.resolved.spec.sets(config) { outlook.fields[field.name] = field.type }
      if stage.onError == .useInput { outlook.fields["errors"] = .map }
      outlook.isOpen = types.inner.isOpen || draft.resolved.spec.isOpen(config)
      outlook.axisNames = Set(types.inner.axes?.keys.map(\.self) ?? [])
      for combo in combos {
        let resolved = resolve(config, on: combo.axes, of: draft)
        outlook.nodes.append((nodes.count, combo.axes))
        nodes.append(PlannedNode(stage: position, axes: combo.axes, config: resolved, inputs: combo.inputs))
      }
      let legs = combos.isEmpty ? [config] : nodes.suffix(combos.count).map(\.config)
      checkPart(draft.resolved, legs)
      warnOfSharedPath(draft, config: config, combos: combos.map(\.axes))
      warnOfSamePath(draft, config: config)
      stages.append(stage)
      positions[place] = position
      outlooks[place] = outlook
    }
    Planner.fuse(&stages, nodes)
    return (stages, nodes)
  }

  /// What all sources together say of items.
  struct Ground {
    var row = ColumnTypes()
    var loop = ColumnTypes(names: [])
    var item = Planner.sourceFields

    init(sources: [DraftSource]) {
      guard let first = sources.first else { return }
      row = sources.dropFirst().reduce(first.row) { $0.joined(with: $1.row) }
      loop = sources.dropFirst().reduce(first.loop) { $0.joined(with: $1.loop) }
      for source in sources {
        for (name, type) in source.item { item[name] = item[name].map { [$0, type].common } ?? type }
      }
    }
  }

  private func types(
    of draft: StageDraft, per: Per, needs: [Int], drafts: [StageDraft], outlooks: [Int: StageOutlook], ground: Ground,
    axes: [Fields]
  ) -> (place: PlaceTypes, inner: PlaceTypes) {
    var types = loadTypes(draft.subject)
    var item = needs.isEmpty ? ground.item : [:]
    for need in needs { item.merge(outlooks[need]?.fields ?? [:]) { [$0, $1].common } }
    types.item = item
    types.row = ground.row
    types.loop = ground.loop
    types.axes = [:]
    let inherited = per == .leg ? needs.flatMap { Array(outlooks[$0]?.axisNames ?? []) } : []
    for name in inherited + draft.axisNames { types.axes?[name] = .any }
    for name in Set(axes.flatMap(\.names)) { types.axes?[name] = axes.compactMap { $0[name]?.type }.common }
    types.from = [:]
    for need in needs { types.from?[drafts[need].id] = outlooks[need]?.fields }
    types.hasOut = draft.resolved.spec.runsProgram
    types.isOpen = !unresolvedStageIDs.isEmpty || needs.contains { outlooks[$0]?.isOpen ?? false }
    types.line = draft.resolved.entry.node.mark.line
    let stageSpecs = catalog.specs(for: .stage)
    types.setters = { field in
      let setting = stageSpecs.filter { $0.sets(Config()).contains { $0.name == field } }
      // What can stand bare is the easiest remedy.
      return
        (setting.filter { !$0.fields.contains(where: \.isRequired) }
        + setting.filter { $0.fields.contains(where: \.isRequired) }).map(\.name)
    }
    guard per == .group || per == .run else { return (types, types) }
    var barrier = types
    barrier.item = nil
    barrier.row = nil
    barrier.loop = nil
    barrier.from = nil
    barrier.hasGroup = per == .group
    barrier.hasRun = true
    barrier.absence = per == .run ? "it runs once for the whole run" : "it runs once for each group"
    return (barrier, types)
  }

  private mutating func scope(
    of place: Int, drafts: [StageDraft], edges: Edges, types: PlaceTypes
  ) -> PlannedStage.Scope {
    switch edges.per[place] {
    case .leg: return .leg
    case .item: return .item
    case .run: return .run
    case .group:
      guard let owner = edges.groupOwner[place], let node = drafts[owner].group else { return .run }
      var site = ConfigReader.Site(name: "group", owner: drafts[place].id, types: types)
      site.types.subject = "the group of \(drafts[place].subject)"
      // An inherited expression has been told of where it was written.
      let before = reader.diagnostics
      let expression = reader.expression(node, at: site)
      if owner != place { reader.diagnostics = before }
      return expression.map(PlannedStage.Scope.group) ?? .run
    }
  }

  /// Tells what the part itself finds wrong with its configuration, or with that of one of its legs.
  ///
  /// A part would miss what stands in the manifest and was refused; so it is asked once all of it can be read.
  mutating func checkPart(_ resolved: ResolvedEntry, _ configs: [Config]) {
    guard inputs.checksFiles, !misread.contains(resolved.place) else { return }
    var told: Set<String> = []
    for problem in configs.flatMap({ resolved.spec.check($0, inputs.folder) }) where told.insert(problem).inserted {
      reader.add("E0130", problem, at: resolved.op.value.place)
    }
  }

  private mutating func checkReads(of draft: StageDraft, types: PlaceTypes) {
    guard types.item != nil else { return }
    for name in draft.resolved.spec.reads {
      if case .unknown(let code, _, let hint, let notes) = types.resolve(Reference(.item, [name])) {
        reader.add(
          code, "`\(draft.resolved.spec.name)` needs `item.\(name)`, which is not set before \(draft.subject)",
          at: draft.resolved.place, hint: hint, notes: notes)
      }
    }
  }

  private mutating func resolve(_ config: Config, on axes: Fields, of draft: StageDraft) -> Config {
    guard !axes.isEmpty else { return config }
    let place = (draft.resolved.entry["matrix"]?.value ?? draft.resolved.op.value).place
    do {
      return try config.resolved(in: AxesScope(axes: axes))
    } catch {
      if reader.diagnostics.contains(where: { $0.code == "E0127" && $0.place == place }) { return config }
      let leg = axes.map { "\($0.0): \($0.1.text)" }.joined(separator: ", ")
      reader.add("E0127", "on the leg { \(leg) }: \(error.message)", at: place)
      return config
    }
  }
}

/// `matrix.*` of one leg.
struct AxesScope: Scope {
  var axes: Fields

  func value(of reference: Reference) -> Value? {
    guard reference.namespace == .matrix else { return nil }
    return Value.map(axes).following(reference.path[...])
  }
}
