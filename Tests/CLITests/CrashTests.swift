import FlowBase
import FlowTesting
import Testing

/// The program, ended or refused at the calls by which it changes files, and then run again.
///
/// Quick here: every tenth call, for a few seconds; `tools/crash-sweep` tries them all.
@Suite(.serialized, .enabled(if: CrashLibrary.isUsable)) struct CrashTests {
  @Test(arguments: [(5, 1, false), (20, 7, false), (5, 1, true), (20, 7, true)])
  func `wherever a run is killed, no wrong byte has a final name and nothing that was told is lost`(
    items: Int, connections: Int, pictures: Bool
  ) async throws {
    let bench = try await CrashBench(items, connections, pictures: pictures)
    let budget = SweepBudget()
    for call in budget.calls(below: try await bench.count()) where budget.lasts {
      let ways: [CrashLibrary.Kind] = [.before, .tear, .after]
      for kind in budget.step == 1 ? ways : [ways[call / 10 % 3]] {
        try await bench.trial { (turn: inout CrashBench.Turn) in try await turn.run(kind, at: call) }
      }
    }
  }

  @Test func `a recovery may be killed too, three times in a row`() async throws {
    let bench = try await CrashBench(5, 1)
    let budget = SweepBudget()
    for call in budget.calls(below: try await bench.count()) where budget.lasts {
      try await bench.trial { (turn: inout CrashBench.Turn) in
        try await turn.run(.before, at: call)
        for again in 1...3 { try await turn.run(again == 2 ? .tear : .before, at: 1 + (call * 7 + again * 13) % 90) }
      }
    }
  }

  @Test(arguments: [CrashLibrary.Kind.ENOSPC, .EIO, .EDQUOT, .EMFILE])
  func `a call that the system refuses is told, and the next run heals`(kind: CrashLibrary.Kind) async throws {
    let bench = try await CrashBench(5, 1)
    let budget = SweepBudget()
    let calls = budget.calls(below: try await bench.count(kind))
    for (place, call) in calls.enumerated() where budget.lasts {
      try await bench.trial { (turn: inout CrashBench.Turn) in
        try await turn.run(kind, at: call, fromThenOn: place % 2 == 1)
      }
    }
  }

  @Test func `a call that a signal interrupts is made again, and nobody notices`() async throws {
    let bench = try await CrashBench(5, 1)
    let budget = SweepBudget()
    for call in budget.calls(below: try await bench.count(.EINTR)) where budget.lasts {
      try await bench.trial { (turn: inout CrashBench.Turn) in
        try await turn.run(.EINTR, at: call)
        #expect(turn.last?.code == 0, "EINTR at call \(call): \(turn.last?.errors ?? "")")
      }
    }
  }
}

/// A manifest of some items that is run again and again, with something happening at one of its calls.
struct CrashBench {
  private let work: Workplace
  private let items: Int
  private let pictures: Bool
  /// What whole runs make, by name.
  private let right = Guarded<[String: [UInt8]]>([:])

  /// Runs that are interrupted, up to one that is not.
  struct Turn {
    fileprivate let bench: CrashBench
    fileprivate var announced: Set<String> = []
    fileprivate var story: [String] = []
    /// How the last of them ended.
    private(set) var last: ToolEnd?

    /// Runs the manifest, with something happening at a call.
    mutating func run(_ kind: CrashLibrary.Kind, at call: Int, fromThenOn: Bool = false) async throws {
      let tally = bench.work.place.file("tally")
      try? FileSystem.remove(tally)
      var tool = bench.work.tool
      let variables = try await CrashLibrary.variables(kind, at: call, fromThenOn: fromThenOn, tally: tally)
      tool.environment.merge(variables) { $1 }
      let last = try await tool.start(["run", "m.yaml", "--progress", "none"]).end()
      self.last = last
      story.append("\(kind.rawValue) at call \(call)\(fromThenOn ? " and on" : "")")
      announced.formUnion(last.stream.items("ok"))
      try bench.expectRightBytes(story)
      if last.code == 0 { #expect(bench.outputs.count == bench.items, "0 with an incomplete set: \(story)") }
      let hits = CrashLibrary.hits(tally)
      if kind.kills {
        #expect(last.code == (hits > 0 ? 137 : 0), "\(story): \(last.errors)")
      } else {
        // Without descriptors the manifest cannot be read either, and connections fail in a way that may pass.
        let codes = kind == .EMFILE ? [0, 2, 5, 6] : [0, 6]
        #expect(codes.contains(last.code), "\(story): \(last.code) \(last.errors)")
        #expect(last.stream.types.last == "run.end", "\(story)")
      }
    }
  }

