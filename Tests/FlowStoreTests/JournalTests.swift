import FlowBase
import Testing

@testable import FlowStore

@Suite struct `The journal` {
  private func item(_ id: Int, _ place: Sandbox, source: Int = 1, status: ItemStatus = .ok) -> ItemRecord {
    ItemRecord(id: id, source: source, key: "k\(id)", index: id, status: status, run: place.run)
  }

  @Test func `gives back what was entered`() throws {
    let place = try Sandbox()
    let source = try place.store.journal.register(sources: ["a", "b"])[1]
    let fault = Fault("http.404", .permanent, "gone", host: "example.com:443")
    let record = ItemRecord(
      id: place.store.journal.makeItemID(), source: source, key: "ключ", index: 7, url: "https://example.com/x",
      status: .failed, run: place.run, fingerprint: [1, 2, 3], facts: ["outputs": ["x"], "n": 1.5, "text": "\n\u{1}ü"],
      parent: 12, fault: fault)
    let result = ResultRecord(
      item: record.id, node: 4, run: place.run, parts: ["op": "fetch@1"], fields: ["width": 10])
    for outcome in place.work.perform([.item(record), .result(result)], durability: .full) { _ = try outcome.get() }
    let reader = try place.reader()
    #expect(try reader.item(source: source, key: "ключ") == record)
    #expect(try reader.item(record.id) == record)
    #expect(try reader.items(source: source, keys: ["no", "ключ"]).map { $0?.id } == [nil, record.id])
    #expect(try reader.results(of: record.id) == [result])
    #expect(try reader.sourceNames()[source] == "b")
  }

  @Test func `items are found by their place, and else by their key`() throws {
    let place = try Sandbox()
    var orders: [StoreOrder] = []
    for id in 1...8 {
      var record = item(id, place)
      record.facts = ["reason": .string("r\(id)")]
      record.fingerprint = [UInt8(id)]
      if id == 5 { record.fault = Fault("http.404", .permanent, "gone", host: "h:80") }
      // Two have the same place, as where a list was shortened between runs.
      if id == 8 { record.index = 3 }
      orders.append(.item(record))
    }
    for outcome in place.work.perform(orders, durability: .process) { _ = try outcome.get() }
    let reader = try place.reader()
    let places = [1, 2, 5, 100].flatMap {
      [PastPlace(index: $0), PastPlace(index: $0, id: 1), PastPlace(index: 1, id: $0)]
    }
    for from in places {
      let found = try reader.past(source: 1, keys: ["k1", "k2", "k3", "k8", "none", "k5"], from: from) { $0 }
      #expect(found.map { $0?.id } == [1, 2, 3, 8, nil, 5])
      #expect(try found[2]?.facts.fields() == ["reason": "r3"])
      #expect(found[3]?.index == 3 && found[3]?.fingerprint == [8] && found[3]?.status == .ok)
      #expect(found[5]?.fault == Fault("http.404", .permanent, "gone", host: "h:80"))
    }
    #expect(try reader.past(source: 2, keys: ["k1"], from: PastPlace(index: 1, id: 1)) { $0 }.map { $0?.id } == [nil])
    #expect(try reader.past(source: 1, keys: [], from: PastPlace(index: 1), { $0 }).isEmpty)
  }

