import FlowBase
import Testing

@testable import FlowStore

@Suite struct `The state's folder` {
  @Test func `holds what belongs to it, for its owner alone, and stays out of version control`() throws {
    let place = try Sandbox()
    let folder = place.store.folder
    for path in [folder.path, folder.temporary, folder.spool, folder.runs] {
      #expect(try FileSystem.facts(path).mode == 0o700)
    }
    #expect(try FileSystem.facts(folder.journal).mode == 0o600)
    #expect(try FileSystem.read(place.path + "/state/.gitignore") == Array("*\n".utf8))
    #expect(try FileSystem.facts(folder.makeRun("01")).kind == .directory)
  }

  @Test func `is one run's at a time, and the second learns whose`() throws {
    let place = try Sandbox()
    do {
      _ = try RunLock(path: place.store.folder.lock)
      Issue.record("two hold the lock")
    } catch {
      #expect(error.code == "state.locked")
      #expect(error.message.contains("process \(ThisProcess.id)"))
    }
    place.store.close()
    _ = try RunLock(path: place.store.folder.lock)
  }

  @Test func `is waited for on request`() async throws {
    let place = try Sandbox()
    let path = place.store.folder.lock
    let taken = Mailbox<Bool>()
    WorkerThread.start("waits") {
      taken.post((try? RunLock(path: path, waits: true)) != nil)
    }
    place.store.close()
    let isTaken = await withCheckedContinuation { continuation in
      WorkerThread.start("listens") {
        var letters: [Bool] = []
        taken.take(into: &letters, until: nil)
        continuation.resume(returning: letters.first ?? false)
      }
    }
    #expect(isTaken)
  }

  @Test func `is free again when its holder is gone`() throws {
    let place = try Sandbox()
    let path = place.path + "/lock"
    do { _ = try RunLock(path: path) }
    _ = try RunLock(path: path)
  }
}

@Suite struct `Temporary files` {
  @Test func `know their digest, start anew, and go`() throws {
    let place = try Sandbox()
    let partial = place.store.temporary.makePartial()
    try partial.write(Array("wrong".utf8))
    #expect(try FileSystem.facts(partial.path).mode == 0o600)
    try partial.restart()
    try partial.write(Array("right".utf8))
    try partial.write(Array(" one".utf8))
    #expect(partial.count == 9)
    let file = try partial.finish()
    #expect(file.sha256 == Digest.sha256(of: "right one"))
    #expect(try FileSystem.read(file.path) == Array("right one".utf8))
    let other = place.store.temporary.makePartial()
    try other.write([1])
    other.abandon()
    #expect(try place.temporaries() == [file.name])
  }

  /// Room for so many bytes.
  private final class Bytes: MemoryRoom {
    private let left: Guarded<Int>
    init(_ bytes: Int) { left = Guarded(bytes) }
    func grow(by bytes: Int) -> Bool {
      left.withLock { left in
        if left < bytes { return false }
        left -= bytes
        return true
      }
    }
  }

  @Test(arguments: [0, 10, 70_000, 1_000_000])
  func `are none while there is room in memory, and hold the same bytes either way`(room: Int) throws {
    let place = try Sandbox()
    let file = place.store.temporary.makePartial(room: Bytes(room))
    try file.write(contentsOf: [9, 9, 9])
    try file.restart()
    let piece = [UInt8]((0..<200).map { UInt8($0) })
    for _ in 0..<500 { try file.write(contentsOf: piece) }
    let whole = Array(repeating: piece, count: 500).flatMap { $0 }
    #expect(file.count == whole.count)
    #expect(try place.temporaries().count == (room < whole.count ? 1 : 0))
    switch try file.finish() {
    case .memory(let bytes, let sha256, _):
      #expect(room >= whole.count && bytes == whole && sha256 == Digest.sha256(of: whole))
    case .file(let finished):
      #expect(room < whole.count && finished.sha256 == Digest.sha256(of: whole))
      #expect(try FileSystem.read(finished.path) == whole)
    }
  }

  @Test func `in memory go without a trace, and are left to a later run only where something was noted of them`() throws
  {
    let place = try Sandbox()
    let folder = place.store.temporary
    let gone = folder.makePartial(room: Bytes(1 << 20))
    try gone.write(contentsOf: [1, 2])
    gone.abandon()
    let unnoted = folder.makePartial(room: Bytes(1 << 20))
    try unnoted.write(contentsOf: [1, 2])
    unnoted.leave()
    let empty = folder.makePartial(room: Bytes(1 << 20))
    try empty.remember("nothing")
    empty.leave()
    #expect(try place.temporaries().isEmpty)
    let left = folder.makePartial(room: Bytes(1 << 20))
    try left.write(contentsOf: [3, 4])
    try left.remember("three and four")
    #expect(try place.temporaries().isEmpty)
    left.leave()
    #expect(try place.temporaries().count == 2)
    let spilled = folder.makePartial(room: Bytes(40_000))
    try spilled.write(contentsOf: Array(repeating: 5, count: 30_000))
    try spilled.remember("fives")
    try spilled.write(contentsOf: Array(repeating: 5, count: 30_000))
    #expect(try place.temporaries().count == 4)
    spilled.abandon()
    #expect(try place.temporaries().count == 2)
  }

  @Test func `may be empty`() throws {
    let place = try Sandbox()
    let file = try place.store.temporary.makePartial().finish()
    #expect(file.bytes == 0)
    #expect(try FileSystem.facts(file.path).size == 0)
  }
}
