public import FlowBase

/// The folder of one manifest's state: journal, lock, temporary files, spools, and a folder for each run.
public struct StateFolder: Sendable, Hashable {
  /// Its absolute path.
  public let path: String

  /// The folder of a manifest below the state directory.
  public init(directory: String, stem: String) { path = PathText.join(directory, stem) }

  /// The journal's path.
  public var journal: String { path + "/journal.sqlite" }
  /// The lock's path.
  public var lock: String { path + "/lock" }
  /// The path of the folder for temporary files.
  public var temporary: String { path + "/tmp" }
  /// The path of the folder for what sinks have not delivered yet.
  public var spool: String { path + "/spool" }
  /// The path of the folder with a folder for each run.
  public var runs: String { path + "/runs" }
  /// The path of a run's folder.
  public func run(_ id: String) -> String { runs + "/" + id }

  /// Whether anything was ever run here.
  public var exists: Bool { (try? FileSystem.facts(journal)) != nil }

  /// Makes the folder and those in it, for its owner alone; the state directory is kept out of version control.
  public func make() throws(Fault) {
    let path = path
    try naming("make", path) { () throws(Errno) in
      let directory = PathText.parent(of: path)
      try FileSystem.makeDirectories(directory, mode: 0o700)
      let ignore = directory + "/.gitignore"
      do throws(Errno) {
        try FileSystem.open(ignore, [.write, .create, .exclusive]).write("*\n")
      } catch { if error != .exists { throw error } }
      for folder in [path, temporary, spool, runs] { try FileSystem.makeDirectories(folder, mode: 0o700) }
    }
  }

  /// Makes a run's folder and gives its path.
  public func makeRun(_ id: String) throws(Fault) -> String {
    let folder = run(id)
    try naming("make", folder) { () throws(Errno) in try FileSystem.makeDirectories(folder, mode: 0o700) }
    return folder
  }
}
