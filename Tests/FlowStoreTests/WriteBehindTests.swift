import FlowBase
import Glibc
import Testing

@testable import FlowStore

@Suite struct `Bytes written behind their writer` {
  /// A folder for temporary files with its own crew.
  private final class Place {
    let folder: TemporaryFolder
    init(
      threads: Int = 2, patience: Interval = .seconds(1), in parent: String = "/tmp", start: @escaping WriteCrew.Start
    )
      throws
    {
      folder = try TemporaryFolder(
        path: "\(parent)/imgflow-store-\(Entropy.token(10))", owner: "t", isRemovedWhenEmpty: true,
        crew: WriteCrew(threads: threads, patience: patience, start: start))
    }
    /// A crew with threads.
    convenience init(threads: Int = 2) throws {
      try self.init(threads: threads) { WorkerThread.tryStart($0, $1) }
    }
    deinit { try? FileSystem.removeTree(folder.path) }
  }

  private static let enough = PartialFile.longEnough
  private static let piece = WriteCrew.chunk

  /// Bytes that begin anew after so many that no two chunks are the same.
  private static let source: [UInt8] = {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    let period = (0..<65_521).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
    return [[UInt8]](repeating: period, count: 128).flatMap { $0 }
  }()

  /// Some of them, others for each seed.
  private static func noise(_ count: Int, seed: Int = 0) -> [UInt8] { Array(source[seed * 1000..<seed * 1000 + count]) }

