public import FlowBase

extension Payload {
  /// A plugin's process has started.
  public struct PluginStart: Sendable, Hashable {
    /// The plugin's name.
    public var plugin: String
    /// Its version.
    public var version: String
    /// The process's id.
    public var pid: Int

    /// A start.
    public init(plugin: String, version: String, pid: Int) {
      self.plugin = plugin
      self.version = version
      self.pid = pid
    }
  }

  /// A plugin's process ended when it should not.
  public struct PluginCrash: Sendable, Hashable {
    /// The plugin's name.
    public var plugin: String
    /// The exit code, if it ended by itself.
    public var code: Int?
    /// The signal, if one ended it.
    public var signal: Int?
    /// The last that it wrote to standard error.
    public var stderr: String

    /// A crash.
    public init(plugin: String, code: Int?, signal: Int?, stderr: String) {
      self.plugin = plugin
      self.code = code
      self.signal = signal
      self.stderr = stderr
    }
  }

  /// A plugin wrote something that is no message.
  public struct PluginNoise: Sendable, Hashable {
    /// The plugin's name.
    public var plugin: String
    /// The first such line.
    public var line: String
    /// How many there were since the last report.
    public var count: Int

    /// Noise.
    public init(plugin: String, line: String, count: Int) {
      self.plugin = plugin
      self.line = line
      self.count = count
    }
  }

  /// A sink could not deliver and is given up.
  public struct SinkError: Sendable, Hashable {
    /// The sink's id.
    public var sink: String
    /// Why.
    public var error: EventError
    /// The first event that it missed; it misses all from there to the end of the run.
    public var missedFrom: Int?

    /// A failure.
    public init(sink: String, error: EventError, missedFrom: Int? = nil) {
      self.sink = sink
      self.error = error
      self.missedFrom = missedFrom
    }
  }

  /// A sink that is behind has skipped events that may be skipped.
  public struct SinkDropped: Sendable, Hashable {
    /// The sink's id.
    public var sink: String
    /// The type of what it skipped.
    public var type: EventType
    /// How many since the last report.
    public var count: Int

    /// What was skipped.
    public init(sink: String, type: EventType, count: Int) {
      self.sink = sink
      self.type = type
      self.count = count
    }
  }

  /// Somebody asked the run for something, and was answered.
  public struct Control: Sendable, Hashable {
    /// What was asked: `pause resume drain cancel set`.
    public var verb: String
    /// What it was asked for: `run`, an item's name, `stage:ID`, a setting.
    public var scope: String
    /// Who asked: `ctl`, `page`, `signal`.
    public var by: String
    /// Whether it is done.
    public var isAccepted: Bool
    /// The answer in words.
    public var message: String

    /// A request and its answer.
    public init(verb: String, scope: String = "run", by: String, isAccepted: Bool, message: String) {
      self.verb = verb
      self.scope = scope
      self.by = by
      self.isAccepted = isAccepted
      self.message = message
    }
  }

  /// A line for people.
  public struct LogLine: Sendable, Hashable {
    /// How loud a line is.
    public enum Level: String, Sendable, Hashable, CaseIterable, Comparable {
      case debug, info, warn, error

      /// Whether the left level is quieter.
      public static func < (left: Level, right: Level) -> Bool { left.loudness < right.loudness }

      private var loudness: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warn: 2
        case .error: 3
        }
      }
    }

    /// How loud it is.
    public var level: Level
    /// What it says.
    public var message: String

    /// A line.
    public init(_ level: Level, _ message: String) {
      self.level = level
      self.message = message
    }
  }

  /// Something is wrong in what the user wrote.
  public struct DiagnosticFound: Sendable, Hashable {
    /// What is wrong, where, and what to do.
    public var diagnostic: Diagnostic

    /// A diagnostic.
    public init(_ diagnostic: Diagnostic) { self.diagnostic = diagnostic }
  }
}
