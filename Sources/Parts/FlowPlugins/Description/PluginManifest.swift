public import FlowBase
public import FlowParts

/// What a `plugin.yaml` says: who a plugin is, what it offers, and what it may do.
///
/// It is read without running anything.
public struct PluginManifest: Sendable {
  /// How long a process of the plugin lives.
  public enum Mode: String, Sendable, Hashable, CaseIterable {
    /// As long as there is work; it speaks the protocol.
    case process
    /// For one item: a line comes in, a line goes out.
    case oneshot
  }

  /// Its name, with a dot in it.
  public var name: String
  /// Its version.
  public var version: String
  /// What it does, in one sentence.
  public var summary: String
  /// The program and its arguments; its working directory is the plugin's folder.
  public var run: [String]
  /// How long a process lives.
  public var mode: Mode = .process
  /// What it offers.
  public var ops: [PluginOp] = []
  /// What its processes may use.
  public var limits = PluginLimits()
  /// What its processes may do.
  public var permissions = PluginPermissions()
  /// The class of each error that it reports by a code of its own.
  public var errors: [String: FaultClass] = [:]
  /// The absolute path of its folder.
  public var folder: String
  /// The digest of its `plugin.yaml` and of the files beside it, so that a change makes results stale.
  public var digest = ""

  /// A plugin in a folder.
  public init(name: String, version: String, summary: String = "", run: [String], folder: String) {
    self.name = name
    self.version = version
    self.summary = summary
    self.run = run
    self.folder = folder
  }

  /// What it may do on this machine, in words.
  public var permissionWords: [String] { permissionWords(boundsWrites: Confinement.canBoundWrites) }

  /// What it may do, in words; a kernel that cannot bound writes holds no plugin to where it says that it writes.
  func permissionWords(boundsWrites: Bool) -> [String] {
    var words = [permissions.network ? "network" : "no network"]
    words.append(
      "writes in \(permissions.writable.isEmpty ? "no folder" : permissions.writable.joined(separator: ", "))")
    if !boundsWrites { words.append("not held to that, since this kernel has no Landlock") }
    if !permissions.environment.isEmpty {
      words.append("reads the variables \(permissions.environment.joined(separator: ", "))")
    }
    if let memory = limits.memory { words.append("at most \(ByteCount(memory).text) of memory") }
    return words
  }

  /// The note that its parts carry.
  public var note: PluginNote {
    PluginNote(name: name, version: version, folder: folder, permissions: permissionWords)
  }
}

/// One op that a plugin offers.
public struct PluginOp: Sendable {
  /// Its name, by which manifests call it.
  public var name: String
  /// What it stands for.
  public var kind: Role
  /// What it does, in one sentence.
  public var summary: String
  /// The media types that it takes; empty is all.
  public var takes: [String] = []
  /// The media type of what it gives; nil where it stays the same, or shows in the bytes.
  public var gives: String?
  /// The item fields that it sets, with their types.
  public var sets: [ItemField] = []
  /// The item fields that it cannot do without.
  public var reads: [String] = []
  /// Whether the same input gives the same output.
  public var isDeterministic = true
  /// How often it may run.
  public var per: [Per] = [.leg, .item]
  /// Its configuration.
  public var fields: [FieldSpec] = []
  /// The field that a bare scalar or list stands for.
  public var shorthand: String?
  /// The keys whose texts are paths, taken from the manifest's folder where they are relative.
  public var paths: Set<String> = []

  /// An op.
  public init(name: String, kind: Role, summary: String) {
    self.name = name
    self.kind = kind
    self.summary = summary
  }
}

/// What the processes of a plugin may use.
public struct PluginLimits: Sendable, Hashable {
  /// The most processes of one op.
  public var instances = 1
  /// The most unanswered items of a process.
  public var window = 8
  /// The time in which a process must say that it is ready.
  public var start = Interval.seconds(10)
  /// The time for one item.
  public var item = Interval.seconds(60)
  /// The most memory of a process and all that it starts.
  public var memory: Int?
  /// The time without work after which a process is ended.
  public var idleExit = Interval.seconds(300)

  /// The defaults.
  public init() {}
}

/// What the processes of a plugin may do.
public struct PluginPermissions: Sendable, Hashable {
  /// Whether they reach the network.
  public var network = false
  /// The variables that they get beside `PATH HOME LANG TMPDIR`.
  public var environment: [String] = []
  /// Where they may write: `workdir`, or absolute paths.
  public var writable = ["workdir"]

  /// The defaults.
  public init() {}
}