  @Test(arguments: [[1, 2, 3], [1, 3], [3, 1, 2], [2, 900, 3], [7, 2], [2, 2]])
  func `outputs and standings of many items are those of each`(_ ids: [Int]) throws {
    let place = try Sandbox()
    for id in 1...3 {
      _ = try place.work.perform([.item(item(id, place, status: id == 2 ? .filtered : .ok))], durability: .process)[0]
        .get()
      try place.publish("\(id)/b", "bytes \(id)", item: id)
      if id != 2 { try place.publish("\(id)/a", "more", item: id) }
    }
    let reader = try place.reader()
    let traces = try reader.traces(of: ids)
    for (owner, outputs) in zip(ids, try reader.outputs(of: ids)) where ids.filter({ $0 == owner }).count == 1 {
      let own = traces.filter { $0.owner == owner }
      #expect(own.map(\.path) == outputs.map(\.path))
      #expect(own.map(\.bytes) == outputs.map(\.bytes))
      #expect(own.map(\.stamp) == outputs.map(\.stamp))
      for trace in own { #expect(place.store.tree.isInPlace(trace)) }
    }
    let standings = try reader.standings(of: ids)
    #expect(standings.map { $0?.status } == ids.map { [1: .ok, 2: .filtered, 3: .ok][$0] })
    #expect(standings.compactMap { $0?.run } == ids.filter { $0 <= 3 }.map { _ in place.run })
  }

  @Test func `a file that is another, longer, touched, a link or gone is not in place`() throws {
    let place = try Sandbox()
    for (id, name) in ["a", "b", "c", "d", "e"].enumerated() { try place.publish(name, "1", item: id + 1) }
    let traces = try place.reader().traces(of: [1, 2, 3, 4, 5])
    #expect(traces.map { place.store.tree.isInPlace($0) } == [true, true, true, true, true])
    try place.write("a", "2")
    try place.write("b", "11")
    try FileSystem.remove(place.out("c"))
    try FileSystem.rename(place.out("d"), to: place.out("d2"))
    try FileSystem.makeLink(place.out("d"), to: "d2")
    #expect(traces.map { place.store.tree.isInPlace($0) } == [false, false, false, false, true])
  }

  @Test func `items that follow one on the other are confirmed in one row`() {
    var confirmed = ConfirmedItems(run: 1)
    #expect(confirmed.rows.isEmpty)
    confirmed.items = [4, 5, 6, 8, 9, 2, 3, 10]
    confirmed.outputs = [1, 1, 2, 1, 0, 0, 1, 1]
    #expect(confirmed.rows == [0..<3, 3..<4, 4..<5, 5..<6, 6..<7, 7..<8])
  }

  @Test func `many confirmed at once are what each alone would be`() throws {
    let place = try Sandbox()
    for id in 1...6 {
      _ = place.work.perform([.item(item(id, place))], durability: .process)
      try place.publish("\(id)", "1", item: id)
    }
    let next = try place.store.journal.beginRun(
      RunRecord(id: "02", manifest: "m", manifestDigest: "", started: WallTime(microseconds: 2)))
    var confirmed = ConfirmedItems(run: next)
    confirmed.items = [1, 2, 4, 5]
    // The fifth makes nothing any more: what it made once does not count for this run.
    confirmed.outputs = [1, 1, 1, 0]
    _ = try place.work.perform([.confirmAll(confirmed)], durability: .process)[0].get()
    let reader = try place.reader()
    let runs = [next, next, place.run, next, next, place.run]
    #expect(try reader.standings(of: Array(1...6)).map { $0?.run } == runs)
    let outputs = try reader.outputs(of: Array(1...6)).map { $0.map(\.run) }
    #expect(outputs == [[next], [next], [place.run], [next], [place.run], [place.run]])
  }

  @Test func `where one of many lacks an output, none is confirmed`() throws {
    let place = try Sandbox()
    for id in 1...4 {
      _ = place.work.perform([.item(item(id, place))], durability: .process)
      // One that has more than it needs does not make up for another.
      for number in 1...(id == 1 ? 3 : 1) { try place.publish("\(id)-\(number)", "1", item: id) }
    }
    let next = place.run + 1
    try place.publish("3-1", "2", item: 4, run: next)
    var confirmed = ConfirmedItems(run: next)
    confirmed.items = [1, 2, 3]
    confirmed.outputs = [1, 1, 1]
    let outcome = place.work.perform([.confirmAll(confirmed)], durability: .process)[0]
    #expect(throws: Fault.self) { try outcome.get() }
    guard case .failure(let fault) = outcome else { return }
    #expect(fault.code == "path.collision")
    #expect(try place.reader().standings(of: [1, 2]).map { $0?.run } == [place.run, place.run])
  }

  @Test func `numbers of sources and legs stay what they were`() throws {
    let place = try Sandbox()
    let first = try place.store.journal.register(nodes: [NodeName(stage: "a"), NodeName(stage: "b", leg: ["w": 64])])
    let second = try place.store.journal.register(
      nodes: [NodeName(stage: "b", leg: ["w": 64]), NodeName(stage: "c"), NodeName(stage: "a")])
    #expect(second[0] == first[1])
    #expect(second[2] == first[0])
    #expect(try place.reader().nodeNames()[first[1]]?.leg == #"{"w":64}"#)
  }

  @Test func `item numbers go on after a restart`() throws {
    let place = try Sandbox()
    let id = place.store.journal.makeItemID()
    _ = place.work.perform([.item(item(id, place))], durability: .process)
    _ = try place.reopened()
    #expect(place.store.journal.makeItemID() == id + 1)
  }

  @Test func `pages hold every item once, in the order source, index, leg`() throws {
    let place = try Sandbox()
    let sources = try place.store.journal.register(sources: ["first", "second"])
    let nodes = try place.store.journal.register(nodes: [NodeName(stage: "s", leg: ["w": 1]), NodeName(stage: "t")])
    var orders: [StoreOrder] = []
    for id in 1...50 {
      var record = item(id, place, source: sources[id % 2])
      record.index = 100 - id
      record.status = id == 10 ? .failed : .ok
      orders.append(.item(record))
      if id == 10 { continue }
      for node in nodes.reversed() { orders.append(.result(ResultRecord(item: id, node: node, run: place.run))) }
    }
    _ = place.work.perform(orders, durability: .process)
    let reader = try place.reader()
    for everything in [false, true] {
      var seen: [GatheredItem] = []
      while true {
        let page = try reader.gathered(
          nodes: nodes, run: place.run, everything: everything, after: seen.last?.cursor ?? .start, limit: 7)
        if page.isEmpty { break }
        seen += page
      }
      #expect(seen.count == (everything ? 50 : 49))
      #expect(seen.map { $0.item.source } == seen.map { $0.item.source }.sorted())
      #expect(
        seen.filter { $0.item.source == sources[0] }.map { $0.item.index }
          == (50..<100).filter { $0 % 2 == 0 && (everything || $0 != 90) })
      #expect(seen.allSatisfy { $0.results.isEmpty || $0.results.map(\.node) == nodes })
    }
  }

