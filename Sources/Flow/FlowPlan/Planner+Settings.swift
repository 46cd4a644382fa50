internal import FlowBase
internal import FlowExpressions
internal import FlowManifest
internal import FlowParts
internal import FlowYAML

// What holds for the run as a whole: `name`, `output`, `limits`, `hosts`, `state` and the policies.
extension Planner {
  mutating func readSettings() -> RunSettings {
    let output = section(.output, SectionFields.output)
    let folder = inputs.outputFolder ?? absolute(output.text("dir") ?? "out")
    load.outputFolder = folder
    var settings = RunSettings(
      name: topText(.name) ?? PathText.stem(manifest.file), folder: inputs.folder, outputFolder: folder)
    settings.onExists = output.text("on_exists").flatMap(OnExists.init(rawValue:)) ?? .keep
    let limits = section(.limits, SectionFields.limits)
    settings.connections = inputs.connections ?? limits.int("connections")
    settings.bandwidth = limits.int("bandwidth")
    settings.memory = limits.int("memory")
    settings.temp = limits.int("temp")
    settings.cpu = limits.int("cpu")
    for (name, size) in limits.value("pools")?.asMap ?? [:] { settings.pools[name] = size.asInt }
    settings.hosts = readHosts()
    settings.allowsPrivate = inputs.allowsPrivate
    return settings
  }

  mutating func readState() -> StateSettings {
    let config = section(.state, SectionFields.state)
    var state = StateSettings(
      folder: inputs.stateFolder ?? absolute(config.text("dir") ?? ".imgflow"), stem: PathText.stem(manifest.file))
    state.durability = config.text("durability").flatMap(StateSettings.Durability.init(rawValue:))
    state.refresh = config.text("refresh").flatMap(StateSettings.Refresh.init(rawValue:)) ?? .never
    state.cache = config.text("cache").map { absolute($0) }
    state.rerunOn = Set(config.texts("rerun_on").compactMap(StateSettings.RerunOn.init(rawValue:)))
    return state
  }

  mutating func readPolicy(into plan: inout Plan) {
    plan.pausesOffline = top(.offline)?.asString == "pause"
    plan.sample = manifest[.sample].flatMap { readSample($0) }
    plan.take = inputs.take ?? top(.take)?.asInt
    plan.failIf = policy(.failIf, refusesRatios: false)
    plan.stopIf = policy(.stopIf, refusesRatios: true)
    if let plugins = manifest[.plugins] {
      _ = reader.read(plugins, as: .list(.string), at: site("plugins"))
    }
  }

  private mutating func policy(_ key: Manifest.TopKey, refusesRatios: Bool) -> Expression? {
    guard let node = manifest[key] else { return nil }
    var site = site(key.rawValue)
    site.types.hasRun = true
    site.types.refusesRatios = refusesRatios
    site.types.absence = "it is judged for the run as a whole"
    return reader.condition(node, at: site)
  }

  /// `20` items or `2%` of them.
  mutating func readSample(_ node: Node) -> Sample? {
    guard let text = reader.read(node, as: .string, at: site("sample"))?.plain?.text else { return nil }
    if let count = Int(text), count >= 0 { return .count(count) }
    if text.hasSuffix("%"), let share = Double(text.dropLast()), (0...100).contains(share) {
      return .share(share / 100)
    }
    reader.add(
      "E0110", "`sample` is a number of items or a share of them, and this is `\(text)`", at: node.place,
      hint: "such as `20` or `2%`")
    return nil
  }

  // MARK: Sections

  private mutating func section(_ key: Manifest.TopKey, _ fields: [FieldSpec]) -> Config {
    let empty = Node(.map([]), mark: .start, file: manifest.file)
    return reader.object(manifest[key] ?? empty, fields: fields, at: site(key.rawValue)) ?? Config()
  }

  private mutating func top(_ key: Manifest.TopKey) -> Value? {
    guard let node = manifest[key], let field = SectionFields.top.first(where: { $0.name == key.rawValue }) else {
      return nil
    }
    return reader.read(node, as: field.type, at: site(key.rawValue))?.plain
  }

  private mutating func topText(_ key: Manifest.TopKey) -> String? { top(key)?.asString }
}
