import FlowBase
import FlowExpressions
import FlowParts
import FlowPlan
import FlowStore

/// Digests of what an item's result depends on, so that the next run can tell whether it still holds.
///
/// Order, layout and comments of the manifest are no part of it, nor are limits and retries; of a row only the cells
/// that the plan reads.
struct Fingerprints: Sendable {
  private let plan: [UInt8]
  /// What the stages that gather need of an item, as a digest; empty where none gathers.
  let gathering: String
  /// The columns and generator names that the plan reads; nil where it reads them all.
  private let rowNames: Set<String>?
  private let loopNames: Set<String>?
  /// Whether an item's number decides on its result, so that an item before it does.
  let readsIndex: Bool

  init(_ plan: Plan) {
    var writer = JSONWriter()
    writer.beginArray()
    for stage in plan.stages where !stage.scope.isBarrier {
      writer.beginArray()
      writer.string(stage.id)
      writer.string(stage.op)
      writer.int(stage.part.spec.version)
      writer.string("\(stage.scope == .item)")
      writer.string(stage.onError.rawValue)
      if case .expression(let condition) = stage.condition { writer.string(condition.canonical) }
      writer.endArray()
    }
    for node in plan.nodes where !plan.stages[node.stage].scope.isBarrier {
      writer.beginArray()
      writer.int(node.stage)
      writer.value(.map(node.axes))
      writer.string(node.config.canonical)
      let digest = plan.digest(of: plan.stages[node.stage].part.spec, node.config)
      if !digest.isEmpty { writer.string(digest) }
      for input in node.inputs { writer.int(input) }
      writer.endArray()
    }
    writer.string(plan.settings.onExists.rawValue)
    writer.endArray()
    self.plan = Digest.sha256(of: writer.bytes).bytes
    gathering = Fingerprints.gathering(plan)
    let references = plan.references
    rowNames = Fingerprints.names(references, .row)
    loopNames = Fingerprints.names(references, .for)
    readsIndex = Fingerprints.readsIndex(plan)
  }

  /// A table of items is made again anyhow when an item has come before others.
  private static func readsIndex(_ plan: Plan) -> Bool {
    var references: [Reference] = []
    for node in plan.nodes where !plan.stages[node.stage].scope.isBarrier { references += node.config.references }
    references += plan.conditions
    return references.contains { $0.namespace == .item && $0.path == ["index"] }
  }

  private static func gathering(_ plan: Plan) -> String {
    var text = ""
    for stage in plan.stages where stage.scope.isBarrier {
      text += "\(stage.id) \(stage.needs.map { plan.stages[$0].id })"
      if case .group(let expression) = stage.scope { text += " " + expression.canonical }
      text += "\n"
    }
    return text.isEmpty ? "" : String(Digest.sha256(of: text).hex.prefix(16))
  }

  private static func names(_ references: [Reference], _ namespace: Namespace) -> Set<String>? {
    var names = Set<String>()
    for reference in references where reference.namespace == namespace {
      guard let name = reference.path.first else { return nil }
      names.insert(name)
    }
    return names
  }

  /// The digest of what a source says of an item: 16 bytes.
  func input(of item: Item) -> [UInt8] { digest(of: item, rowNames, loopNames) }

  /// The digest of what a source says of an item beside its row: all that a stage knows of it which reads none.
  func origin(of item: Item, input: [UInt8]) -> [UInt8] {
    let isAll = (item.row.isEmpty || rowNames?.isEmpty == true) && (item.loop.isEmpty || loopNames?.isEmpty == true)
    return isAll ? input : digest(of: item, [], [])
  }

  private func digest(of item: Item, _ rowNames: Set<String>?, _ loopNames: Set<String>?) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginArray()
    writer.string(item.url ?? "")
    if let path = item.fields["path"] {
      writer.value(path)
      // A file of this machine is another when it was written since, as for every tool that makes files of files.
      if let name = path.asString, let facts = try? FileSystem.facts(name) {
        writer.int(facts.size)
        writer.int(facts.modified)
      }
    }
    write(item.row, rowNames, &writer)
    write(item.loop, loopNames, &writer)
    if let digest = item.expected.sha256 { writer.string(digest.hex) }
    if let digest = item.expected.sha512 { writer.string(digest.hex) }
    if let size = item.expected.size { writer.int(size) }
    for header in item.headers {
      writer.string(header.name)
      writer.string(header.value)
    }
    writer.endArray()
    return Array(Digest.sha256(of: writer.bytes).bytes.prefix(16))
  }

  private func write(_ fields: Fields, _ names: Set<String>?, _ writer: inout JSONWriter) {
    for (name, value) in fields where names?.contains(name) ?? true {
      writer.string(name)
      writer.value(value)
    }
  }

  /// The digest of all that an item's result depends on, with that of its input in front: 32 bytes.
  func of(_ item: Item, input: [UInt8]) -> [UInt8] { of(input, index: item.index) }

  /// Whether nothing but its number makes an item's result another than it was.
  func differsInIndex(_ known: StoredItem, from index: Int) -> Bool {
    readsIndex && known.index != index && known.fingerprint == of(known.input, index: known.index)
  }

  /// The same of an item that is the one with that number.
  func of(_ input: [UInt8], index: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(plan.count + input.count)
    bytes.append(contentsOf: plan)
    bytes.append(contentsOf: input)
    if readsIndex { bytes.append(contentsOf: String(index).utf8) }
    let digest = Digest.sha256(of: bytes).bytes
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: input)
    bytes.append(contentsOf: digest[..<16])
    return bytes
  }
}

extension Config {
  /// The configuration as a text that is equal for equal configurations.
  var canonical: String {
    var writer = JSONWriter()
    write(entries, &writer)
    return writer.text
  }

  private func write(_ entries: [Entry], _ writer: inout JSONWriter) {
    writer.beginObject()
    for entry in entries.sorted(by: { $0.name < $1.name }) {
      writer.key(of: entry.name)
      write(entry.value, &writer)
    }
    writer.endObject()
  }

  private func write(_ value: ConfigValue, _ writer: inout JSONWriter) {
    switch value {
    case .value(let value): writer.value(value)
    case .template(let template, _): writer.string(template.canonical)
    case .condition(let expression): writer.string(expression.canonical)
    case .list(let elements):
      writer.beginArray()
      for element in elements { write(element, &writer) }
      writer.endArray()
    case .map(let entries): write(entries, &writer)
    }
  }
}

extension Plan {
  /// The digest of the script or plugin behind a part, where a change of it makes results stale.
  func digest(of spec: PartSpec, _ config: Config) -> String {
    state.rerunOn.contains(.plugin) ? spec.digest(config, settings.folder) : ""
  }

  /// Every name that the stages and sources read.
  var references: [Reference] {
    var references: [Reference] = []
    for node in nodes {
      references += node.config.references
      references += stages[node.stage].part.spec.readsBeside(node.config)
    }
    return references + conditions
  }

  /// The names that conditions and groups read.
  fileprivate var conditions: [Reference] {
    stages.flatMap { stage in
      var references: [Reference] = []
      if case .expression(let condition) = stage.condition { references += condition.references }
      if case .group(let expression) = stage.scope { references += expression.references }
      return references
    }
  }
}