  @Test func `groups and their members come in order`() throws {
    let place = try Sandbox()
    let source = try place.store.journal.register(sources: ["s"])[0]
    var orders: [StoreOrder] = []
    for id in 1...20 {
      orders.append(.item(item(id, place, source: source)))
      orders.append(.result(ResultRecord(item: id, node: 2, run: place.run)))
      orders.append(
        .members([
          MembershipRecord(
            barrier: 9, group: id % 2 == 0 ? "\"even\"" : "\"odd\"", item: id, source: source, index: 21 - id, node: 2,
            run: place.run)
        ]))
    }
    _ = place.work.perform(orders, durability: .process)
    let reader = try place.reader()
    let groups = try reader.groups(ofBarrier: 9, run: place.run, limit: 10)
    #expect(groups.map(\.group) == ["\"even\"", "\"odd\""])
    #expect(groups.map(\.count) == [10, 10])
    let first = try reader.members(ofBarrier: 9, group: "\"even\"", run: place.run, limit: 4)
    let rest = try reader.members(
      ofBarrier: 9, group: "\"even\"", run: place.run, after: try #require(first.last).cursor, limit: 100)
    #expect((first + rest).map { $0.item.id } == stride(from: 20, through: 2, by: -2).map { $0 })
    #expect(first[0].results.map(\.node) == [2])
  }

  @Test func `a gate gives back in order what was parked, and forgets it on request`() throws {
    let place = try Sandbox()
    let orders = (1...10).map { id in
      StoreOrder.park(ParkedRecord(gate: 3, item: id, run: place.run, state: ["n": .int(id)]))
    }
    _ = place.work.perform(orders, durability: .process)
    let reader = try place.reader()
    let page = try reader.parked(at: 3, run: place.run, limit: 4)
    #expect(page.map(\.item) == [1, 2, 3, 4])
    #expect(page[2].state == ["n": 3])
    _ = place.work.perform([.unpark(gate: 3, through: page[3].seq)], durability: .process)
    #expect(try reader.parked(at: 3, run: place.run, limit: 100).map(\.item) == Array(5...10))
  }

  @Test func `counts and failures are told by code and host`() throws {
    let place = try Sandbox()
    var orders: [StoreOrder] = []
    for id in 1...9 {
      var record = item(id, place, status: id <= 4 ? .failed : .ok)
      if id <= 4 { record.fault = Fault(id == 1 ? "tls.expired" : "http.404", .permanent, "x", host: "h") }
      orders.append(.item(record))
    }
    _ = place.work.perform(orders, durability: .process)
    let reader = try place.reader()
    #expect(try reader.counts(run: place.run) == [.failed: 4, .ok: 5])
    #expect(try reader.failures(run: place.run).map(\.count) == [3, 1])
    #expect(try reader.items(.init(status: .failed, code: "http.404"), limit: 10).map(\.id) == [2, 3, 4])
    #expect(try reader.items(.init(run: place.run, status: .failed), after: 2, limit: 1).map(\.id) == [3])
  }

  @Test func `items of runs without an end are counted by the last run that saw them`() throws {
    let place = try Sandbox()
    func begin(_ id: String) throws -> Int {
      try place.store.journal.beginRun(
        RunRecord(id: id, manifest: "m", manifestDigest: "", started: WallTime(microseconds: 2)))
    }
    func enter(_ ids: ClosedRange<Int>, _ run: Int, _ status: ItemStatus) {
      let orders = ids.map { id -> StoreOrder in
        var record = item(id, place, status: status)
        record.run = run
        return .item(record)
      }
      for outcome in place.work.perform(orders, durability: .process) {
        #expect(throws: Never.self) { try outcome.get() }
      }
    }
    enter(1...6, place.run, .ok)
    enter(7...8, place.run, .failed)
    let second = try begin("02")
    enter(1...2, second, .cancelled)
    let third = try begin("03")
    enter(3...4, third, .ok)
    var ended = RunRecord(
      number: third, id: "03", manifest: "m", manifestDigest: "", started: WallTime(microseconds: 2))
    ended.ended = WallTime(microseconds: 3)
    _ = place.work.perform([.endRun(ended)], durability: .process)
    let seesNothing = try begin("04")
    let counts = try place.reader().countsOfOpenRuns()
    #expect(counts == [place.run: [.ok: 2, .failed: 2], second: [.cancelled: 2]])
    for run in [place.run, second, seesNothing] { #expect(try place.reader().counts(run: run) == counts[run] ?? [:]) }
  }

  @Test func `runs are found by the beginning of their id`() throws {
    let place = try Sandbox(run: "01AB")
    let other = try place.store.journal.beginRun(
      RunRecord(id: "01AC", manifest: "m", manifestDigest: "", started: WallTime(microseconds: 2)))
    var record = RunRecord(
      number: other, id: "01AC", manifest: "m", manifestDigest: "", started: WallTime(microseconds: 2))
    record.ended = WallTime(microseconds: 3)
    record.result = "failure"
    record.exit = 1
    record.facts = ["items": .map(["ok": 1])]
    _ = place.work.perform([.endRun(record)], durability: .process)
    let reader = try place.reader()
    #expect(try reader.runs(prefix: "01A").count == 2)
    #expect(try reader.runs(prefix: "01AC") == [record])
    #expect(try reader.runs(prefix: "%").isEmpty)
    #expect(try reader.lastRun() == record)
  }

  @Test func `orphans are what the last complete run did not make`() throws {
    let place = try Sandbox()
    try place.publish("stays", "1", item: 1)
    try place.publish("goes", "2", item: 2)
    try place.publish("waits", "3", item: 3)
    let next = try place.store.journal.beginRun(
      RunRecord(id: "02", manifest: "m", manifestDigest: "", started: WallTime(microseconds: 2)))
    _ = place.work.perform([.confirm(Confirmation(item: 1, index: 1, outputs: 1, run: next))], durability: .process)
    var failed = item(3, place, status: .failed)
    failed.run = next
    _ = place.work.perform([.item(failed)], durability: .process)
    let reader = try place.reader()
    #expect(try reader.orphans(limit: 10).isEmpty)
    var record = RunRecord(
      number: next, id: "02", manifest: "m", manifestDigest: "", started: WallTime(microseconds: 2))
    record.isComplete = true
    _ = place.work.perform([.endRun(record)], durability: .process)
    #expect(try reader.orphans(limit: 10).map(\.output.path) == ["goes"])
    _ = try place.work.perform([.prune(path: "goes", evenIfAltered: false)], durability: .process)[0].get()
    #expect(try reader.orphans(limit: 10).isEmpty)
    #expect(try place.store.tree.facts("goes") == nil)
    #expect(try place.text("stays") == "1")
  }

  @Test func `a file stays that another output leads to as well, as where names fold case`() throws {
    let place = try Sandbox()
    try place.publish("A.jpg", "1")
    let next = try place.store.journal.beginRun(
      RunRecord(id: "02", manifest: "m", manifestDigest: "", started: WallTime(microseconds: 2)))
    try place.publish("a.jpg", "1", item: 2, run: next)
    try FileSystem.remove(place.out("A.jpg"))
    try FileSystem.link(place.out("a.jpg"), as: place.out("A.jpg"))
    _ = try place.work.perform([.prune(path: "A.jpg", evenIfAltered: true)], durability: .process)[0].get()
    #expect(try place.text("A.jpg") == "1" && place.text("a.jpg") == "1")
    #expect(try place.reader().outputs(limit: 10).map(\.output.path) == ["a.jpg"])
  }

  @Test func `a state behind a link is opened`() throws {
    let place = try Sandbox()
    let link = place.path + "/link"
    try FileSystem.makeLink(link, to: place.path + "/state")
    #expect(try JournalReader(path: link + "/m/journal.sqlite").runs().count == 1)
    // The file itself may be none.
    try FileSystem.makeLink(place.path + "/journal", to: place.path + "/state/m/journal.sqlite")
    #expect(throws: Fault.self) { try JournalReader(path: place.path + "/journal") }
  }

  @Test func `a new journal reads no log that another has left`() throws {
    let place = try Sandbox()
    let log = try FileSystem.read(place.path + "/state/m/journal.sqlite-wal")
    #expect(!log.isEmpty)
    let path = place.path + "/new.sqlite"
    try FileSystem.replace(path + "-wal", with: log)
    #expect(try Journal(path: path).reader().runs().isEmpty)
  }

  @Test func `a pruned output takes its empty folders along`() throws {
    let place = try Sandbox()
    try place.publish("a/b/x", "1", item: 1)
    try place.publish("a/y", "2", item: 2)
    _ = try place.work.perform([.prune(path: "a/b/x", evenIfAltered: false)], durability: .process)[0].get()
    #expect(try place.store.tree.facts("a/b") == nil)
    #expect(try place.text("a/y") == "2")
  }

  @Test func `an altered output is not pruned`() throws {
    let place = try Sandbox()
    try place.publish("x", "1")
    try place.write("x", "mine")
    #expect(throws: Fault.self) {
      try place.work.perform([.prune(path: "x", evenIfAltered: false)], durability: .process)[0].get()
    }
    #expect(try place.text("x") == "mine")
  }

  @Test func `an output that was altered behind its stamp is not pruned where bytes are compared`() throws {
    let place = try Sandbox()
    try place.publish("x", "1")
    try place.write("x", "2")
    let stamp = FileStamp(try FileSystem.facts("\(place.store.tree.root)/x"))
    try place.store.journal.database.run(
      "UPDATE outputs SET modified = \(stamp.modified), changed = \(stamp.changed), inode = \(stamp.inode)")
    #expect(throws: Fault.self) {
      try place.work.perform([.prune(path: "x", evenIfAltered: false, check: .digest)], durability: .process)[0].get()
    }
    #expect(try place.text("x") == "2")
  }

