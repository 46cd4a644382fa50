internal import FlowBase
internal import FlowParts

extension PluginKit {
  /// Tries what the protocol asks of every plugin; `report` is given each finding as it comes.
  public func check(report: (Finding) -> Void) async throws {
    let cases = try PluginCase.all(in: plugin.folder)
    for op in plugin.ops {
      let sample = cases.first { $0.op == nil || $0.op == op.name }
      if plugin.mode == .oneshot {
        await checkOneshot(op, sample, report)
      } else {
        await check(op, sample, report)
      }
    }
  }

  private func check(_ op: PluginOp, _ sample: PluginCase?, _ report: (Finding) -> Void) async {
    guard let folder = try? makeFolder() else {
      return report(Finding("\(op.name): a work directory", "cannot be made"))
    }
    defer { try? FileSystem.removeTree(folder) }
    let config = config(of: op, over: sample?.config ?? [:])
    var noise: [String] = []
    var hung: String?
    func attempt(_ what: String, _ body: (inout Talk) async throws -> Void) async {
      // What hangs once hangs again, each time for as long as it may take.
      if hung != nil { return }
      func failed(_ fault: Fault) {
        if fault.code == "plugin.timeout" { hung = what }
        report(Finding("\(op.name): \(what)", fault.message))
      }
      do {
        var talk = try await Talk(self, op, config: config, folder: folder)
        defer { talk.line.kill() }
        do {
          try await body(&talk)
          report(Finding("\(op.name): \(what)"))
        } catch {
          failed(Fault(error))
        }
        noise += talk.noise
      } catch {
        failed(Fault(error))
      }
    }
    await attempt("says that it is ready") { _ in }
    await attempt("answers `ping`, and passes over messages and fields that it does not know") { talk in
      talk.line.write(Array("{\"t\":\"weather\",\"wind\":3}\n{\"t\":\"ping\",\"n\":7,\"more\":[1]}\n".utf8))
      guard case .pong(7) = try await talk.next() else {
        throw Fault("plugin.protocol", .permanent, "no `pong` with n 7")
      }
    }
    switch op.kind {
    case .stage: await checkStage(op, sample, attempt)
    case .source: await checkSource(op, attempt)
    case .sink: await checkSink(op, attempt)
    }
    await attempt("says `bye` to `drain` and ends") { talk in
      talk.line.write(HostMessage.drain)
      talk.line.closeInput()
      _ = try await talk.end(within: .seconds(10))
    }
    await attempt("ends when its input ends") { talk in
      talk.line.closeInput()
      _ = try await talk.end(within: .seconds(5))
    }
    await attempt("starts again after a crash") { talk in
      talk.line.kill()
      _ = try await talk.end(within: .seconds(5))
      let next = try await Talk(self, op, config: config, folder: folder)
      next.line.kill()
    }
    if let hung {
      report(
        Finding(
          "\(op.name): what follows on that",
          "is not tried, since the plugin hangs where it \(hung); mend that, then check again"))
    }
    report(
      Finding(
        "\(op.name): writes nothing but messages to standard output",
        noise.first.map { "\(noise.count) lines are none, such as: \($0)" }))
  }

  private typealias Attempt = (String, (inout Talk) async throws -> Void) async -> Void

  private func checkStage(_ op: PluginOp, _ sample: PluginCase?, _ attempt: Attempt) async {
    await attempt("answers an item") { talk in _ = try await talk.ask(try part(of: sample)) }
    await attempt("takes keys and fields in any script") { talk in
      _ = try await talk.ask(try part(of: sample, key: "Grüße 🐈 / ключ", more: ["note": "日本語 \"quoted\" \u{1}"]))
    }
    await attempt("takes a line of a mebibyte") { talk in
      let padding = String(repeating: "x", count: (1 << 20) - 4096)
      _ = try await talk.ask(try part(of: sample, more: ["padding": .string(padding)]))
    }
    await attempt("answers each of many items once, in any order") { talk in
      var open: Set<Int> = []
      let count = plugin.limits.window * 2
      for number in 0..<count { open.insert(try talk.send(try part(of: sample, key: "n\(number)")).id) }
      while !open.isEmpty {
        guard case .result(let id, _) = try await talk.next() else { continue }
        guard open.remove(id) != nil else {
          throw Fault("plugin.protocol", .permanent, "item \(id) was answered twice")
        }
      }
    }
    await attempt("answers an item that is cancelled, and goes on") { talk in
      let (id, _) = try talk.send(try part(of: sample))
      talk.line.write(HostMessage.cancel(id: id))
      guard case .result(id, _) = try await talk.next() else {
        throw Fault("plugin.protocol", .permanent, "the cancelled item was not answered")
      }
      talk.line.write(HostMessage.cancel(id: 4711))
      _ = try await talk.ask(try part(of: sample))
    }
    guard op.isDeterministic else { return }
    await attempt("gives the same for the same") { talk in
      let first = try await talk.ask(try part(of: sample))
      let second = try await talk.ask(try part(of: sample))
      guard first.result.fields.sortedByName == second.result.fields.sortedByName else {
        throw Fault("plugin.protocol", .permanent, "the fields differ; if they must, say `deterministic: false`")
      }
      for (one, other) in zip(first.result.outputs, second.result.outputs) {
        let bytes = try SmallFiles.read(PathText.absolute(one.path, from: first.folder))
        guard try bytes == SmallFiles.read(PathText.absolute(other.path, from: second.folder)) else {
          throw Fault("plugin.protocol", .permanent, "the outputs differ; if they must, say `deterministic: false`")
        }
      }
    }
  }

