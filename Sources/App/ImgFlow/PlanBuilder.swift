public import FlowBase
public import FlowBuiltins
public import FlowParts
public import FlowPlan
internal import FlowYAML

/// Builds a plan in code, with the words of the manifest and parts that are written in Swift.
///
/// What it builds is checked as a manifest is: `build` throws `ManifestProblems` with everything that is wrong.
public struct PlanBuilder: Sendable {
  private var catalog: Catalog
  private var sources: [Fields] = []
  private var stages: [Fields] = []
  private var sinks: [Fields] = []
  private var top: Fields
  private let name: String
  private let folder: String
  private let allowsPrivate: Bool

  /// A plan without sources and stages; relative paths start from `folder`.
  ///
  /// The name is that of the run and of its folder in the state directory. Addresses of this machine and of private
  /// networks are refused unless `allowsPrivate` says otherwise.
  public init(
    _ name: String, folder: String = ".", catalog: Catalog = .builtins, allowsPrivate: Bool = false
  ) {
    self.name = name
    self.folder = folder
    self.catalog = catalog
    self.allowsPrivate = allowsPrivate
    top = ["imgflow": 1, "name": .string(name)]
  }

  // MARK: Parts of the catalog

  /// Adds a source of the catalog: its op, what stands inside it, and the keys beside it, such as `where`.
  public func source(_ op: String, _ config: Value = [:], id: String? = nil, beside keys: Fields = [:]) -> Self {
    changed { $0.sources.append(entry(op, config, id, keys)) }
  }

  /// Adds a stage of the catalog: its op, what stands inside it, and the keys beside it, such as `needs` or `retry`.
  public func stage(
    _ op: String, _ config: Value = [:], id: String? = nil, concurrency: Int? = nil, beside keys: Fields = [:]
  ) -> Self {
    changed { $0.stages.append(entry(op, config, id, keys, concurrency: concurrency)) }
  }

  /// Adds a sink of the catalog: its op, what stands inside it, and the keys beside it, such as `events`.
  public func sink(_ op: String, _ config: Value = [:], id: String? = nil, beside keys: Fields = [:]) -> Self {
    changed { $0.sinks.append(entry(op, config, id, keys)) }
  }

  // MARK: Parts in Swift

  /// Adds a source that builds its addresses in code.
  public func source<Builder: URLBuildable>(_ builder: Builder, id: String? = nil, beside keys: Fields = [:]) -> Self {
    source(URLSource(builder), id: id ?? PlanBuilder.id(of: Builder.self), beside: keys)
  }

  /// Adds a source that is written in Swift.
  public func source<Made: Source>(_ source: Made, id: String? = nil, beside keys: Fields = [:]) -> Self {
    let id = id ?? PlanBuilder.id(of: Made.self)
    return changed { builder in
      let op = builder.op(id)
      let spec = PartSpec(name: op, role: .source, summary: "A source written in Swift.", fields: [], example: "")
      builder.catalog.add(SourcePart(spec) { source })
      builder.sources.append(entry(op, [:], id, keys))
    }
  }

  /// Adds a stage that is written in Swift.
  ///
  /// `version` rises when the same input gives another result, so that results of earlier runs are not taken for it.
  public func stage<Made: Stage>(
    _ stage: Made, id: String? = nil, version: Int = 1, per: [Per] = [.leg, .item], sets: [ItemField] = [],
    concurrency: Int? = nil, beside keys: Fields = [:]
  ) -> Self {
    let id = id ?? PlanBuilder.id(of: Made.self)
    return changed { builder in
      let op = builder.op(id)
      let spec = PartSpec(
        name: op, role: .stage, version: version, summary: "A stage written in Swift.", fields: [],
        sets: { _ in sets }, per: per, isImmediate: stage.asImmediateStage != nil, example: "")
      builder.catalog.add(StagePart(spec) { stage })
      builder.stages.append(entry(op, [:], id, keys, concurrency: concurrency))
    }
  }

  /// Adds a sink that is written in Swift.
  public func sink<Made: Sink>(_ sink: Made, id: String? = nil, beside keys: Fields = [:]) -> Self {
    let id = id ?? PlanBuilder.id(of: Made.self)
    return changed { builder in
      let op = builder.op(id)
      let spec = PartSpec(name: op, role: .sink, summary: "A sink written in Swift.", fields: [], example: "")
      builder.catalog.add(SinkPart(spec) { _, _ throws(Fault) in sink })
      builder.sinks.append(entry(op, [:], id, keys))
    }
  }

  // MARK: The run as a whole

  /// Sets the folder below which everything is written; `out` unless set.
  public func output(_ folder: String) -> Self { with("output", ["dir": .string(folder)]) }

  /// Sets a key of the manifest's top level, such as `limits`, `hosts` or `fail_if`.
  public func with(_ key: String, _ value: Value) -> Self { changed { $0.top[key] = value } }

  /// Checks what was built and works out what exactly can happen.
  public func build() throws -> Plan {
    var document = top
    document["sources"] = .list(sources.map { .map($0) })
    document["stages"] = .list(stages.map { .map($0) })
    if !sinks.isEmpty { document["sinks"] = .list(sinks.map { .map($0) }) }
    var inputs = PlanInputs(folder: folder, for: [])
    inputs.allowsPrivate = allowsPrivate
    let file = name.isEmpty ? "plan" : name
    return try Plan(Node(.map(document), file: file), catalog: catalog, inputs: inputs)
  }

  private func changed(_ change: (inout Self) -> Void) -> Self {
    var builder = self
    change(&builder)
    return builder
  }

  private func entry(_ op: String, _ config: Value, _ id: String?, _ keys: Fields, concurrency: Int? = nil) -> Fields {
    var entry: Fields = [:]
    if let id { entry["id"] = .string(id) }
    entry[op] = config
    if let concurrency { entry["concurrency"] = .int(concurrency) }
    return entry.merging(keys)
  }

  /// A name for a part in Swift that no other part has.
  private func op(_ id: String) -> String { "swift\(sources.count + stages.count + sinks.count + 1).\(id)" }

  /// The id that a type's name gives: `FaceCrop` is `face_crop`.
  private static func id<Made>(of type: Made.Type) -> String {
    var id = ""
    for letter in String(describing: type).prefix(while: { $0 != "<" }) where letter.isASCII {
      if letter.isUppercase, let last = id.last, last != "_", !last.isUppercase { id += "_" }
      id += letter.isLetter || letter.isNumber ? letter.lowercased() : ""
    }
    return id
  }
}
