import FlowBase
import FlowEvents
import Testing

private let item = ItemSubject(item: "products/A1", index: 16, total: 1000, source: "products", stage: "fetch")

@Suite struct EventBusTests {
  @Test func `seq rises by one and the end counts every type`() async {
    let recorder = Recorder()
    let bus = EventBus(run: "R", time: StillTime())
    bus.attach(recorder.listener())
    bus.emit(.start)
    for number in 0..<100 { bus.emit(.note("line \(number)")) }
    let reports = await bus.finish(.success)
    let lines = recorder.lines
    #expect(reports == [StreamReport(name: "probe", isRequired: false, fault: nil, missedFrom: nil)])
    #expect(lines.count == 102)
    for (number, line) in lines.enumerated() { #expect(line.contains("\"seq\":\(number),")) }
    #expect(
      lines.last?.contains(#""events":{"stream.start":1,"run.end":1,"log":100},"dropped":{}"#) == true)
  }

  @Test func `Many threads may emit and no seq is given twice`() async {
    let recorder = Recorder()
    let bus = EventBus(run: "R", time: StillTime())
    bus.attach(recorder.listener())
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { for _ in 0..<50 { bus.emit(.note("x")) } } }
    }
    await bus.finish(.success)
    let numbers = recorder.lines.compactMap { line in
      line.split(separator: ",")[1].split(separator: ":").last.flatMap { Int($0) }
    }
    #expect(numbers == Array(0..<401))
  }

  @Test func `A filtered stream gets what it asks for, and the first and the last line`() async {
    let recorder = Recorder()
    let bus = EventBus(run: "R", time: StillTime())
    bus.attach(recorder.listener(filter: EventFilter(globs: ["item.*"])))
    bus.emit(.start)
    bus.emit(.note("no"))
    bus.emit(.progress(1), about: item)
    await bus.finish(.success)
    #expect(recorder.lines.map { $0.contains("\"seq\":1,") } == [false, false, false])
    #expect(recorder.lines.count == 3)
  }

