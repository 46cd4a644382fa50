import FlowBase
import FlowEvents
import FlowParts
import FlowTesting
import Testing

@testable import FlowBuiltins

private func event(_ seq: Int, _ payload: Payload, _ subject: ItemSubject? = nil) -> Event {
  Event(
    seq: seq, time: WallTime(microseconds: 1_795_195_800_000_000), elapsed: .milliseconds(seq), run: "R",
    subject: subject, payload: payload)
}

private func note(_ seq: Int, _ level: Payload.LogLine.Level = .info) -> Event {
  event(seq, .log(.init(level, "line \(seq)")))
}

private func folder() throws -> String { try TempPlace.untilExit() }

private func text(_ path: String) throws -> String { String(decoding: try SmallFiles.read(path), as: UTF8.self) }

private func tell(_ sink: any Sink, _ events: [Event]) async throws {
  for event in events {
    var bytes: [UInt8] = []
    sink.render(event, into: &bytes)
    if !bytes.isEmpty { try await sink.deliver(bytes) }
  }
}

@Suite struct LineSinkTests {
  @Test func `A path starts from the manifest's folder, and the file is appended to`() async throws {
    let folder = try folder()
    for run in 0..<2 {
      let sink = try NDJSONSink.part.make(
        Config([.init("to", .value("logs/events.ndjson"))]), SinkContext(folder: folder))
      try await sink.open()
      try await tell(sink, [note(run)])
      try await sink.close()
    }
    let lines = try text("\(folder)/logs/events.ndjson").split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.allSatisfy { $0.hasPrefix(#"{"imgflow":1,"seq":"#) && $0.hasSuffix("}}") })
  }

  @Test func `Lines are CloudEvents where that is asked for, each with the whole event in it`() async throws {
    let folder = try folder()
    let sink = try NDJSONSink.part.make(
      Config([.init("to", .value("events.ndjson")), .init("format", .value("cloudevents"))]),
      SinkContext(folder: folder, settings: RunSettings(name: "my job", folder: folder, outputFolder: folder)))
    try await sink.open()
    try await tell(sink, [note(1), note(2)])
    try await sink.close()
    let lines = try text("\(folder)/events.ndjson").split(separator: "\n").map { try JSONReader.read(Array($0.utf8)) }
    #expect(lines.map { $0.asMap?["id"] } == ["R-1", "R-2"])
    #expect(lines.first?.asMap?["specversion"] == "1.0" && lines.first?.asMap?["type"] == "dev.imgflow.log.v1")
    #expect(lines.first?.asMap?["source"] == "imgflow:/my%20job/R")
    var native: [UInt8] = []
    NDJSON.append(note(2), to: &native)
    #expect(try lines.last?.asMap?["data"] == JSONReader.read(Array(native.dropLast())))
  }

  @Test func `A torn last line is cut off when the file is opened again`() async throws {
    let folder = try folder()
    let path = "\(folder)/events.ndjson"
    let torn = String(repeating: "x", count: 10_000)
    try SmallFiles.create(path, Array("{\"seq\":0}\n{\"seq\":1,\"\(torn)".utf8))
    let sink = try NDJSONSink(to: "events.ndjson", folder: folder)
    try await sink.open()
    try await tell(sink, [note(7)])
    try await sink.close()
    let lines = try text(path).split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.first == "{\"seq\":0}")
    #expect(lines.last?.contains("\"seq\":7") == true)
  }

  @Test func `A file that is nothing but a torn line begins anew`() async throws {
    let folder = try folder()
    try SmallFiles.create("\(folder)/events.ndjson", Array("{\"seq\"".utf8))
    let sink = try NDJSONSink(to: "events.ndjson", folder: folder)
    try await sink.open()
    try await sink.close()
    #expect(try text("\(folder)/events.ndjson") == "")
  }

  @Test func `Files rotate by size, and so many old ones stay`() async throws {
    let folder = try folder()
    let rotation = Fields(names: ["size", "keep"], values: [.int(300), .int(2)])
    let config = Config([.init("to", .value("e.ndjson")), .init("rotate", .value(.map(rotation)))])
    let sink = try NDJSONSink.part.make(config, SinkContext(folder: folder))
    try await sink.open()
    try await tell(sink, (0..<20).map { note($0) })
    try await sink.close()
    #expect(try SmallFiles.names(in: folder) == ["e.ndjson", "e.ndjson.1", "e.ndjson.2"])
    for name in try SmallFiles.names(in: folder) {
      let kept = try text("\(folder)/\(name)")
      #expect(kept.utf8.count <= 300)
      #expect(kept.hasSuffix("\n"))
    }
    #expect(try text("\(folder)/e.ndjson").contains("\"seq\":19"))
  }

  @Test func `A descriptor that nobody has opened is refused before anything else is opened`() throws {
    #expect {
      try NDJSONSink(to: "fd:1000000000", folder: "/tmp")
    } throws: {
      Fault($0).message == "fd:1000000000 is not open for writing; the caller must open it"
    }
    #expect(throws: Fault.self) { try LineTarget(parsing: "fd:x", folder: "/") }
    #expect(try LineTarget(parsing: "-", folder: "/") == .stream(.output))
    #expect(try LineTarget(parsing: "fd:3", folder: "/") == .descriptor(3))
    #expect(try LineTarget(parsing: "a/b", folder: "/m") == .file("/m/a/b"))
  }

  @Test func `A full disk is the sink's fault and leaves no half line`() async throws {
    let sink = try NDJSONSink(to: "/dev/full", folder: "/tmp")
    try await sink.open()
    await #expect {
      try await tell(sink, [note(1)])
    } throws: {
      Fault($0).code == "disk.full"
    }
  }

  @Test func `The log says an item's place, address and what came of it`() {
    let subject = ItemSubject(item: "cards/ace", index: 3, total: 10, url: "https://c.example/ace.png", source: "cards")
    let output = Payload.Output(path: "ace.png", bytes: 18_231, sha256: "00")
    let end = Payload.ItemEnd(
      status: .ok, attempts: 2, outputs: [output],
      stages: [.init(stage: "fetch", elapsed: .milliseconds(1200))])
    #expect(
      LogSink.line(event(1, .itemEnd(end), subject), wholeDate: false, hasColor: false)
        == "17:30:00 info   3 of 10: https://c.example/ace.png  ok  18.2 kB  1.2 s  2 tries  (cards/ace)")
    #expect(
      LogSink.line(note(1, .error), wholeDate: true, hasColor: true)
        == "2026-11-20T17:30:00Z \u{1B}[31merror  line 1\u{1B}[0m")
  }

  @Test func `The log writes nothing that is quieter than its level`() async throws {
    let folder = try folder()
    let config = Config([.init("to", .value("run.log")), .init("level", .value("warn"))])
    let sink = try LogSink.part.make(config, SinkContext(folder: folder))
    try await sink.open()
    try await tell(sink, [note(1, .debug), note(2, .info), note(3, .warn), note(4, .error)])
    try await sink.close()
    #expect(try text("\(folder)/run.log").split(separator: "\n").count == 2)
  }

  @Test func `No name from outside can steer the terminal`() {
    let line = LogSink.line(
      event(1, .log(.init(.info, "a\u{1B}[2Jb\nc\u{202E}d"))), wholeDate: false, hasColor: false)
    #expect(line.hasSuffix("a\u{FFFD}[2Jb\u{FFFD}c\u{FFFD}d"))
  }
}
