import FlowBase
import Testing

@testable import FlowStore

@Suite struct `Publishing` {
  @Test func `a file gets its final name, its folders and the umask's mode`() throws {
    let place = try Sandbox()
    let published = try place.publish("a/b/c.txt", "hello")
    #expect(published?.bytes == 5)
    #expect(published?.sha256 == Digest.sha256(of: "hello"))
    #expect(published?.isWritten == true)
    #expect(try place.text("a/b/c.txt") == "hello")
    #expect(try FileSystem.facts(place.out("a/b/c.txt")).mode == 0o666 & ~ThisProcess.umask)
    #expect(try place.temporaries().isEmpty)
  }

  @Test func `a mode that was asked for is the file's`() throws {
    let place = try Sandbox()
    try place.publish("x", "1", mode: 0o640)
    #expect(try FileSystem.facts(place.out("x")).mode == 0o640)
  }

  @Test(arguments: [Durability.full, .batch, .process])
  func `each durability publishes the same bytes`(durability: Durability) throws {
    let place = try Sandbox()
    try place.publish("d/x", "1", durability: durability)
    #expect(try place.text("d/x") == "1")
  }

  @Test func `bytes in memory are published as well`() throws {
    let place = try Sandbox()
    let order = PublishOrder(
      path: "m", bytes: .memory(Array("memory".utf8)), owner: .barrier(node: 3, group: ""), ownerName: "index",
      run: place.run)
    let published = try place.work.perform([.publish(order)], durability: .process)[0].get()
    #expect(published?.sha256 == Digest.sha256(of: "memory"))
    #expect(try place.text("m") == "memory")
    #expect(try place.reader().outputs(ofBarrier: 3, group: "").map(\.path) == ["m"])
  }

  @Test func `what was published before is copied and stays`() throws {
    let place = try Sandbox()
    try place.publish("first", "same")
    let order = PublishOrder(
      path: "second", bytes: .copy(path: place.out("first"), bytes: 4, sha256: Digest.sha256(of: "same")),
      owner: .item(2, node: 1), ownerName: "s/2", run: place.run)
    _ = try place.work.perform([.publish(order)], durability: .process)[0].get()
    #expect(try place.text("first") == "same")
    #expect(try place.text("second") == "same")
  }

  @Test func `a link in place of the file is replaced and its target untouched`() throws {
    let place = try Sandbox()
    try FileSystem.replace(place.path + "/target", with: Array("mine".utf8))
    try FileSystem.makeLink(place.out("x"), to: place.path + "/target")
    try place.publish("x", "new")
    #expect(try FileSystem.facts(place.out("x"), following: false).kind == .file)
    #expect(try place.text("x") == "new")
    #expect(try FileSystem.read(place.path + "/target") == Array("mine".utf8))
  }

  @Test func `a linked folder on the way is refused, and nothing is written behind it`() throws {
    let place = try Sandbox()
    try FileSystem.makeDirectory(place.path + "/elsewhere")
    try FileSystem.makeLink(place.out("d"), to: place.path + "/elsewhere")
    #expect(place.refusal("d/x", "1") == "path.escapes")
    #expect(place.refusal("d/deeper/x", "1") == "path.escapes")
    let listing = try DirectoryListing(of: place.path + "/elsewhere")
    #expect(try listing.next() == nil)
  }

