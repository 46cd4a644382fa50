internal import FlowBase
internal import FlowEvents
internal import FlowGraph
internal import FlowParts
public import FlowPlan
internal import FlowStore

/// Reads the sources and the journal, and says what a run would do; changes nothing, and asks nobody unless told to.
public struct Forecaster: Sendable {
  private let plan: Plan
  private let options: RunOptions
  private let fingerprints: Fingerprints
  /// The item whose bytes are looked for as well.
  public var explained: String?

  /// A forecaster of a plan.
  public init(_ plan: Plan, options: RunOptions = RunOptions()) {
    self.plan = plan
    self.options = options
    fingerprints = Fingerprints(plan)
  }

  /// Makes the forecast, and shows each item as it is looked at.
  ///
  /// Where it is to go online, it asks for the lengths of what would be fetched, and fetches nothing.
  public func forecast(
    online: Bool = false, _ show: (Forecast.ItemOutlook) -> Void = { _ in }
  ) async throws -> Forecast {
    var forecast = Forecast()
    let past = try Past(plan, options)
    let look = online ? OnlineLook(plan, options) : nil
    defer { look?.close() }
    if online { forecast.online = Forecast.OnlineOutlook() }
    var tally = Tally()
    for source in plan.sources where options.only.isEmpty || options.only.contains(source.id) {
      try await read(source, past, look, &forecast, &tally, show)
    }
    finish(&forecast, tally, past)
    return forecast
  }

  /// What is gathered while the items go by.
  private struct Tally {
    var reasons: [String: Int] = [:]
    var hosts: [String: Int] = [:]
  }

  private func read(
    _ source: PlannedSource, _ past: Past, _ look: OnlineLook?, _ forecast: inout Forecast, _ tally: inout Tally,
    _ show: (Forecast.ItemOutlook) -> Void
  ) async throws {
    var outlook = Forecast.SourceOutlook(id: source.id, items: 0, broken: 0)
    let (letters, post) = AsyncStream<SourceFeed.Letter>.makeStream(bufferingPolicy: .unbounded)
    let (demands, demand) = AsyncStream<Int>.makeStream()
    let feed = SourceFeed(
      source: source, folder: plan.settings.folder, share: plan.sample, tell: { _ in }, post: { post.yield($0) })
    let task = Task {
      await feed.serve(demands)
      post.finish()
    }
    defer { task.cancel() }
    var seen = Set<String>()
    let limit = options.take ?? plan.take ?? .max
    var outstanding = 0
    demand.yield(512)
    outstanding = 512
    reading: for await letter in letters {
      switch letter {
      case .opened: break
      case .failed(let fault) where fault.code == "source.elsewhere":
        outlook.isElsewhere = true
        break reading
      case .failed(let fault): throw fault
      case .refused(let diagnostic): throw diagnostic
      case .ended: break reading
      case .items(let items):
        outstanding -= items.count
        var unsized: [Item] = []
        for prepared in items {
          if forecast.items >= limit { break }
          guard seen.insert(prepared.item.key).inserted else { continue }
          if let filter = options.failedOnly, !past.hasFailed(prepared.item, filter) { continue }
          outlook.items += 1
          if prepared.fault != nil { outlook.broken += 1 }
          if note(prepared, outlook.items, past, &forecast, &tally, show), prepared.fault == nil {
            var item = prepared.item
            item.index = outlook.items
            item.fields["index"] = .int(item.index)
            unsized.append(item)
          }
        }
        if let look { take(in: await look.ask(unsized), &forecast) }
        if forecast.items >= limit { break reading }
        if outstanding <= 256 {
          demand.yield(512)
          outstanding += 512
        }
      }
    }
    demand.finish()
    forecast.sources.append(outlook)
  }

  private func take(in answers: [OnlineLook.Answer], _ forecast: inout Forecast) {
    for answer in answers {
      switch answer {
      case .nothingToAsk: continue
      case .seen(let sighting):
        forecast.online?.found += 1
        if let bytes = sighting.bytes {
          forecast.add(bytes: bytes)
          forecast.unknownSizes -= 1
        }
      case .failed(let fault): forecast.online?.failures[fault.code, default: 0] += 1
      }
      forecast.online?.asked += 1
    }
  }

