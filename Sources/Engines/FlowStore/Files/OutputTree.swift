public import FlowBase

/// The output directory: opened once, and everything in it reached by steps that no link can lead astray.
///
/// Its owner's thread publishes; looking (`facts`, `digest`) may happen on other threads.
public final class OutputTree: Sendable {
  /// The directory's absolute path.
  public let root: String
  /// The directory itself.
  let directory: Descriptor
  private let open: Guarded<DirectoryCache>
  /// The permissions that new files have: 0666 without the umask.
  let defaultMode: Int

  /// Opens the directory, and makes it where it is missing.
  public init(root: String) throws(Fault) {
    self.root = root
    directory = try naming("open", root) { () throws(Errno) in
      try FileSystem.makeDirectories(root)
      return try FileSystem.open(root, [.read, .directory])
    }
    // Connections need descriptors as well, so only a small share of what is allowed is held here. Of folders that are
    // used in turn all have to be held, or none is found again.
    open = Guarded(DirectoryCache(limit: min(2048, ThisProcess.openFileLimit / 8)))
    defaultMode = 0o666 & ~ThisProcess.umask
  }

  /// The file system that it lies on.
  public func device() throws(Fault) -> UInt64 {
    try naming("look at", root) { () throws(Errno) in try directory.facts().device }
  }

  /// The absolute path of an output.
  public func absolute(_ path: String) -> String { PathText.join(root, path) }

  /// What stands at a path, links not followed; nil if nothing does.
  public func facts(_ path: String) throws(Fault) -> FileFacts? {
    try OutputPath.check(path)
    let (folder, name) = OutputPath.split(path)
    do {
      return try FileSystem.facts(name, in: step(into: folder, making: false), following: false)
    } catch {
      switch error {
      case .noEntry, .notDirectory: return nil
      default: throw refusal(error, "look at", path)
      }
    }
  }

  /// Opens an output for reading; nil if there is no such file.
  public func read(_ path: String) throws(Fault) -> Descriptor? {
    try OutputPath.check(path)
    let (folder, name) = OutputPath.split(path)
    do {
      return try FileSystem.open(name, [.read, .noFollow, .nonBlocking], in: step(into: folder, making: false))
    } catch {
      switch error {
      case .noEntry, .notDirectory, .loop: return nil
      default: throw refusal(error, "read", path)
      }
    }
  }

  /// Puts a finished file under its final name, in one step; what had the name is replaced, a link included.
  ///
  /// False where the file lies on another file system and has to be copied first.
  func move(_ file: FinishedFile, to place: inout OutputPlace, replacing: Bool) throws(Fault) -> Bool {
    do {
      try FileSystem.rename(
        file.name, in: file.folder.directory, to: place.name, in: place.directory, replacing: replacing)
    } catch {
      if error == .crossDevice { return false }
      if error == .noEntry, (try? FileSystem.facts(file.name, in: file.folder.directory)) != nil, !place.isFresh {
        // Somebody has removed the folder since it was opened.
        closeDirectories()
        place = try self.place(place.path, making: true)
        place.isFresh = true
        return try move(file, to: &place, replacing: replacing)
      }
      if error == .invalid && !replacing {
        // A file system without the call that does not replace: the look before leaves a gap, but only a small one.
        if try facts(place.path) != nil { throw refusal(.exists, "publish", place.path) }
        return try move(file, to: &place, replacing: true)
      }
      throw refusal(error, "publish", place.path)
    }
    file.folder.count(-file.bytes)
    return true
  }

  /// The directory in which an output lies or will lie, and its name there.
  func place(_ path: String, making: Bool) throws(Fault) -> OutputPlace {
    try OutputPath.check(path)
    let (folder, name) = OutputPath.split(path)
    do {
      return OutputPlace(path: path, folder: folder, name: name, directory: try step(into: folder, making: making))
    } catch { throw refusal(error, "make the folder of", path) }
  }

  /// Removes an output and the folders that become empty; says whether it was there.
  public func remove(_ path: String) throws(Fault) -> Bool {
    try OutputPath.check(path)
    var (folder, name) = OutputPath.split(path)
    do {
      try FileSystem.remove(name, in: step(into: folder, making: false))
      while !folder.isEmpty {
        (folder, name) = OutputPath.split(folder)
        let above = try step(into: folder, making: false)
        let removed = folder.isEmpty ? name : folder + "/" + name
        open.withLock { $0.forget(below: removed) }
        try FileSystem.removeDirectory(name, in: above)
      }
    } catch {
      switch error {
      case .noEntry, .notDirectory: return false
      case .notEmpty, .exists: return true
      default: throw refusal(error, "remove", path)
      }
    }
    return true
  }