  @Test func `outputs are compared by stat first and by their bytes where that differs`() throws {
    let place = try Sandbox()
    try place.publish("x", "1")
    let record = try #require(try place.reader().output(at: "x"))
    let tree = place.store.tree
    #expect(try tree.condition(of: record) == .unchanged)
    #expect(try tree.condition(of: record, by: .digest) == .unchanged)
    try place.write("x", "1")
    guard case .touched = try tree.condition(of: record) else {
      Issue.record("a file of the same bytes is only touched")
      return
    }
    try place.write("x", "2")
    #expect(try tree.condition(of: record) == .altered)
    try FileSystem.remove(place.out("x"))
    #expect(try tree.condition(of: record) == .missing)
  }

  @Test func `many outputs are compared by their bytes as each alone is`() throws {
    let place = try Sandbox()
    for name in ["same", "touched", "altered", "longer", "missing", "hidden"] { try place.publish(name, name) }
    let reader = try place.reader()
    try place.write("touched", "touched")
    try place.write("altered", "ALTERED")
    try place.write("longer", "longer than before")
    try FileSystem.remove(place.out("missing"))
    try place.write("hidden", "HIDDEN")
    let stamp = FileStamp(try FileSystem.facts(place.out("hidden")))
    try place.store.journal.database.run(
      "UPDATE outputs SET modified = \(stamp.modified), changed = \(stamp.changed), inode = \(stamp.inode)"
        + " WHERE path = 'hidden'")
    let outputs = try reader.outputs(limit: 10).map(\.output)
    let conditions = try place.store.tree.conditions(of: outputs)
    #expect(outputs.map(\.path) == ["same", "touched", "altered", "longer", "missing", "hidden"])
    #expect(try conditions == outputs.map { try place.store.tree.condition(of: $0, by: .digest) })
    #expect(conditions[0] == .unchanged && conditions[2...] == [.altered, .altered, .missing, .altered])
    #expect(conditions[1] != .altered)
  }

  @Test func `a barrier is remembered with the digest of what it worked on`() throws {
    let place = try Sandbox()
    let record = BarrierRecord(
      node: 3, group: "\"a\"", digest: [9, 9], status: .failed, run: place.run, facts: ["x": 1],
      fault: Fault("exec.failed", .permanent, "no"))
    _ = place.work.perform([.barrier(record)], durability: .process)
    #expect(try place.reader().barrier(3, group: "\"a\"") == record)
    #expect(try place.reader().barrier(3, group: "") == nil)
  }

  @Test func `a reader sees what is committed while the run goes on`() throws {
    let place = try Sandbox()
    let reader = try JournalReader(path: place.store.folder.journal)
    #expect(try reader.item(1) == nil)
    _ = place.work.perform([.item(item(1, place))], durability: .process)
    #expect(try reader.item(1)?.key == "k1")
  }
}
