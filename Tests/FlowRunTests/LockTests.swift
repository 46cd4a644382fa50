import FlowBase
import Testing

@testable import FlowRun

/// The lock as a text, and what is held against it.
@Suite struct LockTests {
  private static let some = Digest.sha256(of: "some")
  private static let other = Digest.sha256(of: "other")

  private func lock() -> LockFile {
    var lock = LockFile()
    lock.set(LockFile.Entry(source: "urls", key: "b", url: "https://x.org/b", digest: Self.some, size: 4))
    lock.set(
      LockFile.Entry(
        source: "urls", key: "a", url: "https://x.org/a", digest: Self.some, size: 4, media: "image/png", etag: "\"1\"",
        finalURL: "https://x.org/c"))
    lock.set(LockFile.Entry(source: "album", key: "z", url: nil, digest: Self.other, size: 5))
    return lock
  }

  @Test func `A lock is a head and a line an item, sorted, with the names in their order`() throws {
    let text = String(decoding: lock().bytes, as: UTF8.self)
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.first == "{\"imgflow_lock\":1}")
    #expect(
      lines[2]
        == "{\"source\":\"urls\",\"key\":\"a\",\"url\":\"https://x.org/a\",\"digest\":\"\(Self.some.integrity)\","
        + "\"size\":4,\"media\":\"image/png\",\"etag\":\"\\\"1\\\"\",\"final_url\":\"https://x.org/c\"}")
    #expect(lines.count == 4 && lines[1].contains("album") && lines[3].contains("\"key\":\"b\""))
    #expect(text.hasSuffix("\n"))
    let read = try LockFile(parsing: Array(text.utf8), path: "m.lock")
    #expect(read == lock())
    #expect(read.digest == lock().digest)
  }

  @Test(arguments: [
    "", "{}\n", "{\"imgflow_lock\":2}\n", "{\"imgflow_lock\":1}\n<<<<<<< ours\n", "{\"imgflow_lock\":1}\n{}\n",
    "{\"imgflow_lock\":1}\n{\"source\":\"a\",\"key\":\"b\",\"digest\":\"sha256-no\",\"size\":1}\n",
  ])
  func `What is no lock is refused with the line`(text: String) {
    #expect { try LockFile(parsing: Array(text.utf8), path: "m.lock") } throws: { error in
      (error as? Fault)?.code == "lock.unreadable" && (error as? Fault)?.message.hasPrefix("m.lock:") == true
    }
  }

  @Test func `An item that stands twice is refused, since a merge has gone wrong`() {
    let line = String(decoding: lock().bytes, as: UTF8.self).split(separator: "\n")[1]
    #expect(throws: Fault.self) {
      try LockFile(parsing: Array("{\"imgflow_lock\":1}\n\(line)\n\(line)\n".utf8), path: "m.lock")
    }
  }

  @Test func `What differs is found item by item, and at the end what is missing`() {
    var guardian = LockGuard(lock())
    #expect(throws: LockDifference(.surplus, "urls/new", found: "https://x.org/n")) {
      try guardian.entry(for: "urls/new", url: "https://x.org/n")
    }
    #expect(throws: LockDifference(.url, "urls/b", locked: "https://x.org/b", found: "https://y.org/b")) {
      try guardian.entry(for: "urls/b", url: "https://y.org/b")
    }
    let agreements = [
      guardian.agrees("urls/a", url: "https://x.org/a", digest: Self.other),
      guardian.agrees("urls/a", url: "https://x.org/a", digest: Self.some),
    ]
    #expect(agreements == [false, true])
    let wrong = guardian.compare("urls/a", digest: Self.other, size: nil)
    #expect(wrong?.kind == .digest && wrong?.found == Self.other.integrity)
    guardian.finish()
    #expect(guardian.differences.map(\.kind) == [.surplus, .url, .digest, .missing])
    #expect(guardian.differences.last?.item == "album/z")
    for difference in guardian.differences { #expect(difference.fault.code == "lock.violated") }
  }
}