  /// Counts an item; true where there is work whose size nobody has named.
  private func note(
    _ prepared: PreparedItem, _ index: Int, _ past: Past, _ forecast: inout Forecast, _ tally: inout Tally,
    _ show: (Forecast.ItemOutlook) -> Void
  ) -> Bool {
    forecast.items += 1
    let item = prepared.item
    let reason = prepared.fault.map { "no good: \($0.message)" } ?? past.reason(for: item, at: index, fingerprints)
    if let reason {
      tally.reasons[prepared.fault == nil ? reason : "no good", default: 0] += 1
      if let url = item.url, let address = try? WebAddress(parsing: url) {
        tally.hosts[address.hostAndPort, default: 0] += 1
      }
      if let size = item.expected.size { forecast.add(bytes: size) } else { forecast.unknownSizes += 1 }
    } else {
      forecast.done += 1
    }
    if reason != nil, prepared.fault == nil { past.overwrites.look(at: item, &forecast.overwrites) }
    var outlook = Forecast.ItemOutlook(name: item.name, url: item.url.map { Redaction.url($0) }, reason: reason)
    if reason != nil, item.name == explained || item.name.hasSuffix("/\(explained ?? "/")") {
      outlook.bytes = past.bytes(of: item, at: index, fingerprints)
    }
    show(outlook)
    return reason != nil && item.expected.size == nil
  }

  private func finish(_ forecast: inout Forecast, _ tally: Tally, _ past: Past) {
    forecast.reasons = tally.reasons.map { ($0.key, $0.value) }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    forecast.hosts = tally.hosts.map { host, count in
      let limits = plan.settings.hosts.limits(of: host, defaultConnections: options.hostConnections)
      let spacing =
        limits.spacing > 0 ? Interval(nanoseconds: limits.spacing.multipliedSaturating(by: max(0, count - 1))) : nil
      return Forecast.HostOutlook(
        host: host, requests: count, connections: limits.connections, leastTime: spacing)
    }.sorted { ($1.requests, $0.host) < ($0.requests, $1.host) }
    let toRun = forecast.items - forecast.done
    var isBound = Set<Int>()
    for (place, stage) in plan.stages.enumerated() {
      let legs = plan.nodes.count { $0.stage == place }
      let decides = stage.op == "filter" || stage.onError == .drop
      let follows = stage.needs.contains { isBound.contains($0) }
      if decides || follows { isBound.insert(place) }
      switch stage.scope {
      case .leg, .item:
        forecast.stages.append(
          Forecast.StageOutlook(
            id: stage.id, op: stage.op, operations: forecast.items * legs, toRun: toRun * legs,
            done: forecast.done * legs, isUpperBound: follows))
      case .run:
        forecast.stages.append(
          Forecast.StageOutlook(
            id: stage.id, op: stage.op, operations: 1, toRun: nil, done: nil, isUpperBound: false))
      case .group:
        forecast.stages.append(
          Forecast.StageOutlook(
            id: stage.id, op: stage.op, operations: nil, toRun: nil, done: nil, isUpperBound: false))
      }
    }
    (forecast.orphans, forecast.orphanCount) = past.orphans()
  }
}

/// What earlier runs have left.
private struct Past {
  private let plan: Plan
  private let options: RunOptions
  private let reader: JournalReader?
  private let tree: OutputTree?
  private let sources: [String: Int]
  private let changes: String?
  private let standIns: StandIns?
  let overwrites: Overwrites

  init(_ plan: Plan, _ options: RunOptions) throws(Fault) {
    self.plan = plan
    self.options = options
    let folder = StateFolder(directory: plan.state.folder, stem: plan.state.stem)
    tree = SmallFiles.isFolder(plan.settings.outputFolder) ? try OutputTree(root: plan.settings.outputFolder) : nil
    guard folder.exists else {
      (reader, sources, changes, standIns) = (nil, [:], nil, nil)
      overwrites = Overwrites(plan, tree: tree, reader: nil)
      return
    }
    let reader = try JournalReader(path: folder.journal)
    self.reader = reader
    overwrites = Overwrites(plan, tree: tree, reader: reader)
    sources = Dictionary(try reader.sourceNames().map { ($0.value, $0.key) }) { first, _ in first }
    standIns = try StandIns(plan, reader, tree: tree)
    changes = PlanMemory.changes(from: try reader.lastRun()?.facts ?? [:], to: plan)
  }

  /// Whether an item, or one that was made of it, failed last time in a way that is asked for.
  func hasFailed(_ item: Item, _ filter: FailureFilter) -> Bool {
    guard let source = sources[item.source] else { return false }
    return hasFailed(item.key, of: source, filter)
  }

  private func hasFailed(_ key: String, of source: Int, _ filter: FailureFilter) -> Bool {
    guard let known = try? reader?.item(source: source, key: key) else { return false }
    if let fault = known.fault, filter.matches(fault) { return true }
    let made = (try? known.facts.fields())?["made"]?.asList ?? []
    return made.contains { hasFailed($0.text, of: source, filter) }
  }

