internal import FlowBase
internal import FlowExpressions
internal import FlowParts

/// Turns a leg into what a plugin is told, and what it answers into a result.
struct PluginExchange {
  let plugin: PluginManifest
  let op: PluginOp
  let context: StageContext

  /// What a plugin is told, with the files that go with it.
  struct Prepared: Sendable {
    var part: HostMessage.ItemPart
    var file: HeldFile?
    /// A folder that was made for the input; empty where none was needed.
    var scratch = ""

    /// Gives back what is no longer needed.
    func discard() {
      withExtendedLifetime(file) {}
      if !scratch.isEmpty { try? FileSystem.removeTree(scratch) }
    }
  }

  /// A configuration as the plugin gets it: paths are taken from the manifest's folder.
  static func config(_ config: Config, of op: PluginOp, folder: String) -> Fields {
    var fields: Fields = [:]
    for entry in config.entries { fields[entry.name] = entry.value.plain }
    return absolute(fields, of: op, folder: folder)
  }

  /// A configuration whose relative paths are taken from a folder; addresses stay as they are.
  static func absolute(_ config: Fields, of op: PluginOp, folder: String) -> Fields {
    var config = config
    for name in op.paths {
      guard let path = config[name]?.asString, !path.isEmpty, !path.contains("://") else { continue }
      config[name] = .string(PathText.absolute(path, from: folder))
    }
    return config
  }

  func prepare(_ leg: Leg) async throws(Fault) -> Prepared {
    if let prepared = try prepareAtOnce(leg) { return prepared }
    var prepared = Prepared(part: part(of: leg))
    guard let content = leg.content else {
      if let path = localPath(prepared.part.fields, of: leg) {
        prepared.part.input = try local(path, prepared.part.fields["media"]?.asString)
      }
      return prepared
    }
    if case .file = content {} else { prepared.scratch = try context.services.makeScratch() }
    try hold(try await context.services.file(of: content, in: prepared.scratch, named: "in"), of: leg, in: &prepared)
    return prepared
  }

  /// What needs no file to be read or written; nil for all else.
  func prepareAtOnce(_ leg: Leg) throws(Fault) -> Prepared? {
    var prepared = Prepared(part: part(of: leg))
    guard let content = leg.content else {
      return localPath(prepared.part.fields, of: leg) == nil ? prepared : nil
    }
    if let media = leg.fields["media"]?.asString, !op.takes.isEmpty,
      !op.takes.contains(where: { MediaType.matches(media, $0) })
    {
      throw Fault(
        "media.unexpected", .permanent, "\(op.name) takes \(op.takes.joined(separator: ", ")), and this is \(media)")
    }
    guard case .file(let file) = content, file.writtenPath != nil else { return nil }
    try hold(file, of: leg, in: &prepared)
    return prepared
  }

  private func hold(_ file: HeldFile, of leg: Leg, in prepared: inout Prepared) throws(Fault) {
    prepared.file = file
    prepared.part.input = (try file.path, leg.fields["media"]?.asString, file.bytes, file.sha256.hex)
  }

  private func part(of leg: Leg) -> HostMessage.ItemPart {
    var fields = leg.item.fields.merging(leg.fields)
    if !leg.item.row.isEmpty { fields["row"] = .map(leg.item.row) }
    if !leg.item.loop.isEmpty { fields["for"] = .map(leg.item.loop) }
    if !leg.axes.isEmpty { fields["matrix"] = .map(leg.axes) }
    return HostMessage.ItemPart(
      key: leg.item.key, attempt: context.attempt, input: nil, fields: fields, budget: plugin.limits.item)
  }

  /// A file of this machine is worked on where it lies.
  private func localPath(_ fields: Fields, of leg: Leg) -> String? {
    guard leg.item.url == nil, let path = fields["path"]?.asString, SmallFiles.exists(path) else { return nil }
    return path
  }

