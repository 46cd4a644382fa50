import FlowBase
import FlowCLI
import Testing

/// The codes of mistakes in manifests: `explain` knows each, and a fixture shows each.
@Suite struct CodeTests {
  private static let folder = PathText.absolute(PathText.parent(of: #filePath) + "/../../Fixtures/manifests/bad")

  /// The codes that the expected messages of the fixtures hold.
  private static var shown: Set<String> {
    var codes: Set<String> = []
    for name in (try? SmallFiles.names(in: folder)) ?? [] where name.hasSuffix(".expected") {
      guard let bytes = try? SmallFiles.read(folder + "/" + name, limit: 1 << 20) else { continue }
      for match in String(decoding: bytes, as: UTF8.self).matches(of: /\[([EW][0-9]{4})\]/) {
        codes.insert(String(match.1))
      }
    }
    return codes
  }

  /// Kinds without a fixture, and why.
  private static let unshown: [String: String] = [
    "E0001": "the document would have to be larger than 16 MiB",
    "E0002": "the fixtures are texts, and this is a file that is none",
    "E0003": "the fixtures are texts, and this is a file that is none",
    "E0014": "the text would have to be longer than 1 MiB",
    "E0015": "the list would have to have more than 10,000 entries",
    "E0097": "the mistake is in the lock, beside the manifest",
    "E0098": "there is no manifest that could be a fixture",
    "E0099": "the mistake is in the command line",
    "E0130": "it is about files beside the manifest, which fixtures do not have",
    "E0016": "the document would have to have more than 250,000 values",
  ]

  private static var known: Set<String> {
    get async {
      var codes: Set<String> = []
      for letter in ["E", "W"] {
        for number in 1..<400 {
          let code = letter + String(repeating: "0", count: 4 - String(number).count) + String(number)
          if await CapturedConsole().run("explain", code) == 0 { codes.insert(code) }
        }
      }
      return codes
    }
  }

  @Test func `Each kind of mistake has a fixture, and each code of a fixture is explained`() async {
    let known = await Self.known
    let shown = Self.shown
    #expect(known.count > 70)
    #expect(known.subtracting(shown).subtracting(Self.unshown.keys).sorted() == [])
    #expect(shown.subtracting(known).sorted() == [])
    #expect(shown.intersection(Self.unshown.keys).sorted() == [])
  }
}
