public import FlowExpressions

/// What a part can stand for in a manifest.
public enum Role: String, Sendable, Hashable, CaseIterable {
  case source, stage, sink
}

/// How often a stage runs.
public enum Per: String, Sendable, Hashable, CaseIterable {
  case leg, item, group, run
}

/// What a stage does with the bytes that it is given.
public enum InputUse: Sendable, Hashable {
  /// It works on a file, or puts one somewhere.
  case file
  /// It looks at them at most, and hands them on as they are.
  case look
  /// It makes others of them, and works on bytes in memory as well as on a file.
  case bytes
}

/// In which order the legs of a run pass a stage.
public enum LegOrder: Sendable, Hashable {
  /// As they come.
  case any
  /// One by one, in the order of the sources and their items, whichever comes first.
  case listed
  /// Not before all of them have passed the stage's look.
  case complete
}

/// All that is to be said of a part: validation, help, schema and reference come from it and from nothing else.
public struct PartSpec: Sendable {
  /// The name by which manifests call it; built-in names have no dot.
  public var name: String
  /// What it can stand for.
  public var role: Role
  /// Rises when the same configuration gives another result, so that results of older versions are not reused.
  public var version: Int
  /// What it does, in one sentence.
  public var summary: String
  /// What may stand inside it, in the order of the documentation.
  public var fields: [FieldSpec]
  /// The field that a bare scalar or list stands for: `store: "path"`.
  public var shorthand: String?
  /// The item fields that it sets, given its configuration.
  public var sets: @Sendable (Config) -> [ItemField]
  /// The item fields that it cannot do without.
  public var reads: [String]
  /// How often a stage may run; the first is the default.
  public var per: [Per]
  /// Whether a stage decides at once, without waiting for anything; it then runs inside the scheduler's loop.
  public var isImmediate: Bool
  /// The kind with which neighbouring stages fuse.
  public var fuses: String?
  /// Whether a stage hands `out.path` to a program, for the file that it is to write.
  public var runsProgram = false
  /// What a stage does with the bytes that it is given; where nothing behind a transfer needs a file, there is none.
  public var input: InputUse
  /// Whether it sets item fields beyond those that can be told beforehand, given its configuration.
  public var isOpen: @Sendable (Config) -> Bool = { _ in false }
  /// What a result depends on beside the configuration, such as a script's text, as a digest; empty where nothing.
  public var digest: @Sendable (_ config: Config, _ folder: String) -> String = { _, _ in "" }
  /// The names that it reads beside those in its expressions, given its configuration; a bare `row` is all of it.
  public var readsBeside: @Sendable (Config) -> [Reference] = { _ in [] }
  /// What is wrong with a configuration that its types allow, such as a script that is not there.
  public var check: @Sendable (_ config: Config, _ folder: String) -> [String] = { _, _ in [] }
  /// Whether a stage may make items of an item, which may be in other groups than that one.
  public var makesItems: Bool
  /// Whether a stage that gathers needs the bytes of its members, and not only what is known of them.
  public var gathersBytes = false
  /// A stage's part that each leg passes right before the stage itself, with the same configuration.
  ///
  /// In the plan it is a stage of its own, named `<id>.look`.
  public var look: (@Sendable () -> StagePart)?
  /// In which order legs pass, given the configuration.
  public var order: @Sendable (Config) -> LegOrder = { _ in .any }
  /// Whether what a stage has found is kept for later runs although it makes no new bytes, and is found anew each time.
  public var isRemembered = false
  /// The plugin that brings it; nil for what is built in.
  public var plugin: PluginNote?
  /// A part of a manifest that shows it at work.
  public var example: String

