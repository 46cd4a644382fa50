public import FlowBase

/// Where a list by source, index and item goes on.
public struct PlaceCursor: Sendable, Hashable {
  /// The source's place in the manifest.
  var sourcePlace: Int
  /// The item's place in its source.
  var index: Int
  /// The item.
  var item: ItemID

  /// Before the first.
  public static let start = PlaceCursor(sourcePlace: -1, index: .min, item: .min)
}

/// One item and what the asked stages made of it, in the order of the legs.
public struct GatheredItem: Sendable {
  /// The item.
  public var item: ItemRecord
  /// The results of the asked stages; none for an item that did not get so far.
  public var results: [ResultRecord]
  /// What the asked stages published of it.
  public var outputs: [OutputRecord]
  /// Where the list goes on behind it.
  public var cursor: PlaceCursor
}

// MARK: Results of a run, for stages that gather

extension JournalReader {
  /// The results of some stages in a run, in the order source, index, leg; `everything` adds the items that have none.
  ///
  /// Outputs are those that `outputNodes` published (the same nodes unless named).
  public func gathered(
    nodes: [Int], outputNodes: [Int]? = nil, run: Int, since first: Int? = nil, everything: Bool = false,
    after cursor: PlaceCursor = .start, limit: Int
  ) throws(Fault) -> [GatheredItem] {
    var page: [GatheredItem] = []
    var cursor = cursor
    let sources = try rows("SELECT id, place FROM sources ORDER BY place, id") { _ in
    } _: { (row) throws(Fault) in
      (id: row.int(0), place: row.int(1))
    }
    for source in sources where source.place >= cursor.sourcePlace {
      if source.place > cursor.sourcePlace {
        cursor = PlaceCursor(sourcePlace: source.place, index: .min, item: .min)
      }
      while page.count < limit {
        let wanted = limit - page.count
        let items = try rows(
          """
          SELECT \(Self.itemColumns) FROM items INDEXED BY items_by_place
          WHERE source = ?1 AND (idx, id) > (?2, ?3) ORDER BY idx, id LIMIT ?4
          """
        ) {
          $0.bind(1, source.id)
          $0.bind(2, cursor.index)
          $0.bind(3, cursor.item)
          $0.bind(4, wanted)
        } _: { (row) throws(Fault) in
          try Self.item(row)
        }
        for item in items {
          cursor = PlaceCursor(sourcePlace: source.place, index: item.index, item: item.id)
          guard (first ?? run)...run ~= item.run else { continue }
          let gathered = try gather(item, nodes: nodes, outputNodes: outputNodes ?? nodes, cursor: cursor)
          if everything || !gathered.results.isEmpty { page.append(gathered) }
        }
        if items.count < wanted { break }
      }
      if page.count >= limit { break }
    }
    return page
  }

  /// What some stages have found of items that ended well, in whichever run, by the numbers of items and stages.
  public func remembered(
    nodes: [Int], after last: (item: ItemID, node: Int) = (0, 0), limit: Int
  ) throws(Fault) -> [(item: ItemRecord, result: ResultRecord)] {
    guard !nodes.isEmpty else { return [] }
    return try rows(
      """
      SELECT \(Self.itemColumns), \(Self.resultColumns) FROM results JOIN items ON items.id = results.item
      WHERE (results.item, results.node) > (?1, ?2) AND results.node IN (\(nodes.map(String.init).joined(separator: ",")))
        AND items.status = ?3 ORDER BY results.item, results.node LIMIT ?4
      """
    ) {
      $0.bind(1, last.item)
      $0.bind(2, last.node)
      $0.bind(3, ItemStatus.ok.rawValue)
      $0.bind(4, limit)
    } _: { (row) throws(Fault) in
      (try Self.item(row), try Self.result(row, from: 14))
    }
  }

  private func gather(
    _ item: ItemRecord, nodes: [Int], outputNodes: [Int], cursor: PlaceCursor
  ) throws(Fault) -> GatheredItem {
    // The lists are short, so a search through them costs less than a set would.
    let results = try results(of: item.id).filter { nodes.contains($0.node) }
    let outputs = try outputs(of: item.id).filter { outputNodes.contains($0.owner.node) }
    return GatheredItem(
      item: item,
      results: results.sorted { place($0.node, in: nodes) < place($1.node, in: nodes) },
      outputs: outputs.sorted { place($0.owner.node, in: outputNodes) < place($1.owner.node, in: outputNodes) },
      cursor: cursor)
  }

  private func place(_ node: Int, in nodes: [Int]) -> Int { nodes.firstIndex(of: node) ?? nodes.count }

