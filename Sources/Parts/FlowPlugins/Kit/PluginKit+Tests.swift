internal import FlowBase
internal import FlowParts

extension PluginKit {
  /// Runs the plugin's `tests/*.yaml`; `report` is given each finding as it comes.
  public func test(report: (Finding) -> Void) async throws {
    for sample in try PluginCase.all(in: plugin.folder) {
      do {
        try await run(sample)
        report(Finding(sample.name))
      } catch {
        report(Finding(sample.name, Fault(error).message))
      }
    }
  }

  private func run(_ sample: PluginCase) async throws {
    let op = try op(named: sample.op)
    let folder = try makeFolder()
    defer { try? FileSystem.removeTree(folder) }
    if plugin.mode == .oneshot {
      let (message, out) = try await oneshot(op, sample, folder: folder)
      switch message {
      case .result(_, let result): try compare(result, in: out, with: sample)
      case .acknowledged(_, let fault): if let fault { throw fault.fault(op.name) }
      default: break
      }
      return
    }
    var talk = try await Talk(self, op, config: config(of: op, over: sample.config), folder: folder)
    defer { talk.line.kill() }
    switch op.kind {
    case .stage:
      let (result, out) = try await talk.ask(try part(of: sample))
      try compare(result, in: out, with: sample)
    case .source: try await compareItems(&talk, with: sample)
    case .sink:
      talk.line.write(HostMessage.events(batch: 1, lines: PluginKit.sampleEvents))
      guard case .acknowledged(1, let fault) = try await talk.next(within: plugin.limits.item) else {
        throw PluginKit.wrong("the events were not acknowledged")
      }
      if let fault { throw fault.fault(op.name) }
    }
    if let noise = talk.noise.first { throw PluginKit.wrong("a line on standard output is no message: \(noise)") }
  }

  static func wrong(_ words: String) -> Fault { Fault("plugin.test", .permanent, words) }

  private func compare(_ result: PluginResult, in folder: String, with sample: PluginCase) throws {
    let wanted = sample.expect["status"]?.text ?? "ok"
    switch (result.status, wanted) {
    case (.ok, "ok"), (.many, "many"): break
    case (.drop(let reason), "drop"):
      if let expected = sample.expect["reason"]?.text, expected != reason {
        throw PluginKit.wrong("the reason is `\(reason ?? "")`, not `\(expected)`")
      }
    case (.error(let fault), "error"):
      if let expected = sample.expect["code"]?.text, expected != fault.code {
        throw PluginKit.wrong("the code is `\(fault.code ?? "")`, not `\(expected)`: \(fault.message)")
      }
    case (.error(let fault), _): throw PluginKit.wrong("an error: \(fault.message)")
    default: throw PluginKit.wrong("the status is not `\(wanted)`")
    }
    for (name, value) in sample.expect["set"]?.asMap ?? [:] where result.fields[name] != value {
      throw PluginKit.wrong("`\(name)` is `\(result.fields[name]?.text ?? "not set")`, not `\(value.text)`")
    }
    if case .many(let items) = result.status, let keys = sample.expect["keys"]?.asList?.map(\.text),
      items.map(\.key) != keys
    {
      throw PluginKit.wrong("the keys are \(items.map(\.key)), not \(keys)")
    }
    if let name = sample.expect["output"]?.text {
      guard let output = result.outputs.first else { throw PluginKit.wrong("there is no output") }
      let path = PathText.join(PathText.join(plugin.folder, "tests"), name)
      guard try SmallFiles.read(PathText.absolute(output.path, from: folder)) == SmallFiles.read(path) else {
        throw PluginKit.wrong("the output differs from \(name)")
      }
    }
    if let media = sample.expect["media"]?.text, result.outputs.first?.media != media {
      throw PluginKit.wrong("the media type is `\(result.outputs.first?.media ?? "")`, not `\(media)`")
    }
  }

  private func compareItems(_ talk: inout Talk, with sample: PluginCase) async throws {
    var items: [SourceItem] = []
    var cursor = Value.null
    while items.count < 10_000 {
      talk.line.write(HostMessage.pull(64, cursor: cursor))
      guard case .items(let batch) = try await talk.next(within: plugin.limits.item) else {
        throw PluginKit.wrong("the answer to a pull is no `items`")
      }
      items += batch.items
      cursor = batch.cursor
      if batch.isEnd { break }
    }
    if let count = sample.expect["count"]?.asInt, items.count != count {
      throw PluginKit.wrong("there are \(items.count) items, not \(count)")
    }
    for (place, wanted) in (sample.expect["items"]?.asList ?? []).enumerated() {
      guard items.indices.contains(place) else { throw PluginKit.wrong("item \(place + 1) is missing") }
      let item = items[place]
      for (name, value) in wanted.asMap ?? [:] {
        let found: Value? =
          switch name {
          case "url": item.url.map { .string($0) }
          case "key": item.key.map { .string($0) }
          case "path": item.path.map { .string($0) }
          default: item.row[name]
          }
        if found != value {
          throw PluginKit.wrong("item \(place + 1): `\(name)` is `\(found?.text ?? "not there")`, not `\(value.text)`")
        }
      }
    }
  }
}
