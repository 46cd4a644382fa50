import FlowBase
import Testing

@Suite struct `The file system` {
  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = "/tmp/imgflow-base-\(Entropy.token(10))"
    try FileSystem.makeDirectories(folder)
    defer { try? FileSystem.removeTree(folder) }
    try body(folder)
  }

  @Test func `makes folders on the way and removes trees without following links`() throws {
    try withFolder { folder in
      try FileSystem.makeDirectories(folder + "/a/b/c")
      try FileSystem.makeDirectories(folder + "/a/b/c")
      try FileSystem.replace(folder + "/keep", with: [1])
      try FileSystem.makeLink(folder + "/a/link", to: folder)
      try FileSystem.removeTree(folder + "/a")
      #expect(try FileSystem.read(folder + "/keep") == [1])
      #expect(throws: Errno.noEntry) { try FileSystem.facts(folder + "/a") }
    }
  }

  @Test func `lists a folder twice through one descriptor`() throws {
    try withFolder { folder in
      for number in 0..<50 { try FileSystem.replace("\(folder)/\(number)", with: []) }
      let directory = try FileSystem.open(folder, [.read, .directory])
      for _ in 0..<2 {
        let listing = try DirectoryListing(of: directory)
        var names: Set<String> = []
        while let entry = try listing.next() {
          #expect(entry.kind == .file)
          names.insert(entry.name)
        }
        #expect(names.count == 50)
      }
    }
  }

  @Test func `opens nothing outside of a folder`() throws {
    try withFolder { folder in
      try FileSystem.makeDirectories(folder + "/in")
      try FileSystem.replace(folder + "/secret", with: [1])
      try FileSystem.makeLink(folder + "/in/link", to: "../secret")
      let directory = try FileSystem.open(folder + "/in", [.read, .directory])
      for path in ["../secret", "/etc/passwd", "link"] {
        #expect(throws: Errno.self) { try FileSystem.openBeneath(path, .read, in: directory) }
      }
    }
  }

  @Test func `renames without replacing on request`() throws {
    try withFolder { folder in
      try FileSystem.replace(folder + "/a", with: [1])
      try FileSystem.replace(folder + "/b", with: [2])
      #expect(throws: Errno.exists) {
        try FileSystem.rename(folder + "/a", to: folder + "/b", replacing: false)
      }
      #expect(try FileSystem.read(folder + "/b") == [2])
    }
  }

  @Test func `copies bytes, also where they cannot be shared`() throws {
    try withFolder { folder in
      let content = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      try FileSystem.replace(folder + "/a", with: content)
      for target in [folder + "/b", "/dev/shm/imgflow-\(Entropy.token(8))"] {
        let copy = try FileSystem.open(target, [.write, .create, .exclusive])
        try copy.copy(from: FileSystem.open(folder + "/a", .read))
        #expect(try FileSystem.read(target) == content)
        try FileSystem.remove(target)
      }
    }
  }

  @Test func `a full disk has a fault that names the file`() throws {
    let file = try FileSystem.open("/dev/full", .write)
    do {
      try naming("write", "/dev/full") { () throws(Errno) in try file.write([1]) }
      Issue.record("/dev/full took a byte")
    } catch {
      #expect(error.code == "disk.full")
      #expect(error.kind == .local)
      #expect(error.message == "cannot write /dev/full: No space left on device; free some space and run again")
    }
  }

  @Test func `a lock is of one open file at a time`() throws {
    try withFolder { folder in
      let first = try FileSystem.open(folder + "/lock", [.write, .create])
      let second = try FileSystem.open(folder + "/lock", [.write])
      #expect(try first.tryLock())
      #expect(try !second.tryLock())
      first.unlock()
      #expect(try second.tryLock())
    }
  }
}

@Suite struct `Paths as texts` {
  @Test(arguments: [
    ("a/b/c", "a/b", "c"), ("a", ".", "a"), ("/a", "/", "a"), ("a/b/", "a", "b"), ("/", "/", "/"), ("a//b", "a", "b"),
  ])
  func `have a parent and a name`(path: String, parent: String, name: String) {
    #expect(PathText.parent(of: path) == parent)
    #expect(PathText.name(of: path) == name || path == "/")
  }

  @Test(arguments: [
    ("x", "/a/x"), ("../x", "/x"), ("/b/./c//d", "/b/c/d"), ("../../../x", "/x"), (".", "/a"),
  ])
  func `become absolute`(path: String, absolute: String) {
    #expect(PathText.absolute(path, from: "/a") == absolute)
  }
}
