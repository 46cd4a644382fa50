import FlowBase
import Glibc
import Testing

@testable import FlowStore

@Suite struct `Another file system` {
  @Test func `for the output has its own folder for temporary files, which goes when it is empty`() throws {
    let root = "/dev/shm/imgflow-store-\(Entropy.token(10))"
    let state = "/tmp/imgflow-store-\(Entropy.token(10))"
    defer {
      try? FileSystem.removeTree(root)
      try? FileSystem.removeTree(state)
    }
    let store = try Store(folder: StateFolder(directory: state, stem: "m"), outputFolder: root)
    let work = try LedgerWork(journal: store.journal, tree: store.tree, temporary: store.temporary)
    let sameDevice = try FileSystem.facts(state).device == FileSystem.facts(root).device
    // Its own: another run into the same folder ends when it likes, and removes its own.
    #expect(sameDevice || store.temporary.path.hasPrefix(root + "/.imgflow-tmp-"))
    #expect(!sameDevice || store.temporary.path == store.folder.temporary)
    let partial = store.temporary.makePartial()
    try partial.write([1, 2, 3])
    let order = PublishOrder(
      path: "a/x", bytes: .file(try partial.finish()), owner: .item(1, node: 1), ownerName: "s/1", run: 1)
    _ = try work.perform([.publish(order)], durability: .full)[0].get()
    #expect(try FileSystem.read(root + "/a/x") == [1, 2, 3])
    store.close()
    #expect(try SmallFiles.names(in: root) == ["a"])
  }

  @Test func `is crossed by a copy where a temporary file lies on the wrong one`() throws {
    let place = try Sandbox()
    let path = "/dev/shm/imgflow-store-\(Entropy.token(10))"
    defer { try? FileSystem.removeTree(path) }
    let far = try TemporaryFolder(path: path, owner: "t", isRemovedWhenEmpty: true)
    let partial = far.makePartial()
    try partial.write([4, 5])
    let order = PublishOrder(
      path: "a/x", bytes: .file(try partial.finish()), owner: .item(1, node: 1), ownerName: "s/1", run: place.run)
    _ = try place.work.perform([.publish(order)], durability: .full)[0].get()
    #expect(try FileSystem.read(place.out("a/x")) == [4, 5])
    #expect(try FileSystem.facts(place.out("a/x")).mode == 0o666 & ~ThisProcess.umask)
    far.close()
    #expect(throws: Errno.noEntry) { try FileSystem.facts(path) }
    #expect(try SmallFiles.names(in: place.out("")) == ["a"])
  }
}

/// Tests on a disk of a few hundred kilobytes, for which a memory file system has to be mounted.
@Suite(.enabled(if: getuid() == 0)) struct `A full disk` {
  private func withSmallDisk(_ body: (String) throws -> Void) throws {
    let path = "/tmp/imgflow-small-\(Entropy.token(10))"
    try FileSystem.makeDirectories(path)
    defer { try? FileSystem.removeTree(path) }
    // Where mounting is not allowed there is nothing to test.
    guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=1m") == 0 else { return }
    defer { unsafe umount2(path, Int32(MNT_DETACH)) }
    try body(path)
  }

  @Test func `ends writing with a fault, and what comes after it has room again goes well`() throws {
    try withSmallDisk { disk in
      let place = try Sandbox(in: disk)
      try place.publish("before", "1", item: 1)
      let filler = try FileSystem.open(disk + "/filler", [.write, .create])
      #expect(throws: Errno.self) { while true { try filler.write([UInt8](repeating: 0, count: 4096)) } }
      #expect(place.refusal("x/y", String(repeating: "x", count: 10_000), item: 2) == "disk.full")
      #expect(try place.text("before") == "1")
      #expect(try place.store.tree.facts("x/y") == nil)
      try FileSystem.remove(disk + "/filler")
      try filler.truncate(to: 0)
      try place.publish("x/y", "room", item: 2)
      #expect(try place.text("x/y") == "room")
    }
  }

  @Test func `in the journal lets every order of the batch fail`() throws {
    try withSmallDisk { disk in
      let place = try Sandbox(in: disk)
      let orders = (1...2000).map { id in
        StoreOrder.item(
          ItemRecord(
            id: id, source: 1, key: String(repeating: "k", count: 1000) + "\(id)", index: id, status: .ok,
            run: place.run))
      }
      let outcomes = place.work.perform(orders, durability: .full)
      let codes = Set(outcomes.map { if case .failure(let fault) = $0 { fault.code } else { "ok" } })
      #expect(codes == ["disk.full"])
      #expect(try place.reader().counts() == [:])
    }
  }
}
