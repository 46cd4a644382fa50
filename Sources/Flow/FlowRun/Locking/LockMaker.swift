public import FlowBase
internal import FlowEvents
internal import FlowParts
public import FlowPlan
internal import FlowStore

/// Writes down what a manifest's items are now: out of the lock and the journal where these know it, else fetched.
public struct LockMaker: Sendable {
  /// A lock, and where its entries came from.
  public struct Made: Sendable {
    /// The lock.
    public var lock: LockFile
    /// How many items were fetched for it.
    public var fetched: Int
    /// How the fetching ended.
    public var outcome: RunOutcome
  }

  private let plan: Plan
  private let old: LockFile?
  private let renews: @Sendable (String) -> Bool

  /// A maker for a plan.
  ///
  /// - Parameters:
  ///   - old: the lock that there is.
  ///   - renews: whether an item, `source/key`, is fetched whatever is known of it.
  public init(_ plan: Plan, old: LockFile? = nil, renews: @escaping @Sendable (String) -> Bool = { _ in false }) {
    self.plan = plan
    self.old = old
    self.renews = renews
  }

  /// Makes the lock; what it fetches goes to the content store if there is one, and is removed else.
  public func make(tool: String, prepare: (Runner) -> Void = { _ in }) async throws -> Made {
    guard let fetching = plan.fetching else {
      throw Fault("lock.nothing", .config, "no stage of the manifest fetches anything, so there is nothing to lock")
    }
    let known = try KnownDigests(plan)
    let collected = Guarded(LockFile())
    var options = RunOptions()
    options.tool = tool
    let (old, renews) = (fetching.filters ? nil : old, renews)
    options.admits = { item in
      guard !renews(item.name) else { return true }
      let address = LockFile.address(of: item)
      var entry = old?.entries[item.name].flatMap { $0.url == address ? $0 : nil }
      if entry == nil { entry = known.entry(of: item) }
      guard let entry else { return true }
      collected.withLock { $0.set(entry) }
      return false
    }
    let runner = Runner(fetching.plan, options: options)
    prepare(runner)
    let folder = StateFolder(directory: fetching.plan.state.folder, stem: fetching.plan.state.stem)
    let outcome = await runner.run()
    var lock = collected.withLock { $0 }
    var fetched = 0
    if outcome.exit != .held {
      if outcome.exit == .done {
        for entry in try KnownDigests(fetching.plan).all() {
          lock.set(entry)
          fetched += 1
        }
      }
      try? FileSystem.removeTree(folder.path)
    }
    return Made(lock: lock, fetched: fetched, outcome: outcome)
  }
}

extension LockMaker {
  /// What of the items that earlier runs have fetched is not as locked; what was never fetched is no difference.
  public static func differences(of plan: Plan, from lock: LockFile) throws(Fault) -> [LockDifference] {
    var lockGuard = LockGuard(lock)
    for entry in try KnownDigests(plan).all() {
      do throws(LockDifference) {
        _ = try lockGuard.entry(for: entry.name, url: entry.url)
        _ = lockGuard.compare(entry.name, digest: entry.digest, size: entry.size)
      } catch { continue }
    }
    return lockGuard.differences
  }
}

/// What a journal knows of fetched bytes.
private final class KnownDigests: Sendable {
  private let reader: JournalReader?
  private let sources: [String: Int]
  /// The nodes that fetch items first: of sources, and such as stages have made.
  private let nodes: [Int]
  private let locksMade: Bool
  private let fingerprints: Fingerprints

  init(_ plan: Plan) throws(Fault) {
    fingerprints = Fingerprints(plan)
    let nodesOfMade = plan.lockNodesOfMade.values.sorted()
    locksMade = !nodesOfMade.isEmpty
    let folder = StateFolder(directory: plan.state.folder, stem: plan.state.stem)
    guard folder.exists, let lockNode = plan.lockNode else {
      (reader, sources, nodes) = (nil, [:], [])
      return
    }
    let reader = try JournalReader(path: folder.journal)
    sources = Dictionary(try reader.sourceNames().map { ($0.value, $0.key) }) { first, _ in first }
    let names = try reader.nodeNames()
    var nodes: [Int] = []
    for lockNode in [lockNode] + nodesOfMade {
      let wanted = plan.nodes[lockNode]
      let leg = Value.map(wanted.axes).text
      guard let number = names.first(where: { $0.value == (plan.stages[wanted.stage].id, leg) })?.key,
        !nodes.contains(number)
      else { continue }
      nodes.append(number)
    }
    self.nodes = nodes
    self.reader = reader
  }

