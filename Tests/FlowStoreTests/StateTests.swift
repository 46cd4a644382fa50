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

  @Test func `may be empty`() throws {
    let place = try Sandbox()
    let file = try place.store.temporary.makePartial().finish()
    #expect(file.bytes == 0)
    #expect(try FileSystem.facts(file.path).size == 0)
  }
}
