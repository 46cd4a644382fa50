import FlowBase
import Testing

@Suite struct ExplainTests {
  @Test func `alone it lists what it can explain`() async {
    let console = CapturedConsole()
    #expect(await console.run("explain") == 0)
    for word in ["ops", "codes", "events", "exit", "expressions"] { #expect(console.output.contains("  \(word)")) }
  }

  @Test(arguments: [
    "fetch", "fetch.accept", "store.path", "stage.retry.attempts", "hosts.rate", "retry", "item.key", "slug",
    "http.429",
    "http.522", "item.end", "E0103", "e0103", "124", "ops", "codes", "events", "diagnostics", "exit", "keys",
  ])
  func `words of every kind are explained`(_ word: String) async {
    let console = CapturedConsole()
    #expect(await console.run("explain", word) == 0)
    #expect(!console.output.isEmpty)
    #expect(console.errors.isEmpty)
  }

  @Test func `a code comes with its class, what to do and an example`() async {
    let console = CapturedConsole()
    _ = await console.run("explain", "http.429")
    #expect(console.output.contains("quota"))
    #expect(console.output.replacing("\n", with: " ").contains("To stay below its limit, set a rate."))
    #expect(console.output.contains("images.museum.org: { rate: 2/s, connections: 2 }"))
  }

  @Test func `an unknown word suggests, and exits 1`() async {
    let console = CapturedConsole()
    #expect(await console.run("explain", "htp.404") == 1)
    #expect(console.errors.contains("did you mean `http.404`?"))
    let far = CapturedConsole()
    #expect(await far.run("explain", "qwertzuiop") == 1)
    #expect(far.errors.contains("`imgflow explain` lists what there is"))
  }

  @Test func `JSON says the same`() async throws {
    let console = CapturedConsole()
    #expect(await console.run("explain", "http.429", "--json") == 0)
    let value = try JSONReader.read(Array(console.output.utf8))
    let topic = value.asMap?["topics"]?.asList?.first?.asMap
    #expect(topic?["name"] == "http.429")
    #expect(topic?["class"] == "quota")
  }

  @Test func `every code that the sources speak of is explained`() async throws {
    var unexplained: Set<String> = []
    for code in try Sources.codes() {
      if await CapturedConsole().run("explain", code) != 0 { unexplained.insert(code) }
    }
    #expect(unexplained.isEmpty, "\(unexplained.sorted())")
  }
}

/// The sources of the package, looked through for codes.
private enum Sources {
  /// The first text of each call of `Fault` and `Diagnostic`, if it is a code without values in it.
  static func codes(file: String = #filePath) throws -> Set<String> {
    let parts = file.split(separator: "/", omittingEmptySubsequences: false)
    let tests = try #require(parts.lastIndex(of: "Tests"))
    var codes: Set<String> = []
    var folders = [parts[..<tests].joined(separator: "/") + "/Sources"]
    while let folder = folders.popLast() {
      for name in try SmallFiles.names(in: folder) {
        let path = folder + "/" + name
        if SmallFiles.isFolder(path) {
          if name != "Testing" { folders.append(path) }
        } else if name.hasSuffix(".swift") {
          codes.formUnion(self.codes(in: String(decoding: try SmallFiles.read(path), as: UTF8.self)))
        }
      }
    }
    return codes
  }

  private static func codes(in text: String) -> Set<String> {
    var codes: Set<String> = []
    for match in text.matches(of: /\b(?:Fault|Diagnostic)\(\s*"([a-z_]+(?:\.[a-z0-9_]+)+|[EW][0-9]{4})"/) {
      codes.insert(String(match.output.1))
    }
    return codes
  }
}
