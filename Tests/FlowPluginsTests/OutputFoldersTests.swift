import FlowBase
import FlowTesting
import Testing

@testable import FlowPlugins

/// Folders for outputs are used again only where nobody could tell that they were used before.
@Suite struct OutputFoldersTests {
  private let place: TempPlace
  private let folders: OutputFolders

  init() throws {
    place = try TempPlace()
    folders = OutputFolders(below: place.path, most: 2)
  }

  /// A folder that was empty so long that whatever happens to it shows in its times.
  private func settledFolder() throws -> OutputFolder {
    let clock = SystemTime()
    let end = clock.now() + .seconds(10)
    while true {
      let folder = try folders.take(for: 1)
      if folder.isSettled || clock.now() > end { return folder }
      folder.giveBack(mayReuse: true)
    }
  }

  private var names: [String] { ((try? SmallFiles.names(in: place.path)) ?? []).sorted() }

  @Test func `A new folder has the number of its item, and is its owner's alone`() throws {
    let folder = try folders.take(for: 7)
    #expect(folder.path == place.file("7"))
    #expect(try FileSystem.facts(folder.path).mode == 0o700)
  }

  @Test func `A folder in which nothing was left is the next item's`() throws {
    let first = try folders.take(for: 1)
    first.giveBack(mayReuse: true)
    #expect(try folders.take(for: 2).path == first.path)
    #expect(names == ["1"])
  }

  @Test func `A folder that is lent is nobody else's`() throws {
    let (first, second) = (try folders.take(for: 1), try folders.take(for: 2))
    #expect(first.path != second.path)
    first.giveBack(mayReuse: true)
    second.giveBack(mayReuse: true)
    #expect(Set([try folders.take(for: 3).path, try folders.take(for: 4).path]) == [first.path, second.path])
    #expect(try folders.take(for: 5).path == place.file("5"))
  }

  @Test func `No more folders wait than items can be under way`() throws {
    for folder in try (1...4).map(folders.take) { folder.giveBack(mayReuse: true) }
    #expect(names.count == 2)
  }

  @Test func `Who may still write into a folder keeps it from being used again`() throws {
    try folders.take(for: 1).giveBack(mayReuse: false)
    #expect(names == [])
    #expect(try folders.take(for: 2).path == place.file("2"))
  }

  @Test func `A folder that has been empty for long is known to be by one look, and is used again`() throws {
    let first = try settledFolder()
    #expect(first.isSettled)
    first.giveBack(mayReuse: true)
    let second = try folders.take(for: 2)
    #expect(second.path == first.path && second.isSettled)
    #expect(names == ["1"])
  }

  @Test(
    arguments: ["a file", "a hidden file", "a folder", "a link", "another mode", "another folder", "a link instead"],
    [false, true])
  func `A folder that is not as it was is removed and not used again`(change: String, isSettled: Bool) throws {
    let first = isSettled ? try settledFolder() : try folders.take(for: 1)
    #expect(first.isSettled == isSettled)
    let inside = PathText.join(first.path, "x")
    switch change {
    case "a file": try SmallFiles.create(inside, [1])
    case "a hidden file": try SmallFiles.create(PathText.join(first.path, ".x"), [])
    case "a folder": try SmallFiles.makeFolder(PathText.join(first.path, ".x/y"))
    case "a link": try FileSystem.makeLink(inside, to: "/")
    case "another mode": try FileSystem.setMode(first.path, 0o777)
    case "another folder":
      // The old one stays under another name, so that the new one cannot get its number.
      try FileSystem.rename(first.path, to: place.file("elsewhere"))
      try SmallFiles.makeFolder(first.path, mode: 0o700)
    default:
      try FileSystem.removeDirectory(first.path)
      try FileSystem.makeLink(first.path, to: "/tmp")
    }
    first.giveBack(mayReuse: true)
    #expect(!SmallFiles.exists(first.path))
    let second = try folders.take(for: 2)
    #expect(second.path == place.file("2"))
    #expect(try SmallFiles.names(in: second.path) == [])
  }

  @Test func `A folder that somebody touches while it waits is not given out`() throws {
    let first = try folders.take(for: 1)
    first.giveBack(mayReuse: true)
    try SmallFiles.create(PathText.join(first.path, "late"), [1])
    #expect(try folders.take(for: 2).path == place.file("2"))
    #expect(names == ["2"])
  }

  @Test func `What stands in the way of a new folder goes`() throws {
    try SmallFiles.create(place.file("1"), [1])
    try SmallFiles.makeFolder(place.file("2/deep"))
    for id in 1...2 { #expect(try SmallFiles.names(in: folders.take(for: id).path) == []) }
  }

  @Test func `With the process its folders go, at once or when they come back`() throws {
    let (first, second) = (try folders.take(for: 1), try folders.take(for: 2))
    first.giveBack(mayReuse: true)
    folders.close()
    #expect(names == ["2"])
    second.giveBack(mayReuse: true)
    #expect(names == [])
  }

  @Test func `A work directory that is gone is made again, and what cannot be made is told of`() throws {
    let gone = OutputFolders(below: place.file("gone/deep"), most: 2)
    #expect(try SmallFiles.names(in: gone.take(for: 1).path) == [])
    try SmallFiles.create(place.file("file"), [])
    let nowhere = OutputFolders(below: place.file("file"), most: 2)
    #expect(throws: Fault.self) { try nowhere.take(for: 1) }
  }
}
