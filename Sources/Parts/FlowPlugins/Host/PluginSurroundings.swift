public import FlowBase

/// What plugins are started with that stands neither in their plugin.yaml nor in a manifest.
public struct PluginSurroundings: Sendable {
  /// The program whose verb `__launch` sets a plugin's bounds and becomes it; nil starts plugins without bounds.
  public var launcher: String?
  /// Takes down what is said in both directions.
  public var recorder: PluginRecorder?
  /// The times that hold beside those of a plugin.yaml; tests make them shorter.
  var limits = HostMachine.Limits()

  /// Surroundings.
  public init(launcher: String? = nil, recorder: PluginRecorder? = nil) {
    self.launcher = launcher
    self.recorder = recorder
  }

  /// Ends what a process of a plugin has left behind: whatever still has its folder for temporary files.
  func sweep(_ workdir: String) {
    ProcessFacts.endAll(withVariable: "TMPDIR", value: PathText.join(workdir, "tmp"))
  }

  /// How a process of a plugin is started, with a folder that it may write in.
  func order(for plugin: PluginManifest, workdir: String) -> ProgramOrder {
    var environment = ProgramOrder.plainEnvironment
    for name in plugin.permissions.environment {
      if let value = Environment.value(of: name) { environment[name] = value }
    }
    environment["TMPDIR"] = PathText.join(workdir, "tmp")
    var words: [String] = []
    if let launcher {
      words = [launcher, "__launch"]
      if let memory = plugin.limits.memory { words.append("--memory=\(memory)") }
      if plugin.permissions.network { words.append("--network") }
      for place in plugin.permissions.writable { words.append("--write=\(place == "workdir" ? workdir : place)") }
      words.append("--")
    }
    return ProgramOrder(words + plugin.run, environment: environment, folder: plugin.folder)
  }
}

/// Takes down, line by line, what a host and its plugins say to each other.
public final class PluginRecorder: Sendable {
  private let file: Descriptor
  private let started = SystemTime().now()

  /// Starts a new record.
  public init(path: String) throws(Fault) {
    file = try naming("write", path) { () throws(Errno) in
      try FileSystem.open(path, [.write, .create, .truncate], mode: 0o600)
    }
  }

  /// Takes down the start of a process.
  func start(_ plugin: PluginManifest, op: String, instance: Int, pid: Int) {
    write([
      "at_ms": .double((SystemTime().now() - started).milliseconds), "start": .string(op), "instance": .int(instance),
      "pid": .int(pid), "plugin": .string(plugin.name), "version": .string(plugin.version),
      "folder": .string(plugin.folder),
    ])
  }

  /// Takes down lines that went to a process (`>`) or came from it (`<`).
  func lines(_ bytes: [UInt8], _ direction: String, pid: Int) {
    for line in bytes.split(separator: 0x0A) {
      write([
        "at_ms": .double((SystemTime().now() - started).milliseconds), "pid": .int(pid), "way": .string(direction),
        "line": .string(String(decoding: line, as: UTF8.self)),
      ])
    }
  }

  private func write(_ fields: Fields) {
    var writer = JSONWriter()
    writer.value(.map(fields))
    try? file.write(writer.bytes + [0x0A])
  }
}