  @Test func `a folder that turns into a link and back while files are published leads nowhere else`() throws {
    let place = try Sandbox()
    let elsewhere = place.path + "/elsewhere"
    try FileSystem.makeDirectory(elsewhere)
    try FileSystem.makeDirectory(place.out("d"))
    try FileSystem.makeLink(place.out("link"), to: elsewhere)
    let isOver = Guarded(false)
    let ended = Mailbox<Void>()
    let names = ["d", "aside", "link"].map { place.out($0) }
    WorkerThread.start("flip") {
      while !isOver.withLock({ $0 }) {
        // After each step the name stands for something else, or for nothing; then who publishes may make it anew.
        try? FileSystem.rename(names[0], to: names[1])
        try? FileSystem.rename(names[2], to: names[0])
        if (try? FileSystem.facts(names[0], following: false))?.kind == .link {
          try? FileSystem.rename(names[0], to: names[2])
        }
        do { try FileSystem.rename(names[1], to: names[0]) } catch { try? FileSystem.removeTree(names[1]) }
      }
      ended.post(())
    }
    var codes: [String: Int] = [:]
    for turn in 0..<400 {
      place.store.tree.closeDirectories()
      codes[place.refusal("d/x\(turn % 7)", "\(turn)") ?? "published", default: 0] += 1
    }
    isOver.withLock { $0 = true }
    var letters: [Void] = []
    ended.take(into: &letters, until: nil)
    #expect(try DirectoryListing(of: elsewhere).next() == nil)
    #expect(codes["published", default: 0] > 0, "\(codes)")
    #expect(
      codes.keys.allSatisfy { ["published", "path.escapes", "path.collision", "disk.missing"].contains($0) }, "\(codes)"
    )
  }

  @Test(arguments: ["../x", "/x", "a//b", "a/../b", ".", "", "a/", "a\0b"])
  func `what is no path below the output is refused`(path: String) throws {
    #expect(try Sandbox().refusal(path, "1") == "path.escapes")
  }

  @Test func `names of 255 bytes work, longer ones are named`() throws {
    let place = try Sandbox()
    let longest = String(repeating: "n", count: 255)
    try place.publish("\(longest)/\(longest)", "1")
    #expect(try place.text("\(longest)/\(longest)") == "1")
    #expect(place.refusal(longest + "n", "1", item: 2) == "path.too_long")
  }

  @Test func `a path longer than the kernel takes in one call works step by step`() throws {
    let place = try Sandbox()
    let step = String(repeating: "s", count: 200)
    let folder = Array(repeating: step, count: 25).joined(separator: "/")
    try place.publish(folder + "/x", "deep")
    #expect(try place.store.tree.digest(folder + "/x") == Digest.sha256(of: "deep"))
  }

  @Test(arguments: [0, 1, 4096, 1 << 18, 1 << 18 + 1, 600_000])
  func `the digest of an output is that of all its bytes`(count: Int) throws {
    let place = try Sandbox()
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    try place.publish("a", String(decoding: bytes.map { $0 & 0x7F }, as: UTF8.self))
    #expect(try place.store.tree.digest("a") == Digest.sha256(of: bytes.map { $0 & 0x7F }))
    #expect(try place.store.tree.digest("b") == nil)
  }

  @Test func `digests of many outputs are those of each, whatever their lengths`() throws {
    let place = try Sandbox()
    let lengths = (0..<50).map { [0, 1, 63, 64, 4096, 32_768, 32_769, 100_000, 7, 65_536][$0 % 10] + $0 / 10 * 64 }
    var paths: [String] = []
    var expected: [Digest?] = []
    for (number, length) in lengths.enumerated() {
      let text = String(decoding: (0..<length).map { UInt8(($0 &* 31 &+ number) & 0x7F) }, as: UTF8.self)
      paths.append("d/\(number)")
      try place.write(paths[number], text)
      expected.append(Digest.sha256(of: text))
    }
    try FileSystem.makeLink(place.out("d/link"), to: place.out("d/1"))
    for (name, place) in [("d", 0), ("none", 3), ("d/link", 20), ("d/1/below", 40)] {
      paths.insert(name, at: place)
      expected.insert(nil, at: place)
    }
    for most in [1, 2, 16, 100] {
      #expect(try place.store.tree.digests(paths, atOnce: most).map { try $0.get() } == expected)
    }
    #expect(try place.store.tree.digests(paths).map { try $0.get() } == expected)
    // All that are read at once end in the same moment.
    let alike = Array(repeating: paths[2], count: 70)
    #expect(try place.store.tree.digests(alike).map { try $0.get() } == Array(repeating: expected[2], count: 70))
    #expect(place.store.tree.digests([]).isEmpty)
    guard case .failure(let fault) = place.store.tree.digests(["d/1", "../x"])[1] else {
      Issue.record("a path that leads out of the directory is refused")
      return
    }
    #expect(fault.code == "path.escapes")
  }

  @Test func `a file where a folder is needed, and a folder where a file is, are collisions`() throws {
    let place = try Sandbox()
    try place.publish("a", "file")
    #expect(place.refusal("a/b", "1", item: 2) == "path.collision")
    try place.publish("d/x", "1", item: 3)
    #expect(place.refusal("d", "1", item: 4) == "path.collision")
  }

  @Test func `a folder that was removed under way is made again`() throws {
    let place = try Sandbox()
    try place.publish("d/e/x", "1")
    try FileSystem.removeTree(place.out("d"))
    try place.publish("d/e/y", "2", item: 2)
    #expect(try place.text("d/e/y") == "2")
  }

  @Test func `more folders than are held open work`() throws {
    let place = try Sandbox()
    for number in 0..<100 { try place.publish("d\(number)/x", "\(number)", item: number + 1) }
    for number in 0..<100 { #expect(try place.text("d\(number)/x") == "\(number)") }
  }

  @Test func `a file that failed stays its owner's`() throws {
    let place = try Sandbox()
    let order = try place.order("../x", "1")
    #expect(throws: Fault.self) { try place.work.perform([.publish(order)], durability: .process)[0].get() }
    #expect(try place.temporaries().count == 1)
  }
}

