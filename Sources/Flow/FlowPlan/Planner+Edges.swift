internal import FlowBase
internal import FlowManifest
internal import FlowParts
internal import FlowYAML

// Which stage takes whose results, in which order, and how often each runs.
extension Planner {
  mutating func draftStages(of entries: [ResolvedEntry]) -> [StageDraft] {
    entries.flatMap { resolved -> [StageDraft] in
      guard let part = catalog.stages[resolved.spec.name] else { return [] }
      var draft = StageDraft(
        resolved: resolved, part: part, needs: mentions("needs", in: resolved),
        after: mentions("after", in: resolved) ?? [])
      readPer(into: &draft)
      readMatrix(into: &draft)
      guard let look = part.spec.look?() else { return [draft] }
      return Planner.split(draft, look)
    }
  }

  /// A stage and the look that comes before it: the look takes the stage's edges and legs, the stage the look's result.
  private static func split(_ draft: StageDraft, _ look: StagePart) -> [StageDraft] {
    var first = draft
    first.part = look
    first.isLook = true
    first.resolved.id += ".look"
    first.resolved.spec = look.spec
    var second = draft
    second.needs = [StageDraft.Mention(id: first.id, place: draft.resolved.place)]
    second.after = []
    second.legs = [[:]]
    second.hasMatrix = false
    second.axisNames = []
    return [first, second]
  }

  private mutating func mentions(_ key: String, in resolved: ResolvedEntry) -> [StageDraft.Mention]? {
    guard let entry = resolved.entry[key] else { return nil }
    return (entry.value.elements ?? [entry.value]).compactMap { node in
      guard let id = node.scalar, !id.isEmpty else {
        reader.add("E0110", "`\(key)` is a stage's id or a list of ids, and this is \(node.kindName)", at: node.place)
        return nil
      }
      return StageDraft.Mention(id: id, place: node.place)
    }
  }

  private mutating func readPer(into draft: inout StageDraft) {
    guard let entry = draft.resolved.entry["per"] else { return }
    if let word = entry.value.scalar, let per = Per(rawValue: word), per != .group {
      draft.per = per
    } else if let entries = entry.value.entries, let group = entry.value["group"] {
      draft.per = .group
      draft.group = group
      for key in entries where key.key != "group" {
        reader.unknownKey(key, in: "per", fields: [FieldSpec("group", .condition, "")])
      }
    } else {
      let word = entry.value.scalar ?? ""
      reader.add(
        "E0110", "`per` is leg, item, run or a group, and this is \(word.isEmpty ? entry.value.kindName : "`\(word)`")",
        at: entry.value.place,
        hint: word == "group"
          ? "write `{ group: row.category }`"
          : Suggestion.nearest(to: word, among: ["leg", "item", "run"]).map { "did you mean `\($0)`?" }
            ?? "such as `item` or `{ group: row.category }`")
    }
    if let per = draft.per { checkPer(per, of: draft, at: entry.value.place) }
  }

  /// Tells of an op that cannot run as often as it is asked to.
  private mutating func checkPer(_ per: Per, of draft: StageDraft, at place: Place, because reason: String? = nil) {
    let allowed = draft.part.spec.per
    if allowed.contains(per) { return }
    reader.add(
      "E0124", "`\(draft.resolved.spec.name)` cannot run per \(per.rawValue)" + (reason.map { ": \($0)" } ?? ""),
      at: place, hint: reason == nil ? nil : "say with `needs:` which stage it takes instead",
      notes: ["it runs per \(allowed.map(\.rawValue).joined(separator: " or per "))"])
  }

  // MARK: The graph

  mutating func planEdges(_ drafts: [StageDraft]) -> Edges {
    var edges = Edges()
    edges.needs = drafts.indices.map { place in
      guard let needs = drafts[place].needs else { return place > 0 ? [place - 1] : [] }
      return places(of: needs, in: drafts, for: place, key: "needs")
    }
    edges.after = drafts.indices.map { places(of: drafts[$0].after, in: drafts, for: $0, key: "after") }
    edges.order = order(of: drafts, edges)
    decideScopes(of: drafts, &edges)
    return edges
  }

  private mutating func places(
    of mentions: [StageDraft.Mention], in drafts: [StageDraft], for place: Int, key: String
  ) -> [Int] {
    var places: [Int] = []
    for mention in mentions {
      if let found = drafts.firstIndex(where: { $0.id == mention.id }) {
        if found == place {
          reader.add(
            "E0120", "\(drafts[place].subject) \(key == "needs" ? "needs" : "comes after") itself", at: mention.place)
        } else if !places.contains(found) {
          places.append(found)
        }
      } else if !unresolvedStageIDs.contains(mention.id) {
        let ids = drafts.map(\.id)
        reader.add(
          "E0119", "there is no stage `\(mention.id)`", at: mention.place,
          hint: Suggestion.nearest(to: mention.id, among: ids).map { "did you mean `\($0)`?" },
          notes: ["stages: \(ids.joined(separator: " "))"])
      }
    }
    return places
  }