  /// What is known of an item that is as it was.
  func entry(of item: Item) -> LockFile.Entry? {
    guard let reader, let source = sources[item.source], let known = try? reader.item(source: source, key: item.key),
      known.status == .ok || known.status == .filtered,
      Array(known.fingerprint.prefix(16)) == fingerprints.input(of: item),
      // What was made of it may be locked as well, and only who made it knows its address.
      !locksMade || (try? StoredItem(known).made.isEmpty) == true
    else { return nil }
    return entry(known, item.source, url: LockFile.address(of: item))
  }

  /// All that the last run over everything has seen.
  func all() throws(Fault) -> [LockFile.Entry] {
    guard let reader else { return [] }
    let complete = try reader.lastCompleteRun() ?? 0
    var entries: [LockFile.Entry] = []
    var last = 0
    while true {
      let page = try reader.items(JournalReader.ItemFilter(status: .ok), after: last, limit: 512)
      guard let end = page.last else { return entries }
      last = end.id
      for item in page where item.run >= complete {
        guard let source = sources.first(where: { $0.value == item.source })?.key,
          let entry = entry(item, source, url: item.url)
        else { continue }
        entries.append(entry)
      }
    }
  }

  private func entry(_ item: ItemRecord, _ source: String, url: String?) -> LockFile.Entry? {
    guard let reader else { return nil }
    let found = nodes.lazy.compactMap { node in
      (try? reader.result(of: item.id, node: node)).flatMap(RunStore.fields)
    }
    guard let fields = found.first(where: { $0["sha256"] != nil }),
      let digest = fields["sha256"]?.asString.flatMap({ Digest(.sha256, parsing: $0) }),
      let size = fields["bytes"]?.asInt
    else { return nil }
    return LockFile.Entry(
      source: source, key: item.key, url: url, digest: digest, size: size, media: fields["media"]?.asString,
      etag: fields["etag"]?.asString, finalURL: fields["final_url"]?.asString.map { Redaction.url($0) })
  }
}

extension Plan {
  /// The plan with nothing but its fetching stages and those before them, and whether one of these may drop items; nil
  /// where nothing fetches.
  fileprivate var fetching: (plan: Plan, filters: Bool)? {
    var kept = Set(stages.indices.filter { stages[$0].op == "fetch" && !stages[$0].scope.isBarrier })
    guard !kept.isEmpty else { return nil }
    // Stages stand behind all that they need, so one look from the end is enough.
    for place in stages.indices.reversed() where kept.contains(place) { kept.formUnion(stages[place].needs) }
    let order = kept.sorted()
    let places = Dictionary(uniqueKeysWithValues: zip(order, order.indices))
    var plan = self
    plan.stages = order.map { old in
      var stage = stages[old]
      stage.needs = stage.needs.compactMap { places[$0] }
      stage.after = stage.after.compactMap { places[$0] }
      stage.isFused = false
      return stage
    }
    let nodeOrder = nodes.indices.filter { kept.contains(nodes[$0].stage) }
    let nodePlaces = Dictionary(uniqueKeysWithValues: zip(nodeOrder, nodeOrder.indices))
    plan.nodes = nodeOrder.map { old in
      var node = nodes[old]
      node.stage = places[node.stage] ?? 0
      node.inputs = node.inputs.compactMap { nodePlaces[$0] }
      return node
    }
    plan.sinks = []
    plan.failIf = nil
    plan.stopIf = nil
    plan.state.folder = PathText.join(state.folder, state.stem)
    plan.state.stem = "locking"
    plan.state.durability = .process
    plan.settings.outputFolder = plan.state.folder + "/locking/out"
    return (plan, plan.stages.contains { $0.op != "fetch" && $0.op != "set" })
  }
}