  private func local(_ path: String, _ media: String?) throws(Fault) -> (String, String?, Int, String) {
    let (head, size, digest) = try naming("read", path) { () throws(Errno) in
      let file = try FileSystem.open(path, .read)
      let digest = DigestStream(.sha256)
      var buffer = [UInt8](repeating: 0, count: 1 << 17)
      var head: [UInt8] = []
      var size = 0
      while true {
        let count = try file.read(into: &buffer)
        if count == 0 { break }
        if size == 0 { head = Array(buffer.prefix(min(count, MediaType.prefixLength))) }
        digest.update(count == buffer.count ? buffer : Array(buffer[..<count]))
        size += count
      }
      return (head, size, digest.finish())
    }
    return (path, media ?? MediaType.decide(head, declared: nil), size, digest.hex)
  }

  /// For a group or the run: the members as lines of JSON in a file.
  func prepare(_ gathering: Gathering) async throws -> Prepared {
    let scratch = try context.services.makeScratch()
    let path = PathText.join(scratch, "members.ndjson")
    let file = try naming("write", path) { () throws(Errno) in
      try FileSystem.open(path, [.write, .create, .exclusive], mode: 0o600)
    }
    var count = 0
    let digest = DigestStream(.sha256)
    var reader = gathering.members()
    while true {
      let page = try await reader.next(upTo: 256)
      if page.isEmpty { break }
      var writer = JSONWriter()
      var bytes: [UInt8] = []
      for member in page {
        writer.reset()
        var fields = member.leg.item.fields.merging(member.leg.fields)
        if !member.leg.item.row.isEmpty { fields["row"] = .map(member.leg.item.row) }
        var map: Fields = ["key": .string(member.leg.item.name), "stage": .string(member.stage), "item": .map(fields)]
        map["outputs"] = .list(
          member.outputs.map {
            .map([
              "path": .string(PathText.join(context.services.settings.outputFolder, $0.path)), "bytes": .int($0.bytes),
              "sha256": .string($0.sha256), "media": $0.media.map(Value.string) ?? .null,
            ])
          })
        writer.value(.map(map))
        bytes += writer.bytes
        bytes.append(0x0A)
      }
      try naming("write", path) { () throws(Errno) in try file.write(bytes) }
      digest.update(bytes)
      count += bytes.count
    }
    var fields: Fields = ["count": .int(gathering.count)]
    if let group = gathering.group { fields["group"] = group }
    return Prepared(
      part: HostMessage.ItemPart(
        key: gathering.group?.text ?? "run", attempt: context.attempt,
        input: (path, "application/x-ndjson", count, digest.finish().hex), fields: fields,
        budget: plugin.limits.item),
      scratch: scratch)
  }

  func result(_ answer: PluginHost.Answer) throws(Fault) -> StageResult {
    guard case .result(_, let result) = answer.message else {
      throw Fault("plugin.protocol", .permanent, "\(op.name) answered with something else than a result")
    }
    switch result.status {
    case .ok:
      var made = StageResult(fields: try typed(result.fields))
      if let output = result.outputs.first {
        let (file, media) = try takeOver(output, below: answer.folder)
        made.content = .file(file)
        for (name, value) in facts(of: file, media) where made.fields[name] == nil { made.fields[name] = value }
      }
      if result.outputs.count > 1 {
        context.services.log(.warn, "\(op.name) gave \(result.outputs.count) outputs, and only the first counts")
      }
      return made
    case .drop(let reason): return StageResult(.drop(reason: reason ?? "dropped by \(op.name)"))
    case .many(let entries):
      var items: [MadeItem] = []
      for entry in entries {
        var item = MadeItem(
          key: entry.key, url: entry.url, fields: try typed(entry.fields, isOpen: true), row: entry.row)
        if let output = entry.outputs.first {
          let (file, media) = try takeOver(output, below: answer.folder)
          item.content = .file(file)
          for (name, value) in facts(of: file, media) where item.fields[name] == nil { item.fields[name] = value }
          if item.fields["name"] == nil { item.fields["name"] = .string(PathText.name(of: output.path)) }
        }
        items.append(item)
      }
      return StageResult(.many(items))
    case .error(let fault): throw fault.fault(op.name, classes: plugin.errors)
    case .cancelled: throw Fault(CancellationError())
    case .unclear(let words): throw Fault("plugin.protocol", .permanent, "\(op.name) answered with \(words)")
    }
  }

