import FlowBase
import FlowTesting
import Testing

/// What the program needs before it does anything, and what it says where that is missing.
@Suite struct StartTests {
  @Test func `libraries that only some commands need are not loaded at the start`() async throws {
    let work = try Workplace()
    var tool = work.tool
    // The system's loader then says what it looks for.
    tool.environment["LD_DEBUG"] = "libs"
    let loaded = try await tool.run("--version").errors
    #expect(loaded.contains("libsqlite3.so"), "\(loaded)")
    for library in ["libcurl", "libarchive", "libxml2", "libvips", "libturbojpeg", "libicu"] {
      #expect(!loaded.contains(library), "\(loaded)")
    }
  }

  /// The program on a machine where one of its libraries cannot be loaded.
  private func tool(without library: String, in work: Workplace) throws -> Tool {
    try SmallFiles.makeFolder(work.place.file("libraries"))
    try work.write("libraries/\(library)", "this is no library")
    var tool = work.tool
    tool.environment["LD_LIBRARY_PATH"] = work.place.file("libraries")
    return tool
  }

  @Test func `archives that cannot be read here are a mistake in the manifest, and hold up no other`() async throws {
    let work = try Workplace()
    let tool = try tool(without: "libarchive.so.13", in: work)
    try work.manifest(["/small/a"])
    expectEnd(try await tool.run("run", "m.yaml"), 0)
    try work.manifest(["/small/a"], fetch: "fetch\n  - unpack")
    let end = try await tool.run("validate", "m.yaml")
    #expect(end.code == 2, "\(end.output)\(end.errors)")
    #expect(
      (end.output + end.errors).contains(
        "archives need the library libarchive, which is not there: apt-get install libarchive13"),
      "\(end.output)\(end.errors)")
  }

  @Test func `a run without libcurl ends like a program that lacks a library, and the rest works`() async throws {
    let work = try Workplace()
    let tool = try tool(without: "libcurl.so.4", in: work)
    try work.manifest(["/small/a"])
    let end = try await tool.run("run", "m.yaml")
    #expect(end.code == 127)
    #expect(end.errors.contains("libcurl.so.4") && end.errors.contains("package libcurl4"), "\(end.errors)")
    #expect(try await tool.run("--version").code == 0)
  }
}
