import FlowBase
import FlowEvents
import Testing

private let item = ItemSubject(item: "s/1", index: 1, source: "s", stage: "fetch")

/// What a bus writes for a small run.
private func capture(_ filter: EventFilter = .all, _ run: String = "R") async -> [String] {
  let recorder = Recorder()
  let bus = EventBus(run: run, time: StillTime())
  bus.attach(recorder.listener(filter: filter))
  bus.emit(.start)
  bus.emit(.runStart(.init(sources: ["s"], stages: ["fetch"], sinks: [])))
  bus.emit(.runState(.init(from: .idle, to: .active, by: "run")))
  bus.emit(.stageStart(.init(stage: "fetch", op: "fetch")))
  bus.emit(.itemStart(.init(key: "1")), about: item)
  bus.emit(.progress(5), about: item)
  bus.emit(.itemEnd(.init(status: .ok)), about: item)
  bus.emit(.stageEnd(.init(stage: "fetch", ok: 1, failed: 0, filtered: 0, elapsed: .zero)))
  bus.emit(.runState(.init(from: .active, to: .done, by: "end")))
  await bus.finish(.success)
  return recorder.lines
}

private func problems(_ lines: [String], torn: Bool = false, expecting: EventFilter? = nil) -> [String] {
  let text = lines.map { $0 + "\n" }.joined()
  return StreamCheck.problems(in: Array(torn ? String(text.dropLast()).utf8 : text.utf8), expecting: expecting)
    .map { "\($0.line): \($0.message)" }
}

@Suite struct CheckTests {
  @Test func `What the bus writes is whole`() async {
    #expect(problems(await capture()) == [])
  }

  @Test func `Several runs may stand in one file`() async {
    #expect(problems(await capture() + capture(.all, "R2")) == [])
  }

  @Test(arguments: [["run.*"], ["item.end"], ["item.*", "log"], ["stage.end", "item.start"]])
  func `A filtered stream has gaps and is whole all the same`(globs: [String]) async {
    let filter = EventFilter(globs: globs)
    let lines = await capture(filter)
    #expect(problems(lines) == [])
    #expect(problems(lines, expecting: filter) == [])
    #expect(problems(lines, expecting: .all) != [])
  }

  @Test func `A stream whose reader was behind is whole, because it counts what it skipped`() async {
    let recorder = Recorder()
    let bus = EventBus(run: "R", time: StillTime())
    bus.attach(recorder.listener(hangs: true))
    bus.emit(.start)
    await recorder.gate.reached()
    bus.emit(.itemStart(.init(key: "1")), about: item)
    for bytes in 1...50 { bus.emit(.progress(bytes), about: item) }
    bus.emit(.itemEnd(.init(status: .ok)), about: item)
    recorder.gate.open()
    await bus.finish(.success)
    #expect(problems(recorder.lines) == [])
  }

  @Test(arguments: 1...8)
  func `No line in the middle can be taken away unnoticed`(place: Int) async {
    var lines = await capture()
    lines.remove(at: place)
    #expect(!problems(lines, expecting: .all).isEmpty)
  }

  @Test func `A stream without its end, without its start, or with a torn line is not whole`() async {
    let lines = await capture()
    #expect(problems(lines.dropLast()).last?.contains("without run.end") == true)
    #expect(problems(Array(lines.dropFirst())).first?.hasPrefix("1: the first line of a run is run.start") == true)
    #expect(problems(lines, torn: true).first?.contains("torn") == true)
    #expect(problems([]) == ["1: the stream is empty"])
    #expect(problems(lines.dropLast() + lines).contains { $0.contains("before the last one ended") })
  }

  @Test func `Lines that changed places, came twice or are foreign are named with their number`() async {
    let lines = await capture()
    var swapped = lines
    swapped.swapAt(4, 6)
    #expect(problems(swapped).contains { $0.hasPrefix("6: seq 5 follows 6") })
    var twice = lines
    twice.insert(lines[6], at: 7)
    #expect(problems(twice).contains("8: s/1 ends twice"))
    var foreign = lines
    foreign[3] = "hello"
    #expect(problems(foreign).contains("4: this is no JSON object"))
    foreign[3] = #"{"imgflow":2}"#
    #expect(problems(foreign).first?.hasPrefix("4: `imgflow` is not 1") == true)
    foreign[3] = lines[3].replacing(#""run":"R""#, with: #""run":"Q""#)
    #expect(problems(foreign).contains("4: the run is Q, before it was R"))
  }

  @Test func `Types and keys that nobody knows are let pass`() async {
    var lines = await capture()
    lines[5] = lines[5].replacing("item.progress", with: "item.dream").replacing(#""seq":5"#, with: #""seq":5,"new":1"#)
    lines[9] = lines[9].replacing("item.progress", with: "item.dream")
    #expect(problems(lines) == [])
  }
}

extension String {
  fileprivate func replacing(_ old: String, with new: String) -> String {
    var rest = self[...]
    var made = ""
    while let range = rest.firstRange(of: old) {
      made += rest[..<range.lowerBound] + new
      rest = rest[range.upperBound...]
    }
    return made + rest
  }
}
