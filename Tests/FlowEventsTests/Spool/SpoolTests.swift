import FlowBase
import FlowTesting
import Testing

@testable import FlowEvents

private func folder() throws -> String { try TempPlace.untilExit() }

private func event(_ seq: Int, _ payload: Payload) -> Event {
  Event(seq: seq, time: WallTime(microseconds: 0), elapsed: .zero, run: "R", payload: payload)
}

extension EventSpool {
  /// Adds a line that must not be lost, or progress that only its newest counts of.
  fileprivate func tell(_ seq: Int, _ text: String? = nil, isProgress: Bool = false) -> Backlog.Outcome {
    add(event(seq, isProgress ? .progress(seq) : .note("n")), Array((text ?? "e\(seq)").utf8), force: false)
  }

  fileprivate func takeAll(_ rule: BatchRule) throws -> [EventBatch] {
    var batches: [EventBatch] = []
    while let batch = try take(rule) {
      batches.append(batch)
      try finishBatch()
    }
    return batches
  }
}

extension EventBatch {
  fileprivate var words: [String] { events.map { String(decoding: $0, as: UTF8.self) } }
}

@Suite struct SpoolTests {
  private let three = BatchRule(events: 3, bytes: 1000, wait: .seconds(2))

  @Test func `Events leave in batches, in their order, and nothing stays behind`() throws {
    let folder = try folder()
    let spool = EventSpool(folder: folder, run: "R", sink: "hook", form: "native")
    for seq in 0..<7 { #expect(spool.tell(seq) == .kept) }
    let batches = try spool.takeAll(three)
    #expect(batches.map(\.words) == [["e0", "e1", "e2"], ["e3", "e4", "e5"], ["e6"]])
    #expect(batches.map(\.id) == ["R-hook-0-2", "R-hook-3-5", "R-hook-6-6"])
    spool.close()
    #expect(try SmallFiles.names(in: folder) == [])
  }

  @Test func `Of what may be replaced only the newest goes out, in its place among the others`() throws {
    let spool = EventSpool(folder: try folder(), run: "R", sink: "hook", form: "native")
    _ = spool.tell(0)
    _ = spool.tell(1, isProgress: true)
    _ = spool.tell(2)
    #expect(spool.tell(3, isProgress: true) == .replaced(.itemProgress))
    _ = spool.tell(4)
    #expect(try spool.takeAll(BatchRule()).map(\.words) == [["e0", "e2", "e3", "e4"]])
  }

  @Test func `A batch is full by bytes too, and a longer event goes alone`() throws {
    let spool = EventSpool(folder: try folder(), run: "R", sink: "hook", form: "native")
    for (seq, count) in [30, 30, 200, 30].enumerated() {
      _ = spool.tell(seq, String(repeating: "x", count: count))
    }
    let batches = try spool.takeAll(BatchRule(events: 100, bytes: 70, wait: .zero))
    #expect(batches.map { $0.events.map(\.count) } == [[30, 30], [200], [30]])
  }

  @Test func `What a process leaves is taken up under the same names, whatever the new rule is`() throws {
    let folder = try folder()
    var first: EventSpool? = EventSpool(folder: folder, run: "R", sink: "hook", form: "native")
    for seq in 0..<4 { _ = first?.tell(seq) }
    _ = first?.tell(4, isProgress: true)
    for seq in 5..<9 { _ = first?.tell(seq) }
    _ = try first?.take(three)
    try first?.finishBatch()
    let cut = try #require(try first?.take(three))
    #expect(cut.words == ["e3", "e4", "e5"])
    // No close: the process is gone. The lock goes with its last descriptor.
    first = nil
    let left = try #require(try EventSpool(leftIn: folder, run: "R", sink: "hook"))
    let batches = try left.takeAll(BatchRule(events: 100, bytes: 1000, wait: .zero))
    #expect(batches.first == cut)
    #expect(batches.dropFirst().map(\.words) == [["e6", "e7", "e8"]])
    left.close()
    #expect(try SmallFiles.names(in: folder) == [])
  }

  @Test func `What a process that lives still holds is left to it`() throws {
    let folder = try folder()
    let spool = EventSpool(folder: folder, run: "R", sink: "hook", form: "native")
    _ = spool.tell(0)
    #expect(try EventSpool(leftIn: folder, run: "R", sink: "hook") == nil)
    #expect(spool.count == 1)
  }

  @Test(arguments: [1, 10, 20, 33]) func `A torn end costs what is torn, and no more`(cut: Int) throws {
    let folder = try folder()
    var spool: EventSpool? = EventSpool(folder: folder, run: "R", sink: "hook", form: "native")
    for seq in 0..<5 { _ = spool?.tell(seq) }
    spool = nil
    let path = "\(folder)/R/000001.seg"
    let bytes = try SmallFiles.read(path)
    try SmallFiles.replace(path, Array(bytes.dropLast(cut)))
    let left = try #require(try EventSpool(leftIn: folder, run: "R", sink: "hook"))
    let whole = cut < 19 ? 4 : 3
    #expect(try left.takeAll(BatchRule()).flatMap(\.words) == (0..<whole).map { "e\($0)" })
  }

  @Test func `A damaged byte is noticed, and the next file is still read`() throws {
    let folder = try folder()
    var spool: EventSpool? = EventSpool(folder: folder, run: "R", sink: "hook", form: "native", limit: 1 << 20)
    let text = String(repeating: "x", count: 1000)
    for seq in 0..<200 { _ = spool?.tell(seq, "\(seq) \(text)") }
    spool = nil
    #expect(try SmallFiles.names(in: "\(folder)/R").count == 3)
    let path = "\(folder)/R/000001.seg"
    var bytes = try SmallFiles.read(path)
    bytes[bytes.count / 2] ^= 1
    try SmallFiles.replace(path, bytes)
    let left = try #require(try EventSpool(leftIn: folder, run: "R", sink: "hook"))
    let seen = try left.takeAll(BatchRule()).flatMap(\.words).map { String($0.prefix { $0 != " " }) }
    #expect(left.damagedBytes > 1000)
    #expect(seen.contains("0") && seen.contains("199") && seen.count < 200)
  }

  @Test func `A full spool drops progress first, then overflows, and has room again once something went out`() throws {
    let spool = EventSpool(folder: try folder(), run: "R", sink: "hook", form: "native", limit: 100_000)
    let text = String(repeating: "x", count: 1000)
    var seq = 0
    while spool.bytes <= 87_500 {
      #expect(spool.tell(seq, text) == .kept)
      seq += 1
    }
    #expect(spool.tell(seq, isProgress: true) == .dropped)
    var outcome = Backlog.Outcome.kept
    while outcome == .kept {
      outcome = spool.tell(seq, text)
      seq += 1
    }
    guard case .overflow(let fault) = outcome else { return #expect(Bool(false), "\(outcome)") }
    #expect(fault.code == "sink.overflow")
    _ = try spool.takeAll(BatchRule())
    #expect(spool.isRelaxed)
    #expect(spool.tell(seq, text) == .kept)
  }

  @Test func `Without a folder events wait in memory`() throws {
    let spool = EventSpool(folder: nil, run: "R", sink: "hook", form: "native")
    for seq in 0..<4 { _ = spool.tell(seq) }
    #expect(try spool.takeAll(three).map(\.words) == [["e0", "e1", "e2"], ["e3"]])
  }
}

/// What a courier is given.
private final class Round: Sendable {
  let batches = Guarded<[EventBatch]>([])
  let gate = Gate()
  let failing = Guarded<Fault?>(nil)

  func listener(
    _ folder: String, run: String, drain: Interval = .seconds(20), isRequired: Bool = false, hangs: Bool = false,
    wait: Interval = .seconds(2)
  ) -> Listener {
    let spool = EventSpool(folder: folder, run: run, sink: "hook", form: "native")
    let courier = Courier(spool: spool, rule: BatchRule(events: 3, bytes: 4000, wait: wait), drain: drain) { batch in
      if hangs { await self.gate.pass() }
      try Task.checkCancellation()
      if let fault = self.failing.withLock({ $0 }) { throw fault }
      self.batches.withLock { $0.append(batch) }
      return nil
    }
    return Listener(name: "hook", isRequired: isRequired, deliver: { _ in }, courier: courier)
  }

  var seqs: [Int] { batches.withLock { $0.flatMap { Array($0.first...$0.last) } } }
}

@Suite struct CourierTests {
  @Test func `A run's events go out in batches, and its end waits for none`() async throws {
    let folder = try folder()
    let round = Round()
    let bus = EventBus(run: "R")
    bus.attach(round.listener(folder, run: "R", wait: .seconds(3600)))
    bus.emit(.start)
    for number in 0..<10 { bus.emit(.note("\(number)")) }
    let reports = await bus.finish(.success)
    #expect(round.seqs == Array(0...11))
    #expect(round.batches.withLock { $0.map(\.events.count) } == [3, 3, 3, 3])
    #expect(reports.first?.fault == nil)
    #expect(try SmallFiles.names(in: folder) == [])
  }

  @Test func `A batch that is not full goes out when its time has come`() async throws {
    let round = Round()
    let bus = EventBus(run: "R")
    let arrived = AsyncStream.makeStream(of: Void.self)
    let spool = EventSpool(folder: try folder(), run: "R", sink: "hook", form: "native")
    let rule = BatchRule(events: 100, bytes: 4000, wait: .milliseconds(20))
    let courier = Courier(spool: spool, rule: rule) { batch in
      round.batches.withLock { $0.append(batch) }
      arrived.continuation.yield()
      return nil
    }
    bus.attach(Listener(name: "hook", deliver: { _ in }, courier: courier))
    bus.emit(.start)
    var arrivals = arrived.stream.makeAsyncIterator()
    await arrivals.next()
    #expect(round.seqs == [0])
    bus.emit(.note("later"))
    await arrivals.next()
    #expect(round.seqs == [0, 1])
    await bus.finish(.success)
  }

  @Test func `What cannot be delivered in time is kept, and the next run sends it first`() async throws {
    let folder = try folder()
    let hanging = Round()
    let first = EventBus(run: "R1")
    first.attach(hanging.listener(folder, run: "R1", drain: .milliseconds(30), hangs: true))
    first.emit(.start)
    first.emit(.note("kept"))
    let reports = await first.finish(.success)
    #expect(reports.first?.fault?.code == "sink.undelivered")
    hanging.gate.open()
    let second = Round()
    let bus = EventBus(run: "R2")
    bus.attach(second.listener(folder, run: "R2"))
    bus.emit(.start)
    #expect(await bus.finish(.success).first?.fault == nil)
    #expect(second.batches.withLock { $0.map(\.run) } == ["R1", "R2"])
    #expect(second.batches.withLock { $0.first?.last } == 2)
    #expect(try SmallFiles.names(in: folder) == [])
  }

  @Test func `A receiver that wants no more ends the deliveries of this run, and everything is kept`() async throws {
    let folder = try folder()
    let round = Round()
    round.failing.withLock { $0 = Fault("sink.gone", .permanent, "gone", httpStatus: 410) }
    let probe = Recorder()
    let bus = EventBus(run: "R")
    bus.attach(probe.listener())
    bus.attach(round.listener(folder, run: "R", wait: .zero))
    bus.emit(.start)
    await bus.settleRequired()
    for number in 0..<5 { bus.emit(.note("\(number)")) }
    #expect(await bus.finish(.success).contains { $0.fault?.code == "sink.gone" })
    #expect(probe.lines.filter { $0.contains(#""type":"sink.error""#) }.count <= 1)
    let left = try #require(try EventSpool(leftIn: folder, run: "R", sink: "hook"))
    #expect(left.count == probe.lines.count)
  }

  @Test func `A required receiver that takes nothing is a fault before the run's end, which is kept too`() async throws
  {
    let folder = try folder()
    let round = Round()
    let bus = EventBus(run: "R")
    bus.attach(round.listener(folder, run: "R", drain: .milliseconds(30), isRequired: true, hangs: true))
    bus.emit(.start)
    await bus.settleRequired()
    #expect(bus.requiredFaults.map(\.code) == ["sink.undelivered"])
    await bus.finish(.success)
    round.gate.open()
    let left = try #require(try EventSpool(leftIn: folder, run: "R", sink: "hook"))
    // The start, the failure, its line in the log, the end.
    #expect(left.count == 4)
  }

  @Test func `An event is on disk before anybody else is told of it`() async throws {
    let folder = try folder()
    let seen = Guarded<[Int]>([])
    let bus = EventBus(run: "R")
    let spool = EventSpool(folder: folder, run: "R", sink: "hook", form: "native")
    let early = Listener(
      name: "early",
      render: { event, buffer in
        seen.withLock { $0.append(spool.count) }
        buffer.append(UInt8(truncatingIfNeeded: event.seq))
      }, deliver: { _ in })
    bus.attach(early)
    let courier = Courier(spool: spool, rule: BatchRule(wait: .seconds(3600))) { _ in nil }
    bus.attach(Listener(name: "hook", deliver: { _ in }, courier: courier))
    for _ in 0..<3 { bus.emit(.start) }
    #expect(seen.withLock { $0 } == [1, 2, 3])
    await bus.finish(.success)
  }
}