  /// Forgets the directories that are held open, so that their descriptors can be used for something else.
  func closeDirectories() { open.withLock { $0.removeAll() } }

  /// A folder for temporary files that is certain to lie on the output's file system.
  func nearbyTemporary(owner: String) throws(Fault) -> TemporaryFolder {
    // Its own for each state: another run ends, and removes it, when it likes.
    try TemporaryFolder(path: absolute(".imgflow-tmp-\(owner)"), owner: owner, isRemovedWhenEmpty: true)
  }

  /// Waits until the names in some folders are on the disk, and those of the folders that were made since.
  func syncFolders(_ folders: Set<String>) throws(Fault) {
    let made = open.withLock { cache in
      defer { cache.made = [] }
      return cache.made
    }
    for folder in folders.union(made) {
      do { try step(into: folder, making: false).sync() } catch {
        // A folder that somebody has removed has no names to keep, and some file systems sync none.
        switch error {
        case .noEntry, .invalid, .notSupported: continue
        default: throw refusal(error, "sync", folder)
        }
      }
    }
  }

  // MARK: Steps

  /// A folder below the output directory, opened; missing ones are made on request.
  private func step(into folder: String, making: Bool) throws(Errno) -> Descriptor {
    if folder.isEmpty { return directory }
    if let known = open.withLock({ $0[folder] }) { return known }
    let opened: Descriptor
    do {
      opened = try openBeneath(folder)
    } catch {
      guard error == .noEntry, making else { throw error }
      let (above, name) = OutputPath.split(folder)
      let parent = try step(into: above, making: true)
      do {
        try FileSystem.makeDirectory(name, in: parent)
        open.withLock { _ = $0.made.insert(above) }
      } catch { if error != .exists { throw error } }
      opened = try FileSystem.open(name, [.read, .directory, .noFollow], in: parent)
    }
    open.withLock { $0[folder] = opened }
    return opened
  }

  /// One call where the kernel has it; else, and for paths too long for one call, step by step.
  private func openBeneath(_ folder: String) throws(Errno) -> Descriptor {
    do {
      return try FileSystem.openBeneath(folder, [.read, .directory, .noFollow], in: directory)
    } catch {
      switch error {
      case .noCall, .notPermitted, .nameTooLong: break
      case .tooManyFiles, .tooManyFilesInSystem:
        closeDirectories()
        return try FileSystem.openBeneath(folder, [.read, .directory, .noFollow], in: directory)
      default: throw error
      }
    }
    var current = directory
    for name in folder.split(separator: "/") {
      current = try FileSystem.open(String(name), [.read, .directory, .noFollow], in: current)
    }
    return current
  }

  /// The fault for a call that failed on an output: links and files in the way have faults of their own.
  private func refusal(_ error: Errno, _ action: String, _ path: String) -> Fault {
    switch error {
    case .loop, .crossDevice:
      Fault(
        "path.escapes", .permanent,
        "cannot \(action) \(absolute(path)): a folder on the way is a symbolic link; remove the link or choose another path"
      )
    case .notDirectory:
      // O_NOFOLLOW with O_DIRECTORY says "not a directory" of links too.
      linkOnTheWay(to: path)
        ?? Fault(
          "path.collision", .permanent,
          "cannot \(action) \(absolute(path)): a step of the path is a file; choose a path that does not go through it")
    case .isDirectory:
      Fault(
        "path.collision", .permanent,
        "cannot \(action) \(absolute(path)): a directory has this name; choose another path or remove the directory")
    case .exists:
      Fault(
        "path.exists", .permanent,
        "\(absolute(path)) is there already, and `on_exists: fail` stands; remove it or choose another path")
    default: error.fault(action, absolute(path))
    }
  }

  private func linkOnTheWay(to path: String) -> Fault? {
    var current = directory
    for name in path.split(separator: "/").dropLast() {
      guard let facts = try? FileSystem.facts(String(name), in: current, following: false) else { return nil }
      if facts.kind == .link { return refusal(.loop, "reach", path) }
      guard let next = try? FileSystem.open(String(name), [.read, .directory, .noFollow], in: current) else {
        return nil
      }
      current = next
    }
    return nil
  }
}

/// Where an output lies: the opened directory and the name in it.
struct OutputPlace {
  /// The path below the output directory.
  var path: String
  /// The folder's path below the output directory.
  var folder: String
  /// The last step.
  var name: String
  /// The folder, opened.
  var directory: Descriptor
  /// Whether it was looked up again because the folder was gone.
  var isFresh = false
}