  /// The groups with members in a run of a stage that gathers, behind the given one, and how many members they have.
  ///
  /// With `first` those count as well that have come by since that run.
  public func groups(
    ofBarrier barrier: Int, run: Int, since first: Int? = nil, after last: String? = nil, limit: Int
  ) throws(Fault) -> [(group: String, count: Int)] {
    let count =
      first == nil
      ? "count(*)"
      : """
      (SELECT count(*) FROM members AS all_of WHERE barrier = ?1 AND grp = members.grp
        AND run IN (SELECT number FROM runs WHERE number BETWEEN ?5 AND ?2)
        AND run = (SELECT run FROM items WHERE items.id = all_of.item))
      """
    return try rows(
      """
      SELECT grp, \(count) FROM members WHERE barrier = ?1 AND run = ?2 AND (?3 IS NULL OR grp > ?3)
      GROUP BY grp ORDER BY grp LIMIT ?4
      """
    ) {
      $0.bind(1, barrier)
      $0.bind(2, run)
      $0.bind(3, last)
      $0.bind(4, limit)
      if let first { $0.bind(5, first) }
    } _: { (row) throws(Fault) in
      (group: row.text(0), count: row.int(1))
    }
  }

  /// The members of a group, in the order source, index, leg, each with its item's other facts.
  public func members(
    ofBarrier barrier: Int, group: String, run: Int, since first: Int? = nil, after cursor: PlaceCursor = .start,
    limit: Int
  ) throws(Fault) -> [GatheredItem] {
    // What an item was a member of in an earlier run than its last it need not be any more.
    let isMember =
      first == nil
      ? "run = ?2"
      // A list of runs, so that each is looked up by its group.
      : "run IN (SELECT number FROM runs WHERE number BETWEEN ?8 AND ?2) AND run = (SELECT run FROM items WHERE items.id = members.item)"
    let members = try rows(
      """
      SELECT source, idx, item, group_concat(node) FROM members
      WHERE barrier = ?1 AND \(isMember) AND grp = ?3 AND (source, idx, item) > (?4, ?5, ?6)
      GROUP BY source, idx, item ORDER BY source, idx, item LIMIT ?7
      """
    ) {
      $0.bind(1, barrier)
      $0.bind(2, run)
      $0.bind(3, group)
      $0.bind(4, cursor.sourcePlace)
      $0.bind(5, cursor.index)
      $0.bind(6, cursor.item)
      $0.bind(7, limit)
      if let first { $0.bind(8, first) }
    } _: { (row) throws(Fault) in
      (
        cursor: PlaceCursor(sourcePlace: row.int(0), index: row.int(1), item: row.int(2)),
        nodes: row.text(3).split(separator: ",").compactMap { Int($0) }.sorted()
      )
    }
    var page: [GatheredItem] = []
    for member in members {
      guard let item = try item(member.cursor.item) else { continue }
      page.append(try gather(item, nodes: member.nodes, outputNodes: member.nodes, cursor: member.cursor))
    }
    return page
  }

  /// How a stage that gathers ended last for a group; empty for the whole run.
  public func barrier(_ node: Int, group: String) throws(Fault) -> BarrierRecord? {
    try rows(
      "SELECT digest, status, run, facts, code, class, host, message FROM barriers WHERE node = ?1 AND grp = ?2"
    ) {
      $0.bind(1, node)
      $0.bind(2, group)
    } _: { (row) throws(Fault) in
      BarrierRecord(
        node: node, group: group, digest: row.bytes(0), status: ItemStatus(rawValue: row.int(1)) ?? .running,
        run: row.int(2), facts: try StoredFields(json: row.bytes(3)).fields(), fault: Self.fault(row, from: 4))
    }.first
  }

  /// What waits at a gate, in the order of arrival, behind the given place.
  public func parked(at gate: Int, run: Int, after last: Int = 0, limit: Int) throws(Fault) -> [ParkedRecord] {
    try rows(
      """
      SELECT seq, gate, item, run, state FROM parked
      WHERE gate = ?1 AND seq > ?2 AND run = ?3 ORDER BY seq LIMIT ?4
      """
    ) {
      $0.bind(1, gate)
      $0.bind(2, last)
      $0.bind(3, run)
      $0.bind(4, limit)
    } _: { (row) throws(Fault) in
      ParkedRecord(
        seq: row.int(0), gate: row.int(1), item: row.int(2), run: row.int(3),
        state: try StoredFields(json: row.bytes(4)).fields())
    }
  }
}