  /// A specification.
  public init(
    name: String, role: Role, version: Int = 1, summary: String, fields: [FieldSpec], shorthand: String? = nil,
    sets: @escaping @Sendable (Config) -> [ItemField] = { _ in [] }, reads: [String] = [], per: [Per] = [.leg, .item],
    isImmediate: Bool = false, fuses: String? = nil, input: InputUse? = nil, example: String
  ) {
    self.name = name
    self.role = role
    self.version = version
    self.summary = summary
    self.fields = fields
    self.shorthand = shorthand
    self.sets = sets
    self.reads = reads
    self.per = per
    self.isImmediate = isImmediate
    self.fuses = fuses
    // What works lazily on bytes makes others of them.
    self.input = input ?? (fuses == nil ? .file : .bytes)
    // What a plugin does nobody here knows.
    makesItems = name.contains(".")
    self.example = example
  }
}

/// What is to be said of the plugin that brings a part.
public struct PluginNote: Sendable, Hashable {
  /// Its name.
  public var name: String
  /// Its version.
  public var version: String
  /// The folder that it lies in.
  public var folder: String
  /// What it may do, in words: `no network`, `writes in its work directory`.
  public var permissions: [String]

  /// A note.
  public init(name: String, version: String, folder: String, permissions: [String]) {
    self.name = name
    self.version = version
    self.folder = folder
    self.permissions = permissions
  }
}

/// A field of items that a part sets.
public struct ItemField: Sendable, Hashable {
  /// Its name behind `item.`.
  public var name: String
  /// Its type.
  public var type: ValueType

  /// A field.
  public init(_ name: String, _ type: ValueType) {
    self.name = name
    self.type = type
  }
}

/// When the names in a field's expressions have their values.
public enum Phase: Int, Sendable, Hashable, Comparable {
  /// When the manifest is loaded: `vars env secret output`.
  case load
  /// When the legs of a stage are known: also `matrix`.
  case axes
  /// For each row or step of a source: also `row for`.
  case row
  /// For each leg, or for each group or the run where the stage stands there.
  case leg

  /// Whether the left phase comes first.
  public static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
}

/// One key of a part's configuration.
public struct FieldSpec: Sendable, Hashable {
  /// The key.
  public var name: String
  /// What may stand there.
  public var type: FieldType
  /// When its expressions are evaluated.
  public var phase: Phase
  /// Whether it must be there.
  public var isRequired: Bool
  /// What holds where it is not there, as a manifest would write it.
  public var fallback: String?
  /// What it means, in one sentence.
  public var summary: String

  /// A key.
  public init(
    _ name: String, _ type: FieldType, phase: Phase = .leg, required: Bool = false, default fallback: String? = nil,
    _ summary: String
  ) {
    self.name = name
    self.type = type
    self.phase = phase
    self.isRequired = required
    self.fallback = fallback
    self.summary = summary
  }
}

/// The types of configuration; a scalar in the manifest is read as its field's type says.
public indirect enum FieldType: Sendable, Hashable {
  /// A text; `NO`, `1.10`, `010` stay as written.
  case string
  /// A text in which values are percent-encoded for their place.
  case url
  /// A text in which values are made safe as segments of a path.
  case path
  /// A whole number within bounds.
  case integer(ClosedRange<Int>)
  /// A number within bounds.
  case number(ClosedRange<Double>)
  /// `true` or `false`.
  case boolean
  /// `50MB`; held as a whole number of bytes.
  case byteCount
  /// `500ms`; held as a whole number of nanoseconds.
  case interval
  /// `20/s`; held as a number a second.
  case rate
  /// `50MB/s`; held as a whole number of bytes a second.
  case bandwidth
  /// One of some words.
  case choice([String])
  /// A list; a single element may stand for a list of one.
  case list(FieldType)
  /// A map with free keys.
  case map(FieldType)
  /// A map with these keys.
  case object([FieldSpec])
  /// An expression that is true or false.
  case condition
  /// Anything; plain scalars follow YAML 1.2's core schema, texts may hold `${…}`.
  case anything
  /// The first of several that fits.
  case either([FieldType])
}