  /// The ids of stages whose op is not known; what mentions them is no mistake of its own.
  var unresolvedStageIDs: [String] {
    manifest.stages.filter { entry in !entry.candidates.contains { catalog.stages[$0.key] != nil } }.map(\.id)
  }

  /// The places in an order in which each comes after all that it waits for; of several the manifest's first goes first.
  private mutating func order(of drafts: [StageDraft], _ edges: Edges) -> [Int] {
    var order: [Int] = []
    var done = Set<Int>()
    while let next = drafts.indices.first(where: { place in
      !done.contains(place) && (edges.needs[place] + edges.after[place]).allSatisfy(done.contains)
    }) {
      order.append(next)
      done.insert(next)
    }
    let rest = drafts.indices.filter { !done.contains($0) }
    if !rest.isEmpty { tellCycle(among: rest, of: drafts, edges) }
    return order
  }

  private mutating func tellCycle(among rest: [Int], of drafts: [StageDraft], _ edges: Edges) {
    // Going back from stage to stage must come round, because each of these waits for another of them.
    var path = [rest[0]]
    var cycle: [Int] = []
    while cycle.isEmpty, let last = path.last {
      guard let before = (edges.needs[last] + edges.after[last]).first(where: rest.contains) else { return }
      if let start = path.firstIndex(of: before) { cycle = Array(path[start...]) } else { path.append(before) }
    }
    let first = cycle.min() ?? rest[0]
    let names = (cycle + [cycle[0]]).map { "`\(drafts[$0].id)`" }
    reader.add(
      "E0120", "the stages wait for each other: \(names.joined(separator: " waits for "))",
      at: drafts[first].resolved.place, hint: "take one of them out of `needs:` or `after:`")
    for place in rest where !cycle.contains(place) {
      reader.add(
        "E0121", "nothing reaches \(drafts[place].subject), since what it waits for is in a circle",
        at: drafts[place].resolved.place)
    }
  }

  // MARK: How often

  private mutating func decideScopes(of drafts: [StageDraft], _ edges: inout Edges) {
    edges.per = Array(repeating: .leg, count: drafts.count)
    edges.groupOwner = Array(repeating: nil, count: drafts.count)
    for place in edges.order {
      let draft = drafts[place]
      let widest = edges.needs[place].max { edges.per[$0].width < edges.per[$1].width }
      let inherited = widest.map { edges.per[$0] }.flatMap { $0.width > Per.item.width ? $0 : nil }
      let own = draft.per ?? draft.part.spec.per.first.flatMap { $0.width > Per.item.width ? $0 : nil }
      let wanted = own ?? inherited ?? .leg
      // What the op cannot do is told once; what follows is looked at as if it had not been asked for.
      let allowed = draft.part.spec.per
      let per = allowed.contains(wanted) ? wanted : allowed.first ?? .leg
      edges.per[place] = per
      if per == .group {
        edges.groupOwner[place] = draft.group == nil ? widest.flatMap { edges.groupOwner[$0] } : place
      }
      if let widest, let inherited {
        checkStep(
          from: drafts[widest], inherited, to: draft, wanted, isDeclared: own != nil, widest: widest, edges: edges,
          drafts: drafts)
      }
    }
  }

  private mutating func checkStep(
    from parent: StageDraft, _ above: Per, to draft: StageDraft, _ per: Per, isDeclared: Bool, widest: Int,
    edges: Edges, drafts: [StageDraft]
  ) {
    let place = draft.resolved.entry["per"]?.value.place ?? draft.resolved.place
    if !isDeclared {
      checkPer(
        per, of: draft, at: draft.resolved.place, because: "it needs `\(parent.id)`, which runs per \(above.rawValue)")
      return
    }
    guard per.width >= above.width else {
      reader.add(
        "E0124",
        "\(draft.subject) runs per \(per.rawValue), and needs `\(parent.id)`, which runs per \(above.rawValue)",
        at: place, notes: ["behind a stage per \(above.rawValue) there are no single \(per.rawValue)s any more"])
      return
    }
    if per == .group, let mine = draft.group?.scalar, let owner = edges.groupOwner[widest],
      let theirs = drafts[owner].group?.scalar, mine != theirs
    {
      reader.add(
        "E0124", "\(draft.subject) groups by `\(mine)`, and needs `\(parent.id)`, which groups by `\(theirs)`",
        at: place)
    }
  }
}

extension Per {
  /// How many items it stands for: the wider, the more.
  var width: Int {
    switch self {
    case .leg: 0
    case .item: 1
    case .group: 2
    case .run: 3
    }
  }
}