  init(_ items: Int, _ connections: Int, pictures: Bool = false) async throws {
    self.items = items
    self.pictures = pictures
    let bodies = (0..<items).map {
      pictures ? Painter.avatar("\($0)") : Workplace.body("/small/\($0)")
    }
    work = try Workplace { .ok(bodies[Int($0.path.dropFirst("/small/".count)) ?? 0]) }
    try work.manifest(
      (0..<items).map { "/small/\($0)" }, "limits: { connections: \(connections) }",
      fetch: pictures ? "fetch\n  - resize: { width: 32, format: png }" : "fetch")
  }

  /// How many calls a whole run makes that a kind is about.
  func count(_ kind: CrashLibrary.Kind? = nil) async throws -> Int {
    let tally = work.place.file("tally")
    var tool = work.tool
    // At a call that is never reached.
    tool.environment.merge(
      try await CrashLibrary.variables(kind, at: 1 << 40, fromThenOn: false, tally: tally)
    ) { $1 }
    clear()
    let end = try await tool.start(["run", "m.yaml"]).end()
    #expect(end.code == 0, "\(end.errors)")
    #expect(outputs.count == items)
    for name in outputs {
      let bytes = try SmallFiles.read(work.place.file("out/\(name)"))
      let number = name.dropFirst("small-".count).prefix { $0.isNumber }
      if !pictures { #expect(bytes == Workplace.body("/small/\(number)")) }
      // Pictures come out the same every time.
      let before = right.withLock { $0.updateValue(bytes, forKey: name) }
      #expect(before == nil || before == bytes, "\(name) is not the same again")
    }
    let bytes = try SmallFiles.read(tally)
    return Int(bytes[0]) | Int(bytes[1]) << 8
  }

  /// Lets runs be interrupted, then runs once more, and looks at what there is.
  func trial(_ body: (inout Turn) async throws -> Void) async throws {
    clear()
    var turn = Turn(bench: self)
    try await body(&turn)
    let before = work.server.requests.count
    let end = try await work.tool.start(["run", "m.yaml", "--progress", "none"]).end()
    let story = turn.story + ["healed"]
    #expect(end.code == 0, "\(story): \(end.errors)")
    try expectRightBytes(story)
    #expect(outputs.count == items, "\(story)")
    #expect(strays == [], "\(story)")
    let asked = Set(work.server.requests[before...].map { "urls/" + Workplace.key($0.path) })
    #expect(asked.intersection(turn.announced) == [], "fetched again: \(story)")
    let status = try await work.tool.start(["status", "m.yaml"]).end()
    #expect(status.output.contains("items: \(items) ok\n"), "\(story): \(status.output)")
  }

  private func clear() {
    for folder in ["out", ".imgflow"] { try? FileSystem.removeTree(work.place.file(folder)) }
    try? FileSystem.remove(work.place.file("tally"))
  }

  private var outputs: [String] { work.files().filter { $0.hasSuffix(".bin") } }

  /// Whatever is neither an output nor part of the state.
  private var strays: [String] {
    work.files().filter { !$0.hasSuffix(".bin") } + work.files(".imgflow/m/tmp") + work.files(".imgflow/m/spool")
      + work.files(".imgflow/m").filter { $0.hasSuffix(".new") || $0.hasSuffix(".part") }
  }

  private func expectRightBytes(_ story: [String]) throws {
    for name in outputs {
      #expect(try SmallFiles.read(work.place.file("out/\(name)")) == right.withLock { $0[name] }, "\(story)")
    }
  }
}
