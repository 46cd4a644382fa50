import FlowBase
import FlowTesting
import Testing

/// In which order the program's calls reach the system, as strace sees them.
@Suite(.serialized, .enabled(if: SmallFiles.exists("/usr/bin/strace") && CrashLibrary.isUsable))
struct DurabilityTests {
  /// The calls of a run of one item, each in a line, and the run's folder.
  private func calls(_ durability: String) async throws -> [String] {
    let work = try Workplace()
    try work.manifest(["/small/a"], "state: { durability: \(durability) }")
    let names = "openat,openat2,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,sync_file_range"
    var tool = work.tool
    tool.program =
      ["/usr/bin/strace", "-f", "-q", "-y", "-s", "20000", "-o", work.place.file("trace"), "-e", "trace=" + names]
      + tool.program
    expectEnd(try await tool.run("run", "m.yaml"), 0)
    return try work.read("trace").split(separator: "\n").map(String.init)
  }

  /// The place of the first call behind another that is meant.
  private func place(
    _ calls: [String], from start: Int, _ words: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Int {
    let found = calls[start...].firstIndex { call in words.allSatisfy { call.contains($0) } }
    return try #require(found, "no \(words) behind call \(start)", sourceLocation: sourceLocation)
  }

  @Test(arguments: ["full", "batch"])
  func `bytes, name, folder, journal, event: each is safe before the next`(durability: String) async throws {
    let calls = try await calls(durability)
    let written = try place(calls, from: 0, "write(", "/tmp/", "/small/a")
    let synced = try place(calls, from: written, "fsync(", ".imgflow/m/tmp/")
    let named = try place(calls, from: synced, "rename", "small-a.bin")
    let folder = try place(calls, from: named, "fsync(", "/out>")
    let journal = try place(calls, from: folder, "sync(", "journal.sqlite-wal")
    _ = try place(calls, from: journal, "write(1", "item.end")
    // Nothing is told before, and the journal knew of the name before the file had it.
    #expect(!calls[..<journal].contains { $0.contains("write(1") && $0.contains("\\\"item.end\\\"") })
    #expect(calls[..<named].contains { $0.contains("pwrite64(") && $0.contains("journal.sqlite-wal") })
  }

  @Test func `what survives the process alone waits for no disk`() async throws {
    let calls = try await calls("process")
    let named = try place(calls, from: 0, "rename", "small-a.bin")
    let told = try place(calls, from: named, "write(1", "item.end")
    let between = calls[try place(calls, from: 0, "write(", "/tmp/", "/small/a")...told]
    #expect(!between.contains { $0.contains("sync(") })
  }
}
