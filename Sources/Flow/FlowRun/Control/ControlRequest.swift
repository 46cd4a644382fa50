internal import FlowEvents
public import FlowParts

/// What people and programs ask of a run while it goes.
public struct ControlRequest: Sendable, Hashable {
  /// What can be asked.
  public enum Verb: String, Sendable, Hashable, CaseIterable {
    case pause, resume, drain, cancel
    /// Changes a limit.
    case set
    /// Ends at once: the second signal.
    case abort
    /// Opens a page that shows the run.
    case page
  }

  /// What is asked.
  public var verb: Verb
  /// For which part of the run it is asked.
  public var scope: ControlScope
  /// Whether a pause also stops what runs; it goes on later with what it has.
  public var isImmediate = false
  /// What `set` changes, as it was written: a key and its new value.
  public var setting: Setting?
  /// Who asks, such as `ctl`, `signal` or `code`.
  public var by: String
  /// The signal's number, where one asks.
  public var signal: Int?

  /// A limit and its new value, as they were written.
  public struct Setting: Sendable, Hashable {
    /// The limit, such as `connections` or `limits.connections`.
    public var key: String
    /// Its new value.
    public var value: String

    /// A setting.
    public init(_ key: String, _ value: String) {
      self.key = key
      self.value = value
    }
  }

  /// A request.
  public init(
    _ verb: Verb, scope: ControlScope = .run, now isImmediate: Bool = false, setting: Setting? = nil, by: String,
    signal: Int? = nil
  ) {
    self.verb = verb
    self.scope = scope
    self.isImmediate = isImmediate
    self.setting = setting
    self.by = by
    self.signal = signal
  }

  /// A request about one item, or about the run where it is nil.
  public init(_ verb: Verb, item: String?, by: String, signal: Int? = nil) {
    self.init(verb, scope: item.map(ControlScope.item) ?? .run, by: by, signal: signal)
  }
}

/// The part of a run that something is asked for.
public enum ControlScope: Sendable, Hashable {
  case run
  /// The items of a source.
  case source(String)
  /// The operations of a stage.
  case stage(String)
  /// The requests to a host: its name, or `name:port`.
  case host(String)
  /// One item, `source/key`.
  case item(String)

  /// The scopes beside the whole run, by the names of their flags.
  public static let kinds = ["source", "stage", "host", "item"]

  /// A scope by the name of its flag; nil where there is none of that name.
  public init?(kind: String, name: String) {
    switch kind {
    case "run": self = .run
    case "source": self = .source(name)
    case "stage": self = .stage(name)
    case "host": self = .host(name.lowercased())
    case "item": self = .item(name)
    default: return nil
    }
  }

  /// The name of its flag.
  public var kind: String {
    switch self {
    case .run: "run"
    case .source: "source"
    case .stage: "stage"
    case .host: "host"
    case .item: "item"
    }
  }

  /// What is meant; nil for the whole run.
  public var name: String? {
    switch self {
    case .run: nil
    case .source(let name), .stage(let name), .host(let name), .item(let name): name
    }
  }

  /// The scope as events tell it: `run`, an item's name, or `stage:fetch`.
  public var text: String {
    switch self {
    case .run: "run"
    case .item(let name): name
    default: "\(kind):\(name ?? "")"
    }
  }

  /// The scope in a sentence.
  var words: String { name.map { "\(kind) `\($0)`" } ?? "the run" }
}

/// What came of a request; the same to a sink inside and to `imgflow ctl` outside.
public typealias ControlAnswer = RunControl.Answer

extension ControlAnswer {
  /// What is asked of a run that has ended.
  static let runIsOver = ControlAnswer(isAccepted: false, message: "the run is over", state: .done)
}
