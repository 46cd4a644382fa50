import FlowBase
import FlowEvents
import FlowParts
import FlowPlan
import FlowStore

/// What stages that gather read and write.
extension RunStore {
  /// How many results a stage per run works on.
  func resultCount(stage: Int) throws(Fault) -> Int {
    var reader = GatheringPages(store: self, stage: stage, group: nil, everything: false)
    var count = 0
    while true {
      let page = try reader.page(1024)
      if page.isEmpty { return count }
      count += page.count
    }
  }

  /// The groups of a stage behind a given one, with the number of their members.
  func groups(stage: Int, after last: String?, limit: Int) throws(Fault) -> [(group: String, count: Int)] {
    try read { (reader) throws(Fault) in
      try reader.groups(ofBarrier: barrierNumber(stage), run: run, since: gathersSince, after: last, limit: limit)
    }
  }

  /// The members of a group or of the run, page by page.
  func members(stage: Int, group: String?, everything: Bool) -> any GatheringReader {
    GatheringPages(store: self, stage: stage, group: group, everything: everything)
  }

  /// The digest of all that a stage's result depends on: its configuration and the sorted list of (item, digest).
  func gatheringDigest(stage: Int, group: String?, count: Int, config: Config) throws(Fault) -> [UInt8] {
    let stream = DigestStream()
    let planned = plan.stages[stage]
    stream.update(Array("\(planned.op) \(planned.part.spec.version) \(config.canonical) \(count)\n".utf8))
    var reader = GatheringPages(store: self, stage: stage, group: group, everything: true)
    while true {
      let page = try reader.page(512)
      if page.isEmpty { return stream.finish().bytes }
      for member in page {
        var line = "\(member.leg.item.name) \(member.stage) \(member.status)"
        for output in member.outputs { line += " \(output.path) \(output.sha256)" }
        if case .file(let file) = member.leg.content { line += " \(file.sha256.hex)" }
        if let fault = member.fault { line += " \(fault.code)" }
        line += " " + Value.map(member.leg.fields).text
        for said in [member.leg.item.fields, member.leg.item.row, member.leg.item.loop] {
          line += " " + Value.map(said).text
        }
        line += " \(member.leg.item.index) \(member.leg.item.url ?? "")\n"
        stream.update(Array(line.utf8))
      }
    }
  }

  /// What a stage published last, where it worked on the same and its files are still there.
  func reusableBarrier(stage: Int, group: String?, digest: [UInt8]) throws(Fault) -> [OutputFact]? {
    try read { (reader) throws(Fault) in
      guard let known = try reader.barrier(barrierNumber(stage), group: group ?? ""), known.digest == digest,
        known.status == .ok
      else { return nil }
      // What it made under another name before is not what it made last.
      let outputs = try reader.outputs(ofBarrier: barrierNumber(stage), group: group ?? "").filter {
        $0.run == known.run
      }
      // A stage that has published nothing has done something else, which cannot be seen to be still done.
      guard !outputs.isEmpty, areUnchanged(outputs) else { return nil }
      return outputs.map { output(of: $0) }
    }
  }

  /// Whether this run has worked on a group already.
  func isDone(stage: Int, group: String) throws(Fault) -> Bool {
    try read { (reader) throws(Fault) in
      try reader.barrier(barrierNumber(stage), group: group)?.run == run
    }
  }

  func recordBarrier(stage: Int, group: String?, digest: [UInt8], outputs: [OutputFact], fault: Fault?)
    async throws(Fault)
  {
    try await perform(
      .barrier(
        BarrierRecord(
          node: barrierNumber(stage), group: group ?? "", digest: digest, status: fault == nil ? .ok : .failed,
          run: run, fault: fault, paths: fault == nil ? outputs.map(\.path) : nil)))
  }

  /// The journal's numbers of the nodes whose results a stage that gathers works on, in the order of the plan.
  func needed(by stage: Int) -> [Int] {
    plan.nodes.indices.filter {
      plan.stages[stage].needs.contains(plan.nodes[$0].stage) && !plan.stages[plan.nodes[$0].stage].scope.isBarrier
    }.map { nodeNumbers[$0] }
  }

  /// The plan's node of a number of the journal.
  func node(of number: Int) -> Int? { nodeNumbers.firstIndex(of: number) }

  /// The journal's number of one of the plan's sources.
  func number(ofSource source: Int) -> Int { sourceNumbers[source] }

  /// The journal's number of one of the plan's nodes.
  func number(ofNode node: Int) -> Int { nodeNumbers[node] }

  func barrierNumber(_ stage: Int) -> Int { barrierNumbers[stage] }
  func sourceName(_ number: Int) -> String {
    sourceNumbers.firstIndex(of: number).map { plan.sources[$0].id } ?? ""
  }

  func output(of record: OutputRecord) -> OutputFact {
    OutputFact(path: record.path, bytes: record.bytes, sha256: record.sha256.hex, media: record.media)
  }

  /// Whether the files that a stage published last are still there unchanged.
  func areUnchanged(_ outputs: [OutputRecord]) -> Bool {
    outputs.allSatisfy {
      switch try? tree.condition(of: $0, by: check) {
      case .unchanged, .touched: true
      default: false
      }
    }
  }
}