@Suite struct `Two that want one path` {
  @Test func `the second fails and the first stays`() throws {
    let place = try Sandbox()
    try place.publish("x", "first", item: 1)
    #expect(place.refusal("x", "second", item: 2) == "path.collision")
    #expect(try place.text("x") == "first")
  }

  @Test(arguments: [("Straße/A.jpg", "strasse/a.JPG"), ("caf\u{E9}", "cafe\u{301}"), ("Σς", "σσ")])
  func `letter case and Unicode form tell nothing apart`(first: String, second: String) throws {
    let place = try Sandbox()
    try place.publish(first, "first", item: 1)
    #expect(place.refusal(second, "second", item: 2) == "path.collision")
  }

  @Test func `they are found out within one batch as well`() throws {
    let place = try Sandbox()
    let outcomes = try place.work.perform(
      [.publish(place.order("x", "1", item: 1)), .publish(place.order("X", "2", item: 2))], durability: .process)
    #expect(throws: Never.self) { try outcomes[0].get() }
    #expect(throws: Fault.self) { try outcomes[1].get() }
    #expect(try place.text("x") == "1")
  }

  @Test func `the message names the other item`() throws {
    let place = try Sandbox()
    let source = try place.store.journal.register(sources: ["cats"])[0]
    let item = ItemRecord(id: 1, source: source, key: "tom", index: 1, status: .running, run: place.run)
    _ = place.work.perform([.item(item)], durability: .process)
    try place.publish("x", "1", item: 1)
    let outcome = try place.work.perform([.publish(place.order("X", "2", item: 2))], durability: .process)[0]
    guard case .failure(let fault) = outcome else {
      Issue.record("no collision")
      return
    }
    #expect(fault.message.contains("cats/tom"))
    #expect(fault.message.contains("as x"))
  }

  @Test func `the same leg may publish again`() throws {
    let place = try Sandbox()
    try place.publish("x", "1")
    try place.publish("x", "2")
    #expect(try place.text("x") == "2")
  }

  @Test func `another item may take the path in a later run, and the first is then told`() throws {
    let place = try Sandbox()
    try place.publish("x", "1", item: 1, run: place.run)
    try place.publish("x", "2", item: 2, run: place.run + 1)
    let confirmation = Confirmation(item: 1, index: 1, outputs: 1, run: place.run + 1)
    #expect(throws: Fault.self) { try place.work.perform([.confirm(confirmation)], durability: .process)[0].get() }
  }
}

@Suite struct `What is there already` {
  @Test func `keep leaves what the journal knows and finds unchanged`() throws {
    let place = try Sandbox()
    try place.publish("x", "same")
    let before = try FileSystem.facts(place.out("x"))
    let published = try place.publish("x", "same", run: place.run + 1)
    #expect(published?.isWritten == false)
    #expect(try FileSystem.facts(place.out("x")) == before)
    #expect(try place.temporaries().isEmpty)
  }

  @Test func `keep writes anew what was altered, and what nobody knows`() throws {
    let place = try Sandbox()
    try place.publish("x", "same")
    try place.write("x", "what")
    #expect(try place.publish("x", "same", run: place.run + 1)?.isWritten == true)
    #expect(try place.text("x") == "same")
    try place.write("y", "foreign")
    #expect(try place.publish("y", "ours", item: 2)?.isWritten == true)
    #expect(try place.text("y") == "ours")
  }

  @Test func `skip leaves whatever is there and does not make it ours`() throws {
    let place = try Sandbox()
    try place.write("x", "foreign")
    let published = try place.publish("x", "ours", onExists: .skip)
    #expect(published?.isWritten == false)
    #expect(published?.sha256 == Digest.sha256(of: "foreign"))
    #expect(try place.text("x") == "foreign")
  }

  @Test func `overwrite replaces and fail refuses`() throws {
    let place = try Sandbox()
    try place.write("x", "foreign")
    #expect(place.refusal("x", "ours", onExists: .fail) == "path.exists")
    #expect(try place.text("x") == "foreign")
    try place.publish("x", "ours", onExists: .overwrite)
    #expect(try place.text("x") == "ours")
  }

  @Test func `fail lets a run replace what it made itself`() throws {
    let place = try Sandbox()
    try place.publish("x", "1", onExists: .fail)
    try place.publish("x", "2", onExists: .fail)
    #expect(try place.text("x") == "2")
  }
}
