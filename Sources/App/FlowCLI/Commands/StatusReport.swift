internal import FlowBase
internal import FlowStore

/// What happened in a run, and what is left.
struct StatusReport {
  private var entry: RunLookup.Found
  private let counts: [ItemStatus: Int]
  private let failures: [FailureCount]
  private let examples: [String: ItemRecord]
  private let sources: [Int: String]

  init(_ entry: RunLookup.Found) throws(Fault) {
    self.entry = entry
    counts = try entry.reader.counts(run: entry.run.number)
    if entry.run.ended == nil { self.entry.counts = counts }
    failures = try entry.reader.failures(run: entry.run.number)
    var examples: [String: ItemRecord] = [:]
    for failure in failures.prefix(20) where examples[failure.code] == nil {
      let filter = JournalReader.ItemFilter(run: entry.run.number, code: failure.code)
      examples[failure.code] = try entry.reader.items(filter, limit: 1).first
    }
    self.examples = examples
    sources = try entry.reader.sourceNames()
  }

  /// The name that `imgflow status RUN ITEM` takes.
  private func name(of item: ItemRecord) -> String {
    (sources[item.source].map { $0 + "/" } ?? "") + item.key
  }

  /// What went wrong with the run itself.
  private var troubles: [String] {
    entry.run.result == "success" ? [] : (entry.run.facts["why"]?.asList ?? []).map(\.text)
  }

  var text: String {
    var lines = ["run \(entry.run.id) of \(entry.manifest): \(RunReport.state(entry))"]
    lines.append("  started \(entry.run.started.text)")
    if let ended = entry.run.ended { lines.append("  ended   \(ended.text)") }
    if let exit = entry.run.exit { lines.append("  exit    \(exit)") }
    if let output = entry.run.facts["output"] { lines.append("  output  \(output.text)") }
    for (place, trouble) in troubles.enumerated() {
      lines.append((place == 0 ? "  why     " : "          ") + TextWidth.printable(trouble))
    }
    let words = [ItemStatus.ok, .filtered, .failed, .cancelled].compactMap { status in
      counts[status].map { "\($0) \(status.name)" }
    }
    lines.append("items: " + (words.isEmpty ? "none" : words.joined(separator: ", ")))
    if !failures.isEmpty { lines.append("failures:") }
    for failure in failures.prefix(20) {
      lines.append("  \(failure.count) × \(failure.code)" + (failure.host.map { " at \($0)" } ?? ""))
      if let example = examples[failure.code] {
        lines.append(
          "      such as \(name(of: example))  \(example.url ?? "")  \(TextWidth.printable(example.fault?.message ?? ""))"
        )
      }
    }
    let isLeft = (counts[.failed] ?? 0) + (counts[.cancelled] ?? 0) > 0 || entry.run.result == nil
    if isLeft, !entry.isUnderWay {
      // What addresses alone stand for is no manifest that could be named.
      let isFile = SmallFiles.exists(entry.manifest)
      lines.append(
        "what is left runs with: " + (isFile ? "imgflow run \(entry.manifest)" : "the same command again"))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  var json: String {
    var fields = RunReport.fields(entry)
    var items: Fields = [:]
    for status in [ItemStatus.ok, .filtered, .failed, .cancelled] { items[status.name] = .int(counts[status] ?? 0) }
    fields["items"] = .map(items)
    fields["why"] = .list(troubles.map(Value.string))
    fields["failures"] = .list(
      failures.map {
        .map([
          "code": .string($0.code), "class": .string($0.kind.rawValue), "host": $0.host.map(Value.string) ?? .null,
          "n": .int($0.count),
        ])
      })
    var writer = JSONWriter()
    writer.value(.map(Fields(names: ["format_version"], values: [1]).merging(fields)))
    return writer.text + "\n"
  }
}

/// What happened to one item.
struct ItemReport {
  private let entry: RunLookup.Found
  private let item: ItemRecord
  private let facts: Fields
  private let name: String
  private let outputs: [OutputRecord]
  private let next: String?

  init(_ entry: RunLookup.Found, _ wanted: String, next: String? = nil) throws {
    self.entry = entry
    self.next = next
    let sources = try entry.reader.sourceNames()
    var found: (ItemRecord, String)?
    for (number, source) in sources {
      let key = wanted.hasPrefix(source + "/") ? String(wanted.dropFirst(source.count + 1)) : wanted
      if let item = try entry.reader.item(source: number, key: key) { found = (item, source + "/" + key) }
    }
    guard let (item, name) = found else {
      throw Fault("item.unknown", .permanent, "the journal knows no item `\(wanted)`; items are named source/key")
    }
    self.item = item
    facts = try item.facts.fields()
    self.name = name
    outputs = try entry.reader.outputs(of: item.id)
  }

  func write(_ arguments: ParsedArguments, _ console: Console) throws -> Int {
    if arguments.has("json") {
      var fields: Fields = [
        "format_version": 1, "item": .string(name), "index": .int(item.index), "status": .string(item.status.name),
        "url": item.url.map(Value.string) ?? .null, "final_url": facts["final_url"] ?? .null,
        "outputs": .list(
          outputs.map {
            .map([
              "path": .string($0.path), "bytes": .int($0.bytes), "sha256": .string($0.sha256.hex),
              "media": $0.media.map(Value.string) ?? .null,
            ])
          }),
      ]
      if let fault = item.fault {
        fields["error"] = .map([
          "code": .string(fault.code), "class": .string(fault.kind.rawValue), "message": .string(fault.message),
        ])
      }
      var writer = JSONWriter()
      writer.value(.map(fields))
      console.line(writer.text)
      return 0
    }
    console.line("\(name): \(item.status.name)")
    if let url = item.url { console.line("  url     \(url)") }
    if let final = facts["final_url"]?.asString { console.line("  led to  \(final)") }
    if let fault = item.fault { console.line("  failed  \(fault.code): \(fault.message)") }
    if let reason = facts["reason"]?.asString { console.line("  because \(reason)") }
    for output in outputs {
      console.line("  output  \(output.path)  \(ByteCount(output.bytes).text)  sha256 \(output.sha256.hex)")
    }
    if let next { console.line("  next    it would run: \(next)") }
    if item.fault != nil { console.line("  `imgflow explain \(item.fault?.code ?? "")` says what to do") }
    return 0
  }
}