/// Hands out what a stage works on, read from the journal page by page.
private struct GatheringPages: GatheringReader {
  let store: RunStore
  let stage: Int
  let group: String?
  let everything: Bool
  private var cursor = PlaceCursor.start
  private var spare: [Gathering.Member] = []

  init(store: RunStore, stage: Int, group: String?, everything: Bool) {
    self.store = store
    self.stage = stage
    self.group = group
    self.everything = everything
  }

  mutating func next(upTo count: Int) async throws -> [Gathering.Member] {
    if spare.isEmpty { spare = try page(256) }
    let batch = Array(spare.prefix(count))
    spare.removeFirst(batch.count)
    return batch
  }

  mutating func page(_ limit: Int) throws(Fault) -> [Gathering.Member] {
    while true {
      let items = try store.read { [cursor] (reader) throws(Fault) in
        guard let group else {
          return try reader.gathered(
            nodes: store.needed(by: stage), run: store.run, since: store.gathersSince, everything: everything,
            after: cursor, limit: limit)
        }
        return try reader.members(
          ofBarrier: store.barrierNumber(stage), group: group, run: store.run, since: store.gathersSince, after: cursor,
          limit: limit)
      }
      guard let last = items.last else { return [] }
      cursor = last.cursor
      var page: [Gathering.Member] = []
      for item in items { page += try members(of: item) }
      if !page.isEmpty { return page }
    }
  }

  private func members(of gathered: GatheredItem) throws(Fault) -> [Gathering.Member] {
    guard var item = try gathered.item.facts.fields()["item"].flatMap(ItemCodec.decode) else { return [] }
    item.index = gathered.item.index
    let status = gathered.item.status.name
    var made: [Gathering.Member] = []
    for result in gathered.results {
      if let member = try member(of: item, result, gathered.outputs) { made.append(member) }
    }
    if !made.isEmpty || !everything { return made }
    return [
      Gathering.Member(leg: Leg(item: item, fields: item.fields), stage: "", status: status, fault: gathered.item.fault)
    ]
  }

  private func member(of item: Item, _ result: ResultRecord, _ outputs: [OutputRecord]) throws(Fault)
    -> Gathering.Member?
  {
    guard let node = store.node(of: result.node) else { return nil }
    let stored = try result.fields.fields()
    var leg = Leg(item: item, axes: store.plan.nodes[node].axes, fields: stored["fields"]?.asMap ?? [:])
    let facts = (stored["outputs"]?.asList ?? []).compactMap { ItemCodec.decodeOutput($0) }
    if let kept = result.kept {
      leg.content = .file(store.held(path: store.temporaryPath(kept.name), bytes: kept.bytes, sha256: kept.sha256))
    } else if let output = outputs.first(where: { $0.owner.node == result.node }) {
      leg.content = .file(
        store.held(path: store.absolute(output.path), bytes: output.bytes, sha256: output.sha256))
    }
    return Gathering.Member(leg: leg, stage: store.plan.stages[store.plan.nodes[node].stage].id, outputs: facts)
  }
}

extension RunStore {
  /// What a stage has found of the items that earlier runs have finished, and whose files are where they were.
  func remembered(of stage: String) -> any GatheringReader {
    guard !isFresh else { return NothingGathered() }
    let nodes = plan.nodes.indices.filter { plan.stages[plan.nodes[$0].stage].id == stage }
    return RememberedPages(store: self, stage: stage, nodes: nodes.map { number(ofNode: $0) })
  }
}

/// Hands out what a stage has found in earlier runs, page by page.
private struct RememberedPages: GatheringReader {
  let store: RunStore
  let stage: String
  let nodes: [Int]
  private var last: (item: Int, node: Int) = (0, 0)
  private var names: [Int: String] = [:]

  init(store: RunStore, stage: String, nodes: [Int]) {
    self.store = store
    self.stage = stage
    self.nodes = nodes
  }

  mutating func next(upTo count: Int) async throws -> [Gathering.Member] {
    if names.isEmpty { names = try store.read { (reader) throws(Fault) in try reader.sourceNames() } }
    while true {
      let (page, there) = try store.read { [last, nodes] (reader) throws(Fault) in
        let page = try reader.remembered(nodes: nodes, after: last, limit: count)
        return (page, store.standIns.haveTheirFiles(page.map(\.item), in: reader))
      }
      guard let end = page.last else { return [] }
      last = (end.result.item, end.result.node)
      let members = try zip(page, there).compactMap { (found, isThere) -> Gathering.Member? in
        guard isThere, let node = store.node(of: found.result.node), let source = names[found.item.source] else {
          return nil
        }
        let item = Item(source: source, key: found.item.key, index: found.item.index, url: found.item.url)
        let fields = try found.result.fields.fields()["fields"]?.asMap ?? [:]
        return Gathering.Member(
          leg: Leg(item: item, axes: store.plan.nodes[node].axes, fields: fields), stage: stage)
      }
      if !members.isEmpty { return members }
    }
  }
}