  /// What a plugin has made of a group or of the run: each file goes below `output.dir` under the path that it has
  /// below `out.dir`.
  func published(_ answer: PluginHost.Answer) async throws(Fault) -> [OutputFact] {
    guard case .result(_, let result) = answer.message else {
      throw Fault("plugin.protocol", .permanent, "\(op.name) answered with something else than a result")
    }
    switch result.status {
    case .ok: break
    case .drop(let reason):
      throw Fault("plugin.error", .permanent, "\(op.name): \(reason ?? "dropped, where there is no item to drop")")
    case .many:
      throw Fault(
        "plugin.protocol", .permanent, "\(op.name) made items of a group or of the run, where none can go on")
    case .error(let fault): throw fault.fault(op.name, classes: plugin.errors)
    case .cancelled: throw Fault(CancellationError())
    case .unclear(let words): throw Fault("plugin.protocol", .permanent, "\(op.name) answered with \(words)")
    }
    var facts: [OutputFact] = []
    for output in result.outputs {
      let path = try path(of: output, below: answer.folder)
      let (file, sniffed) = try context.services.takeOver(path, below: answer.folder)
      let options = PublishOptions(
        onExists: context.services.settings.onExists, owner: context.stage, media: output.media ?? op.gives ?? sniffed)
      facts.append(try await context.services.publish(.file(file), at: path, options: options))
    }
    return facts
  }

  private func facts(of file: HeldFile, _ media: String?) -> Fields {
    var fields: Fields = ["bytes": .int(file.bytes), "sha256": .string(file.sha256.hex)]
    if let path = file.writtenPath { fields["path"] = .string(path) }
    if let media { fields["media"] = .string(media) }
    return fields
  }

  private func takeOver(_ output: PluginOutput, below folder: String) throws(Fault) -> (HeldFile, String?) {
    let (file, sniffed) = try context.services.takeOver(try path(of: output, below: folder), below: folder)
    return (file, output.media ?? op.gives ?? sniffed)
  }

  /// An output's path below `out.dir`, however the plugin has named it.
  private func path(of output: PluginOutput, below folder: String) throws(Fault) -> String {
    let path = output.path.hasPrefix(folder + "/") ? String(output.path.dropFirst(folder.utf8.count + 1)) : output.path
    guard !path.hasPrefix("/") else {
      throw Fault(
        "path.escapes", .permanent, "\(op.name) gave the output `\(output.path)`, which is not below `out.dir`")
    }
    return path
  }

  /// The fields that it may set, with the types that it has declared; others are left out, as nobody could rely on them.
  private func typed(_ fields: Fields, isOpen: Bool = false) throws(Fault) -> Fields {
    var typed: Fields = [:]
    for (name, value) in fields {
      guard let declared = op.sets.first(where: { $0.name == name }) else {
        if isOpen { typed[name] = value }
        continue
      }
      guard let converted = declared.type.convert(value) else {
        throw Fault(
          "plugin.protocol", .permanent,
          "\(op.name) set `\(name)` to \(value.kindName) `\(value.text.prefix(60))`, and its plugin.yaml says otherwise"
        )
      }
      typed[name] = converted
    }
    return typed
  }
}

extension ValueType {
  /// A value as this type holds it; null stays null, and nil is what does not fit.
  fileprivate func convert(_ value: Value) -> Value? {
    if value.isNull { return .null }
    switch self {
    case .any: return value
    case .null: return nil
    case .bool: return value.asBool.map { .bool($0) }
    case .integer: return value.asInt.map { .int($0) }
    case .number: return value.asDouble.map { .double($0) }
    case .string:
      switch value {
      case .list, .map: return nil
      default: return .string(value.text)
      }
    case .list: return value.asList.map { .list($0) }
    case .map: return value.asMap.map { .map($0) }
    }
  }
}
