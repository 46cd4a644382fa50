import FlowBase
import Testing

@testable import FlowStore

/// Files by their digests.
struct ContentStoreTests {
  private let sandbox: Sandbox
  private let content: ContentStore

  init() throws {
    sandbox = try Sandbox()
    content = ContentStore(path: sandbox.path + "/cache")
  }

  private func add(_ text: String) throws -> Digest {
    let file = sandbox.path + "/given-\(text)"
    try SmallFiles.replace(file, Array(text.utf8))
    let digest = Digest.sha256(of: text)
    try content.add(file, digest)
    return digest
  }

  @Test func `What was taken in is given out again, as a file of its own`() throws {
    let digest = try add("some")
    let folder = try TemporaryFolder(path: sandbox.path + "/tmp", owner: "x", isRemovedWhenEmpty: false)
    let file = try #require(try content.take(digest, into: folder))
    #expect(file.bytes == 4 && file.sha256 == digest)
    #expect(try SmallFiles.read(file.path) == Array("some".utf8))
    file.remove()
    #expect(content.check(digest) == 4)
    #expect(try content.take(Digest.sha256(of: "none"), into: folder) == nil)
  }

  @Test func `A file whose bytes are wrong is as good as none, and goes`() throws {
    let digest = try add("some")
    try SmallFiles.replace(content.place(of: digest), Array("sole".utf8))
    #expect(content.has(digest))
    #expect(content.check(digest) == nil)
    #expect(!content.has(digest))
  }

  @Test func `A torn file gives way to a whole one`() throws {
    let digest = try add("some")
    try SmallFiles.replace(content.place(of: digest), Array("so".utf8))
    try content.add(sandbox.path + "/given-some", digest)
    #expect(content.check(digest) == 4)
  }

  @Test func `What was not needed for longest goes first, and what is kept stays`() throws {
    let digests = try ["aaaa", "bbbb", "cccc"].map { try add($0) }
    #expect(content.check(digests[0]) == 4)
    let pruning = try content.prune(toBytes: 8, keeping: [digests[1]])
    #expect(pruning.removedFiles == 1 && pruning.removedBytes == 4 && pruning.leftBytes == 8)
    #expect(digests.map { content.has($0) } == [true, true, false])
    #expect(try content.prune(toBytes: 0, keeping: [digests[1]]).leftFiles == 1)
    #expect(try ContentStore(path: sandbox.path + "/none").prune(toBytes: 0).leftFiles == 0)
  }
}