  @Test func `A reader that is behind gets only the newest progress, and is told how much it skipped`() async throws {
    let recorder = Recorder()
    let bus = EventBus(run: "R", time: StillTime())
    bus.attach(recorder.listener(hangs: true))
    bus.emit(.start)
    await recorder.gate.reached()
    for bytes in 1...100 { bus.emit(.progress(bytes), about: item) }
    bus.emit(.note("after"))
    recorder.gate.open()
    await bus.finish(.success)
    let lines = recorder.lines
    let progress = lines.filter { $0.contains(#""item.progress","time""#) }
    #expect(progress.count == 1)
    #expect(progress.first?.contains(#""data":{"bytes":100,"#) == true)
    #expect(lines.contains { $0.contains(#""type":"sink.dropped""#) && $0.contains(#""n":99"#) })
    #expect(lines.last?.contains(#""dropped":{"item.progress":99}"#) == true)
    let order = lines.compactMap { $0.split(separator: ",")[1].split(separator: ":").last.flatMap { Int($0) } }
    #expect(order == order.sorted())
  }

  @Test func `A reader that hangs loses nothing that must be kept, because it waits on disk`() async {
    let recorder = Recorder()
    let fast = Recorder()
    let limits = StreamLimits(memory: 1000, spool: 1_000_000, folder: "/tmp")
    let bus = EventBus(run: "R", time: StillTime(), limits: limits)
    bus.attach(recorder.listener("slow", hangs: true))
    bus.attach(fast.listener("fast"))
    bus.emit(.start)
    await recorder.gate.reached()
    for number in 0..<2000 { bus.emit(.note("line \(number)")) }
    recorder.gate.open()
    await bus.finish(.success)
    #expect(recorder.lines.count == 2002)
    #expect(recorder.lines == fast.lines)
  }

  @Test func `A full spool ends that stream alone, and says from where on it missed`() async {
    let slow = Recorder()
    let fast = Recorder()
    let bus = EventBus(run: "R", time: StillTime())
    bus.attach(slow.listener("slow", hangs: true), limits: StreamLimits(memory: 1000, spool: 5000, folder: "/tmp"))
    bus.attach(fast.listener("fast"))
    bus.emit(.start)
    await slow.gate.reached()
    for number in 0..<500 { bus.emit(.note("line \(number)")) }
    slow.gate.open()
    let reports = await bus.finish(.success)
    #expect(reports.first?.fault?.code == "sink.overflow")
    #expect(reports.last?.fault == nil)
    let missed = reports.first?.missedFrom ?? 0
    #expect(fast.lines.contains { $0.contains(#""type":"sink.error""#) && $0.contains("\"missed_from\":\(missed)") })
    // What had been taken before is delivered, and the end tells the rest.
    #expect(slow.lines.count == missed + 1)
    #expect(slow.lines.last?.contains("\"log\":\(501 + 1 - missed)") == true)
  }

  @Test func `A required reader that is full holds the run up instead, until it has caught up`() async {
    let recorder = Recorder()
    let changes = Guarded(0)
    let bus = EventBus(
      run: "R", time: StillTime(), limits: StreamLimits(memory: 1000, spool: 5000, folder: "/tmp"),
      onHoldChange: { changes.withLock { $0 += 1 } })
    bus.attach(recorder.listener(isRequired: true, hangs: true))
    bus.emit(.start)
    await recorder.gate.reached()
    var emitted = 0
    while !bus.holdsRun {
      bus.emit(.note("line"))
      emitted += 1
    }
    #expect(emitted < 100)
    bus.emit(.note("what was under way goes on"))
    recorder.gate.open()
    await bus.settleRequired()
    #expect(!bus.holdsRun)
    #expect(changes.withLock { $0 } == 2)
    await bus.finish(.success)
    #expect(recorder.lines.count == emitted + 3)
    #expect(bus.requiredFaults.isEmpty)
  }

  @Test func `A reader that fails is given up, and the others learn of it`() async {
    let recorder = Recorder()
    let gate = Gate()
    let bus = EventBus(run: "R", time: StillTime())
    bus.attach(
      Listener(
        name: "broken", isRequired: true,
        deliver: { _ in
          await gate.pass()
          throw Fault("disk.full", .local, "no room")
        }))
    bus.attach(recorder.listener())
    bus.emit(.start)
    gate.open()
    await bus.settleRequired()
    await bus.finish(.success)
    #expect(bus.requiredFaults.map(\.code) == ["disk.full"])
    let failures = recorder.lines.filter { $0.contains(#""type":"sink.error""#) }
    #expect(failures.count <= 1)
  }

  @Test func `A closed standard output ends its stream without a word`() async {
    let recorder = Recorder()
    let bus = EventBus(run: "R", time: StillTime())
    bus.attach(Listener(name: "stdout", deliver: { _ in throw Fault("sink.closed", .local, "closed") }))
    bus.attach(recorder.listener())
    bus.emit(.start)
    let reports = await bus.finish(.success)
    #expect(reports.first?.fault?.code == "sink.closed")
    #expect(recorder.lines.count == 2)
  }

  @Test func `The end of a run gives up a reader that takes nothing`() async {
    let recorder = Recorder()
    let bus = EventBus(run: "R", time: StillTime())
    bus.attach(recorder.listener(hangs: true, patience: .zero))
    bus.emit(.start)
    await recorder.gate.reached()
    let reports = await bus.finish(.success)
    #expect(reports.first?.fault?.code == "sink.timeout")
    #expect(reports.first?.missedFrom == 0)
    recorder.gate.open()
  }

  @Test func `Lines for debugging are dropped where the reader is behind`() async {
    let recorder = Recorder()
    let bus = EventBus(run: "R", time: StillTime(), limits: StreamLimits(memory: 1000))
    bus.attach(recorder.listener(hangs: true))
    bus.emit(.start)
    await recorder.gate.reached()
    for _ in 0..<100 { bus.emit(.note("chatter", .debug)) }
    recorder.gate.open()
    let reports = await bus.finish(.success)
    #expect(reports.first?.fault == nil)
    #expect(recorder.lines.count < 20)
    #expect(recorder.lines.last?.contains(#""dropped":{"log":"#) == true)
  }

  @Test(
    arguments: [
      .itemStart(.init(key: "s3cret")), .output(.init(path: "s3cret", bytes: 1, sha256: "00")),
      .output(.init(path: "p", leg: ["w": .string("s3cret")], bytes: 1, sha256: "00")),
      .output(.init(path: "p", group: "s3cret", bytes: 1, sha256: "00")),
      .itemEnd(.init(status: .ok, outputs: [.init(path: "s3cret", bytes: 1, sha256: "00")])),
      .itemEnd(.init(status: .ok, outputs: [.init(path: "p", group: "s3cret", bytes: 1, sha256: "00")])),
      .itemEnd(.init(status: .filtered, reason: "s3cret")),
      .itemEnd(.init(status: .failed, error: EventError(Fault("http.404", .permanent, "s3cret")))),
      .itemEnd(ending("s3cret")),
    ] as [Payload])
  func `One secret alone is gone, wherever it stands`(payload: Payload) async {
    let recorder = Recorder()
    let bus = EventBus(run: "R", time: StillTime(), mask: { $0 == "s3cret" ? "***" : nil })
    bus.attach(recorder.listener())
    bus.emit(payload)
    await bus.finish(.success)
    #expect(recorder.lines.count == 2)
    #expect(recorder.lines.first?.contains("***") == true)
    #expect(!recorder.lines.contains { $0.contains("s3cret") })
  }

  private static func ending(_ final: String) -> Payload.ItemEnd {
    var end = Payload.ItemEnd(status: .ok)
    end.finalURL = final
    return end
  }

  @Test func `Secrets are gone from every text that came from outside`() async {
    let recorder = Recorder()
    let bus = EventBus(run: "R", time: StillTime(), mask: { $0 == "s3cret" ? "***" : nil })
    bus.attach(recorder.listener())
    let text = "s3cret"
    let fault = EventError(Fault("http.404", .permanent, text, host: text))
    let output = Payload.Output(path: text, leg: ["w": .string(text)], group: text, bytes: 1, sha256: "00")
    let subject = ItemSubject(item: text, index: 1, url: text, source: "s", parent: text)
    bus.emit(.streamStart(.init(tool: "0.1.0", manifest: text)))
    bus.emit(.runStart(.init(sources: [], stages: [], sinks: [], output: text)))
    bus.emit(.barrierStart(.init(stage: "s", per: "group", group: text, items: 1)))
    bus.emit(
      .barrierEnd(
        .init(
          .init(stage: "s", per: "group", group: text, items: 1), status: .failed, outputs: [output], error: fault)))
    bus.emit(.itemStart(.init(key: text)), about: subject)
    bus.emit(.itemRetry(.init(attempt: 1, delay: .zero, error: fault)), about: subject)
    bus.emit(.itemError(fault), about: subject)
    bus.emit(.itemEnd(.init(status: .failed, outputs: [output], error: fault, reason: text)), about: subject)
    bus.emit(.pluginCrash(.init(plugin: "p", code: 1, signal: nil, stderr: text)))
    bus.emit(.pluginNoise(.init(plugin: "p", line: text, count: 1)))
    bus.emit(.output(output))
    bus.emit(.sinkError(.init(sink: "s", error: fault)))
    bus.emit(.control(.init(verb: "cancel", scope: text, by: "ctl", isAccepted: false, message: text)))
    bus.emit(.note(text))
    bus.emit(.diagnostic(.init(Diagnostic("E0100", text, at: nil, hint: text))))
    await bus.finish(.success)
    #expect(recorder.lines.count == 16)
    #expect(!recorder.lines.contains { $0.contains(text) })
  }

  @Test func `A reader in the program gets events as values`() async {
    let bus = EventBus(run: "R", time: StillTime())
    let feed = bus.events(EventFilter(globs: ["log"]))
    bus.emit(.start)
    bus.emit(.note("hello"))
    bus.emit(.progress(1), about: item)
    await bus.finish(.success)
    var types: [EventType] = []
    for await event in feed { types.append(event.type) }
    #expect(types == [.streamStart, .log, .runEnd])
  }

  @Test func `Globs choose types, and those that match nothing are named`() {
    #expect(EventFilter(globs: ["*"]).isOpen)
    #expect(EventFilter(globs: ["run.*"]).passes(.runProgress))
    #expect(!EventFilter(globs: ["run.*"]).passes(.itemEnd))
    #expect(EventFilter(globs: ["item.???"]).passes(.itemEnd))
    #expect(EventFilter.unmatched(["item.*", "itme.end"]) == ["itme.end"])
  }
}