  private func checkSource(_ op: PluginOp, _ attempt: Attempt) async {
    await attempt("gives items for a pull, and the same again for the same cursor") { talk in
      talk.line.write(HostMessage.pull(3, cursor: .null))
      guard case .items(let first) = try await talk.next(within: plugin.limits.item) else {
        throw Fault("plugin.protocol", .permanent, "the answer to a pull is no `items`")
      }
      for item in first.items where item.url == nil && item.path == nil {
        throw item.fault ?? Fault("plugin.protocol", .permanent, "an item has neither `url` nor `path`")
      }
      talk.line.write(HostMessage.pull(3, cursor: .null))
      guard case .items(let again) = try await talk.next(within: plugin.limits.item) else {
        throw Fault("plugin.protocol", .permanent, "the answer to a pull is no `items`")
      }
      guard first.items.map(\.url) == again.items.map(\.url) else {
        throw Fault("plugin.protocol", .permanent, "the same cursor gave other items: a resumed run would miss some")
      }
    }
  }

  private func checkSink(_ op: PluginOp, _ attempt: Attempt) async {
    await attempt("acknowledges events") { talk in
      talk.line.write(HostMessage.events(batch: 12, lines: PluginKit.sampleEvents))
      guard case .acknowledged(12, let fault) = try await talk.next(within: plugin.limits.item) else {
        throw Fault("plugin.protocol", .permanent, "the answer to events is neither `ack` nor `nack` of their batch")
      }
      if let fault { throw fault.fault(op.name) }
    }
  }

  private func checkOneshot(_ op: PluginOp, _ sample: PluginCase?, _ report: (Finding) -> Void) async {
    do {
      let folder = try makeFolder()
      defer { try? FileSystem.removeTree(folder) }
      _ = try await oneshot(op, sample, folder: folder)
      report(Finding("\(op.name): answers \(op.kind == .sink ? "events" : "an item") with one line"))
    } catch {
      report(
        Finding("\(op.name): answers \(op.kind == .sink ? "events" : "an item") with one line", Fault(error).message))
    }
  }

  /// Has a process of one item answer a case.
  func oneshot(_ op: PluginOp, _ sample: PluginCase?, folder: String) async throws -> (PluginMessage, String) {
    let out = PathText.join(folder, "out")
    for name in ["out", "tmp"] { try SmallFiles.makeFolder(PathText.join(folder, name)) }
    let also: Fields = [
      "op": .string(op.name), "config": .map(config(of: op, over: sample?.config ?? [:])), "workdir": .string(folder),
    ]
    let line =
      op.kind == .sink
      ? HostMessage.events(batch: 1, lines: PluginKit.sampleEvents, also: also)
      : HostMessage.item(try part(of: sample), id: 1, outDir: out, also: also)
    let report = await ProgramLoop.shared.run(
      surroundings.order(for: plugin, workdir: folder), input: line, keeping: 2 << 20, limit: plugin.limits.item)
    var reader = LineReader()
    for line in reader.take(report.output + [0x0A]) {
      switch line {
      case .message(let message):
        switch message {
        case .result, .acknowledged: return (message, out)
        default: continue
        }
      case .noise(let text): throw Fault("plugin.noise", .permanent, "it wrote a line that is no message: \(text)")
      }
    }
    throw Fault("plugin.crashed", .permanent, "it \(report.end.words) and gave no answer: \(report.lastLines(5))")
  }

  static let sampleEvents = Array(
    """
    {"imgflow":1,"seq":0,"type":"stream.start","time":"2026-01-01T00:00:00.000000Z","ms":0,"run":"check","data":{}}
    {"imgflow":1,"seq":1,"type":"run.end","time":"2026-01-01T00:00:01.000000Z","ms":1000,"run":"check","data":{"result":"success","exit":0,"items":{"total":3,"ok":3,"cached":0,"filtered":0,"failed":0,"cancelled":0},"bytes_in":1024,"errors":[],"events":{},"dropped":{}}}

    """.utf8)
}