  private static func write(_ bytes: [UInt8], to file: PartialFile, by step: Int = 16_000) throws {
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + step)
      try file.write(Array(bytes[start..<end]))
      start = end
    }
  }

  @Test(arguments: [
    enough - 1, enough, enough + 1, enough + 16_000, enough + piece - 1, enough + piece, enough + piece + 1,
    enough + 4 * piece + 5, enough + (WriteBehind.longestLine + 6) * piece + 77,
  ])
  func `are the same, in order, for each length and each step`(length: Int) throws {
    let place = try Place()
    let bytes = Self.noise(length)
    let expected = Digest.sha256(of: bytes)
    for step in [4096, 16_384, 100_001, Self.piece - 1, Self.piece, length] {
      let partial = place.folder.makePartial()
      try Self.write(bytes, to: partial, by: step)
      #expect(partial.count == length)
      let file = try partial.finish()
      #expect(file.sha256 == expected, "steps of \(step)")
      #expect(file.bytes == length)
      #expect(try FileSystem.read(file.path) == bytes)
      file.remove()
    }
    #expect(place.folder.usedBytes == 0)
    #expect(place.folder.crew.usedChunks == 0)
  }

  @Test func `are in order where steps are long and short in turn`() throws {
    let place = try Place()
    let partial = place.folder.makePartial()
    var whole: [UInt8] = []
    for (turn, length) in [700_000, 16, 400_000, 16, 16_384, 600_000, Self.piece, 1, Self.piece - 1, 2, 900_000, 5]
      .enumerated()
    {
      let part = Self.noise(length, seed: turn)
      try partial.write(part)
      whole += part
      #expect(partial.count == whole.count)
    }
    let file = try partial.finish()
    #expect(file.sha256 == Digest.sha256(of: whole))
    #expect(try FileSystem.read(file.path) == whole)
  }

  @Test func `are the writer's work where there is no thread to be had`() throws {
    let place = try Place { _, _ in false }
    let bytes = Self.noise(Self.enough + Self.piece * 12 + 1)
    let partial = place.folder.makePartial()
    try Self.write(bytes, to: partial)
    let file = try partial.finish()
    #expect(file.sha256 == Digest.sha256(of: bytes))
    #expect(try FileSystem.read(file.path) == bytes)
    #expect(place.folder.crew.threads == 0)
  }

  @Test func `of many files at once are right with a single thread for all`() async throws {
    let place = try Place(threads: 1)
    let folder = place.folder
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for seed in 1...6 {
        group.addTask {
          // Each writer has three files at once, as a thread that receives has.
          let contents = (0..<3).map { Self.noise(Self.enough + Self.piece * (seed + $0) + seed, seed: seed + $0) }
          let files = contents.map { _ in folder.makePartial() }
          var place = 0
          while place < contents[2].count {
            for (file, bytes) in zip(files, contents) where place < bytes.count {
              try file.write(Array(bytes[place..<min(bytes.count, place + 60_000)]))
            }
            place += 60_000
          }
          return try zip(files, contents).allSatisfy { partial, bytes in
            let file = try partial.finish()
            return try file.sha256 == Digest.sha256(of: bytes) && FileSystem.read(file.path) == bytes
          }
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
    #expect(folder.crew.usedChunks == 0)
  }

  @Test func `go to the file at once where no chunk is left for them`() throws {
    let place = try Place { _, _ in false }
    var held: [[UInt8]] = []
    while let chunk = place.folder.crew.takeChunk() { held.append(chunk) }
    #expect(held.count == WriteCrew.mostChunks)
    let bytes = Self.noise(Self.enough + Self.piece * 3)
    let partial = place.folder.makePartial()
    try Self.write(bytes, to: partial)
    #expect(try FileSystem.facts(partial.path).size == bytes.count)
    // One comes free in the middle.
    place.folder.crew.give(&held[0])
    try Self.write(bytes, to: partial)
    let file = try partial.finish()
    #expect(file.sha256 == Digest.sha256(of: bytes + bytes))
    #expect(try FileSystem.read(file.path) == bytes + bytes)
  }

  @Test func `are forgotten when the file starts anew`() throws {
    let place = try Place()
    let bytes = Self.noise(Self.enough + 9 * Self.piece)
    let partial = place.folder.makePartial()
    for length in [bytes.count, Self.enough + Self.piece, 100, bytes.count] {
      try Self.write(Self.noise(length, seed: 9), to: partial)
      try partial.restart()
      #expect(partial.count == 0)
      #expect(place.folder.usedBytes == 0)
      #expect(place.folder.crew.usedChunks == 0)
    }
    try Self.write(bytes, to: partial)
    let file = try partial.finish()
    #expect(file.sha256 == Digest.sha256(of: bytes))
    #expect(try FileSystem.read(file.path) == bytes)
  }

  @Test func `go with the file when it is abandoned, or dropped without a word`() throws {
    let place = try Place()
    for step in 1...20 {
      let partial = place.folder.makePartial()
      try Self.write(Self.noise(Self.enough + step * 100_000), to: partial)
      partial.abandon()
      #expect(throws: Errno.noEntry) { try FileSystem.facts(partial.path) }
      #expect(place.folder.crew.usedChunks == 0)
    }
    #expect(place.folder.usedBytes == 0)
    let idle = try Place { _, _ in false }
    try Self.write(Self.noise(Self.enough + 500_000), to: idle.folder.makePartial())
    #expect(idle.folder.crew.usedChunks == 0)
  }

  @Test func `are all there for a later run that the file is left to`() throws {
    let place = try Place()
    let bytes = Self.noise(Self.enough + 12 * Self.piece + 123)
    let cut = Self.enough + 6 * Self.piece + 45
    let partial = place.folder.makePartial()
    try Self.write(Array(bytes[..<cut]), to: partial)
    try partial.remember("half")
    partial.leave()
    #expect(try FileSystem.facts(partial.path).size == cut)
    let again = try PartialFile(reopening: partial.name, in: place.folder)
    #expect(again.count == cut)
    try Self.write(Array(bytes[cut...]), to: again)
    let file = try again.finish()
    #expect(file.sha256 == Digest.sha256(of: bytes))
    #expect(try FileSystem.read(file.path) == bytes)
  }

  @Test(arguments: [false, true])
  func `tell their writer once that there is no room for them`(hasThreads: Bool) throws {
    let place = try Place { hasThreads && WorkerThread.tryStart($0, $1) }
    for isAtTheEnd in [false, true] {
      let file = try FileSystem.open("/dev/full", .write)
      let behind = WriteBehind(file, "/dev/full", DigestStream(), from: 0, crew: place.folder.crew)
      let piece = Self.noise(16_000)
      let fault = #expect(throws: Fault.self) {
        func write() throws { try unsafe piece.withUnsafeBytes { try unsafe behind.write($0) } }
        // At the latest when the line is full, the writer looks itself.
        if isAtTheEnd { try write() } else { for _ in 0..<1000 { try write() } }
        try behind.drain()
      }
      #expect(fault?.code == "disk.full")
      behind.stop()
      #expect(behind.written == 0)
      try behind.drain()
      #expect(place.folder.crew.usedChunks == 0)
    }
  }

  @Test func `of files side by side are right, whatever becomes of one of them`() throws {
    let crew = Guarded<[@Sendable () -> Void]>([])
    let place = try Place(threads: 1, patience: .milliseconds(1)) { _, body in
      crew.withLock { $0.append(body) }
      return true
    }
    let contents = (0..<4).map { Self.noise(Self.piece * 2 + 1000 * $0, seed: $0) }
    let files = try contents.indices.map { number in
      let path = number == 2 ? "/dev/full" : "\(place.folder.path)/\(number)"
      let file = try FileSystem.open(path, number == 2 ? .write : [.write, .create], mode: 0o600)
      let digest = DigestStream()
      return (
        path: path, digest: digest, behind: WriteBehind(file, path, digest, from: 0, crew: place.folder.crew)
      )
    }
    for (file, bytes) in zip(files, contents) {
      for start in stride(from: 0, to: bytes.count, by: 8000) {
        try unsafe bytes[start..<min(bytes.count, start + 8000)].withUnsafeBytes { try unsafe file.behind.write($0) }
      }
    }
    // The crew finds all of them in its line.
    for body in crew.withLock({ $0 }) { body() }
    for (number, (file, bytes)) in zip(files, contents).enumerated() {
      if number == 2 {
        #expect(throws: Fault.self) { try file.behind.drain() }
        file.behind.stop()
        #expect(file.behind.written == 0)
      } else {
        #expect(file.behind.written > 0)
        try file.behind.drain()
        #expect(file.digest.finish() == Digest.sha256(of: bytes))
        #expect(try FileSystem.read(file.path) == bytes)
      }
    }
    #expect(place.folder.crew.usedChunks == 0)
  }

  @Test(.enabled(if: getuid() == 0), arguments: [false, true])
  func `count only as far as they were written once the disk is full`(hasThreads: Bool) throws {
    let disk = "/tmp/imgflow-small-\(Entropy.token(10))"
    try FileSystem.makeDirectories(disk)
    defer { try? FileSystem.removeTree(disk) }
    // Where mounting is not allowed there is nothing to test.
    guard unsafe mount("tmpfs", disk, "tmpfs", 0, "size=2m") == 0 else { return }
    defer { unsafe umount2(disk, Int32(MNT_DETACH)) }
    let place = try Place(in: disk) { hasThreads && WorkerThread.tryStart($0, $1) }
    let bytes = Self.noise(4 << 20)
    let partial = place.folder.makePartial()
    let fault = #expect(throws: Fault.self) {
      try Self.write(bytes, to: partial)
      _ = try partial.finish()
    }
    #expect(fault?.code == "disk.full")
    let count = partial.count
    #expect(count >= Self.enough && count <= 2 << 20)
    #expect(try FileSystem.facts(partial.path).size == count)
    #expect(place.folder.usedBytes == count)
    let file = try partial.finish()
    #expect(file.sha256 == Digest.sha256(of: Array(bytes[..<count])))
    #expect(try FileSystem.read(file.path) == Array(bytes[..<count]))
  }

  @Test func `have threads only while there are any, and get them again`() throws {
    let threads = Awaited((begun: 0, ended: 0))
    let place = try Place(threads: 1, patience: .milliseconds(10)) { name, body in
      threads.withLock { $0.begun += 1 }
      return WorkerThread.tryStart(name) {
        body()
        threads.withLock { $0.ended += 1 }
        threads.wakeAll()
      }
    }
    let bytes = Self.noise(Self.enough + 4 * Self.piece)
    var begun = 0
    for _ in 0..<2 {
      let partial = place.folder.makePartial()
      try Self.write(bytes, to: partial)
      #expect(try partial.finish().sha256 == Digest.sha256(of: bytes))
      let all = threads.wait { $0.ended == $0.begun ? $0.begun : nil }
      #expect(all > begun)
      #expect(place.folder.crew.threads == 0)
      begun = all
    }
  }
}
