internal import FlowBase
internal import FlowExpressions
internal import FlowParts

/// The tools for who writes a plugin: its tests, its conformance, its speed.
public struct PluginKit: Sendable {
  /// One thing that was tried, and why it failed if it did.
  public struct Finding: Sendable, Hashable {
    /// What was tried, in a few words.
    public var what: String
    /// Why it failed; nil where it went well.
    public var failure: String?

    /// A finding.
    public init(_ what: String, _ failure: String? = nil) {
      self.what = what
      self.failure = failure
    }
  }

  let plugin: PluginManifest
  let surroundings: PluginSurroundings
  /// What a process may take to say something.
  let patience = Interval.seconds(10)

  /// The kit for a plugin.
  public init(_ plugin: PluginManifest, in surroundings: PluginSurroundings) {
    self.plugin = plugin
    self.surroundings = surroundings
  }

  func op(named name: String?) throws(Fault) -> PluginOp {
    if let name {
      if let op = plugin.ops.first(where: { $0.name == name }) { return op }
      throw Fault(
        "config.plugin", .config,
        "\(plugin.name) has no op `\(name)`; it has \(plugin.ops.map(\.name).joined(separator: ", "))")
    }
    guard let op = plugin.ops.first else { throw Fault("config.plugin", .config, "\(plugin.name) has no op") }
    return op
  }

  /// The configuration of a case, with the defaults of the keys that it does not name.
  func config(of op: PluginOp, over given: Fields) -> Fields {
    var config: Fields = [:]
    for field in op.fields {
      if let value = given[field.name] {
        config[field.name] = field.type.convert(value) ?? value
      } else if let fallback = field.fallback {
        config[field.name] = ConfigDefault.value(fallback, field.type)
      }
    }
    for (name, value) in given where config[name] == nil { config[name] = value }
    return PluginExchange.absolute(config, of: op, folder: PathText.join(plugin.folder, "tests"))
  }

  func makeFolder() throws(Fault) -> String {
    let folder = PathText.join(
      Environment.value(of: "TMPDIR") ?? "/tmp", "imgflow-plugin-\(ThisProcess.id)-\(Entropy.token(8))")
    try SmallFiles.makeFolder(folder)
    return folder
  }

  /// What a case tells a plugin of its item.
  func part(of sample: PluginCase?, key: String? = nil, more: Fields = [:]) throws(Fault) -> HostMessage.ItemPart {
    var part = HostMessage.ItemPart(
      key: key ?? sample?.key ?? "check", attempt: 1, input: nil, fields: (sample?.item ?? [:]).merging(more),
      budget: plugin.limits.item)
    part.fields["key"] = .string(part.key)
    guard let path = sample?.input else { return part }
    let bytes = try SmallFiles.read(path)
    let media = sample?.media ?? MediaType.decide(Array(bytes.prefix(MediaType.prefixLength)), declared: nil)
    part.input = (path, media, bytes.count, Digest.sha256(of: bytes).hex)
    part.fields["media"] = media.map { .string($0) } ?? .null
    return part
  }
}

/// A default of plugin.yaml as the value that it stands for.
enum ConfigDefault {
  static func value(_ text: String, _ type: FieldType) -> Value {
    if let value = try? JSONReader.read(Array(text.utf8)) { return type.convert(value) ?? value }
    return type.convert(.string(text)) ?? .string(text)
  }
}

extension Fields {
  /// The entries by name: the order in which a plugin writes them means nothing.
  var sortedByName: Fields {
    let order = names.indices.sorted { names[$0] < names[$1] }
    return Fields(names: order.map { names[$0] }, values: order.map { values[$0] })
  }
}
