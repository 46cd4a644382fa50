import FlowBase
import Testing

@testable import FlowStore

@Suite struct `A journal that cannot be used` {
  private func code(of journal: String) -> String? {
    do {
      _ = try Journal(path: journal)
      return nil
    } catch { return error.code }
  }

  private func prepared(_ change: (Journal) throws -> Void = { _ in }) throws -> (Sandbox, String) {
    let place = try Sandbox()
    let path = place.path + "/other.sqlite"
    try change(try Journal(path: path))
    return (place, path)
  }

  @Test func `that is no database is refused and not touched`() throws {
    let (place, path) = try prepared()
    try FileSystem.replace(path, with: Array(String(repeating: "words ", count: 1000).utf8))
    #expect(code(of: path) == "state.damaged")
    #expect(try FileSystem.read(path).count == 6000)
    _ = place
  }

  @Test func `that was cut or zeroed is refused`() throws {
    for damage in ["cut", "zeroed"] {
      let (place, path) = try prepared()
      let bytes = try FileSystem.read(path)
      try FileSystem.replace(
        path, with: damage == "cut" ? Array(bytes.prefix(bytes.count / 2)) : [UInt8](repeating: 0, count: bytes.count))
      #expect(code(of: path) == "state.damaged", "\(damage)")
      _ = place
    }
  }

  @Test func `that was emptied is refused, and not begun anew`() throws {
    let (place, path) = try prepared()
    try FileSystem.replace(path, with: [])
    #expect(code(of: path) == "state.damaged")
    #expect(try FileSystem.facts(path).size == 0)
    _ = place
  }

  @Test func `with foreign bytes in a page is refused`() throws {
    let (place, path) = try prepared { journal in
      try journal.database.transaction { () throws(Fault) in
        let writer = try JournalWriter(journal)
        for id in 1...500 {
          try writer.write(ItemRecord(id: id, source: 1, key: "key \(id)", index: id, status: .ok, run: 1))
        }
      }
    }
    var bytes = try FileSystem.read(path)
    let start = (bytes.count / 4096 - 4) * 4096
    for place in start..<start + 64 { bytes[place] = 0xA5 }
    try FileSystem.replace(path, with: bytes)
    #expect(code(of: path) == "state.damaged")
    _ = place
  }

  @Test func `whose making was cut short is made anew`() throws {
    let place = try Sandbox()
    let path = place.path + "/other.sqlite"
    try FileSystem.replace(path + ".new", with: [1, 2, 3])
    #expect(code(of: path) == nil)
    for rest in [".new", ".new-wal", ".new-shm", ".new-journal"] {
      #expect(throws: Errno.noEntry) { try FileSystem.facts(path + rest) }
    }
  }

  @Test func `of another program is refused`() throws {
    let (place, path) = try prepared { try $0.database.run("PRAGMA application_id = 7") }
    #expect(code(of: path) == "state.damaged")
    _ = place
  }

  @Test func `of a newer version is refused with words`() throws {
    let (place, path) = try prepared { try $0.database.run("PRAGMA user_version = 99") }
    #expect(code(of: path) == "state.newer")
    _ = place
  }

  @Test func `without one of its tables is refused`() throws {
    let (place, path) = try prepared { try $0.database.run("DROP TABLE results") }
    #expect(code(of: path) == "state.damaged")
    _ = place
  }

  @Test func `that is missing is told to readers`() throws {
    let place = try Sandbox()
    #expect(throws: Fault.self) { try JournalReader(path: place.path + "/none.sqlite") }
  }
}
