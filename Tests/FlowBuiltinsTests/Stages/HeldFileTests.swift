import FlowBase
import FlowParts
import FlowTesting
import Testing

/// Bytes that become a file when somebody needs one.
@Suite struct HeldFileTests {
  private static let bytes = Array("some bytes".utf8)

  private func held(in place: TempPlace, written: Guarded<Int> = Guarded(0)) -> HeldFile {
    HeldFile(memory: HeldFileTests.bytes, sha256: Digest.sha256(of: HeldFileTests.bytes), room: nil) {
      bytes throws(Fault) in
      let number = written.withLock { written in
        written += 1
        return written
      }
      let path = place.file("\(number)")
      try SmallFiles.replace(path, bytes)
      return HeldFile(path: path, bytes: bytes.count, sha256: Digest.sha256(of: bytes), isTemporary: true) {
        try? FileSystem.remove($0)
      }
    }
  }

  @Test func `They are in memory until a path is asked for, and then in one file that goes with its holder`() throws {
    let place = try TempPlace()
    do {
      let file = held(in: place)
      #expect(file.memory == HeldFileTests.bytes && file.writtenPath == nil && file.bytes == 10)
      #expect(try SmallFiles.names(in: place.path).isEmpty)
      let path = try file.path
      #expect(try SmallFiles.read(path) == HeldFileTests.bytes)
      #expect(try file.path == path && file.writtenPath == path && file.memory == nil && file.isTemporary)
      withExtendedLifetime(file) {}
    }
    #expect(try SmallFiles.names(in: place.path).isEmpty)
  }

  @Test func `Whoever asks first writes it, and all have the same path`() async throws {
    let place = try TempPlace()
    let file = held(in: place)
    let paths = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<16 { group.addTask { try? file.path } }
      return await group.reduce(into: Set<String?>()) { $0.insert($1) }
    }
    #expect(paths.count == 1 && paths.first != .some(nil))
    #expect(try SmallFiles.names(in: place.path).count == 1)
    withExtendedLifetime(file) {}
  }

  @Test func `What is in memory cannot be moved, and stays where it was written once it is kept`() throws {
    let place = try TempPlace()
    do {
      let file = held(in: place)
      #expect(!file.claimMove())
      _ = try file.path
      #expect(file.claimMove())
      file.releaseClaim()
      file.keep()
    }
    #expect(try SmallFiles.names(in: place.path).count == 1)
  }

  @Test func `What is given away is nobody else's from then on, and is not removed here`() throws {
    let place = try TempPlace()
    do {
      let file = held(in: place)
      // Nobody could take it up by a path that it has not.
      #expect(!file.giveAway() && file.isTemporary)
    }
    do {
      let file = held(in: place)
      _ = try file.path
      #expect(file.giveAway())
      #expect(!file.share() && !file.claimMove() && !file.giveAway())
    }
    #expect(try SmallFiles.names(in: place.path).count == 1)
    let shared = held(in: place)
    _ = try shared.path
    #expect(shared.share() && !shared.giveAway() && !shared.isTemporary)
  }

  @Test func `Where it cannot be written, that is said, and the bytes stay`() throws {
    let full = Fault("disk.full", .local, "no room")
    let file = HeldFile(memory: [1], sha256: Digest.sha256(of: [1]), room: nil) { _ throws(Fault) in throw full }
    #expect(throws: Fault.self) { try file.path }
    #expect(file.memory == [1])
  }
}
