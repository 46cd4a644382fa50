public import FlowBase

/// A source that manifests can name.
public struct SourcePart: Sendable {
  /// What is to be said of it.
  public var spec: PartSpec
  /// Makes it.
  public var make: @Sendable () -> any Source

  /// A part.
  public init(_ spec: PartSpec, make: @escaping @Sendable () -> any Source) {
    self.spec = spec
    self.make = make
  }
}

/// A stage that manifests can name.
public struct StagePart: Sendable {
  /// What is to be said of it.
  public var spec: PartSpec
  /// Makes it; one instance serves all legs of one stage of a run.
  public var make: @Sendable () -> any Stage

  /// A part.
  public init(_ spec: PartSpec, make: @escaping @Sendable () -> any Stage) {
    self.spec = spec
    self.make = make
  }
}

/// A sink that manifests can name.
public struct SinkPart: Sendable {
  /// What is to be said of it.
  public var spec: PartSpec
  /// Makes it from its configuration.
  public var make: @Sendable (_ config: Config, _ context: SinkContext) throws(Fault) -> any Sink

  /// A part.
  public init(
    _ spec: PartSpec, make: @escaping @Sendable (_ config: Config, _ context: SinkContext) throws(Fault) -> any Sink
  ) {
    self.spec = spec
    self.make = make
  }
}

/// All parts that manifests can name.
public struct Catalog: Sendable {
  /// The sources by name.
  public private(set) var sources: [String: SourcePart] = [:]
  /// The stages by name.
  public private(set) var stages: [String: StagePart] = [:]
  /// The sinks by name.
  public private(set) var sinks: [String: SinkPart] = [:]

  /// An empty catalog.
  public init() {}

  /// Adds a source; one of the same name is replaced.
  public mutating func add(_ part: SourcePart) { sources[part.spec.name] = part }
  /// Adds a stage; one of the same name is replaced.
  public mutating func add(_ part: StagePart) { stages[part.spec.name] = part }
  /// Adds a sink; one of the same name is replaced.
  public mutating func add(_ part: SinkPart) { sinks[part.spec.name] = part }

  /// The specifications for a role, by name.
  public func specs(for role: Role) -> [PartSpec] {
    let specs =
      switch role {
      case .source: sources.values.map(\.spec)
      case .stage: stages.values.map(\.spec)
      case .sink: sinks.values.map(\.spec)
      }
    return specs.sorted { $0.name < $1.name }
  }

  /// The specification of a part.
  public func spec(_ name: String, for role: Role) -> PartSpec? {
    switch role {
    case .source: sources[name]?.spec
    case .stage: stages[name]?.spec
    case .sink: sinks[name]?.spec
    }
  }
}