  /// Why there is work for an item; nil where there is none.
  func reason(for item: Item, at index: Int, _ fingerprints: Fingerprints) -> String? {
    if options.fresh { return "--fresh" }
    guard let reader, let source = sources[item.source],
      let known = try? reader.item(source: source, key: item.key)
    else { return "new" }
    switch known.status {
    case .failed: return "failed last time (\(known.fault?.code ?? "unknown"))"
    case .cancelled, .running: return "not finished last time"
    case .ok, .filtered: break
    }
    let input = fingerprints.input(of: item)
    if plan.state.rerunOn.contains(.input), Array(known.fingerprint.prefix(16)) != input { return "input changed" }
    if plan.state.rerunOn.contains(.config), known.fingerprint != fingerprints.of(input, index: index) {
      if known.fingerprint == fingerprints.of(input, index: known.index) { return "its number changed" }
      return changes ?? "config changed"
    }
    guard let facts = try? known.facts.fields() else { return "new" }
    if let standIns, !EndCodec.decodeStandIns(facts[EndCodec.standIns]).allSatisfy({ standIns.stands($0, in: reader) })
    {
      return StandIns.lost
    }
    let gathering = facts["gathering"]?.asString ?? ""
    if !fingerprints.gathering.isEmpty, gathering != fingerprints.gathering { return "stages that gather changed" }
    return lostOutput(of: known, reader) ?? refreshing
  }

  private func lostOutput(of known: ItemRecord, _ reader: JournalReader) -> String? {
    guard plan.state.rerunOn.contains(.outputMissing) else { return nil }
    for output in (try? reader.outputs(of: known.id)) ?? [] {
      guard let tree else { return "output missing" }
      switch try? tree.condition(of: output, by: options.checksDigests ? .digest : .stat) {
      case .unchanged, .touched: continue
      case .missing, nil: return "output missing"
      case .altered: return "output altered"
      }
    }
    return nil
  }

  /// Why a host is asked even about what is done.
  private var refreshing: String? {
    guard plan.lockNode != nil else { return nil }
    return switch plan.state.refresh {
    case .never: nil
    case .changed: "asked whether it has changed (state.refresh: changed)"
    case .always: "fetched again (state.refresh: always)"
    }
  }

  /// Whether the bytes that an earlier run fetched for an item are still here, in words; nil where none were.
  func bytes(of item: Item, at index: Int, _ fingerprints: Fingerprints) -> String? {
    guard let reader, let lockNode = plan.lockNode, let source = sources[item.source],
      let known = try? reader.item(source: source, key: item.key),
      let wanted = (try? reader.nodeNames())?.first(where: {
        $0.value == (plan.stages[plan.nodes[lockNode].stage].id, Value.map(plan.nodes[lockNode].axes).text)
      })?.key,
      let record = try? reader.result(of: known.id, node: wanted),
      let digest = (try? record.fields.fields())?["sha256"]?.asString.flatMap({ Digest(.sha256, parsing: $0) })
    else { return nil }
    let isPublished = ((try? reader.outputs(of: known.id)) ?? []).contains { output in
      guard output.sha256 == digest, let tree else { return false }
      switch try? tree.condition(of: output, by: options.checksDigests ? .digest : .stat) {
      case .unchanged, .touched: return true
      case .altered, .missing, nil: return false
      }
    }
    let isStored = plan.state.cache.map { ContentStore(path: $0).has(digest) } ?? false
    if isPublished || isStored || record.kept != nil {
      if options.fresh || plan.state.refresh == .always { return "its bytes are still here, and it is fetched again" }
      if known.fault?.blamesBytes == true,
        known.fingerprint == fingerprints.of(fingerprints.input(of: item), index: index)
      {
        return "its bytes are still here, and would fail again, so it is fetched again"
      }
      if plan.state.refresh == .changed { return "its bytes are still here, and its host is asked whether they hold" }
      return "its bytes are still here, so nothing is fetched for it"
    }
    return "its bytes were not kept, so it is fetched again (`state: { cache: DIR }` would keep them)"
  }

  /// Some of the files that no item makes any more, and how many there are.
  func orphans() -> (some: [String], count: Int) {
    guard let reader else { return ([], 0) }
    var some: [String] = []
    var count = 0
    var last = 0
    guard let standIns = try? StandIns.all(in: reader), let emptied = try? reader.emptied() else { return ([], 0) }
    while let page = try? reader.orphans(after: last, limit: 512, beside: emptied), let end = page.last {
      last = end.row
      let going = page.filter { !standIns.contains($0.output.owner.item) }
      count += going.count
      if some.count < 10 { some += going.prefix(10 - some.count).map(\.output.path) }
    }
    return (some, count)
  }
}
