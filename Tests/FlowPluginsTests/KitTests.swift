import FlowBase
import FlowPlugins
import FlowTesting
import Testing

/// The files that plugins carry to speak the protocol.
@Suite struct KitTests {
  private static let plugins = PathText.join(PathText.parent(of: #filePath), "../../plugins")

  @Test(arguments: ["meta.exif", "meta.blurhash"])
  func `A plugin in the box carries the kit that a new plugin gets`(_ name: String) throws {
    let carried = try SmallFiles.read(PathText.join(KitTests.plugins, "\(name)/imgflow_plugin.py"))
    #expect(String(decoding: carried, as: UTF8.self) == PluginTemplate.pythonKit)
  }

  @Test func `Plugins that are sources carry one and the same kit`() throws {
    let (iiif, table) = (
      try SmallFiles.read(PathText.join(KitTests.plugins, "iiif.manifest/imgflow_source.py")),
      try SmallFiles.read(PathText.join(KitTests.plugins, "table.parquet/imgflow_source.py"))
    )
    #expect(!iiif.isEmpty && iiif == table)
  }

  @Test(arguments: ["expekt: { status: ok }", "expect: { status: ok, outptu: a.txt }"])
  func `A case that expects something under a wrong name is told of, and not passed over`(text: String) async throws {
    let place = try TempPlace()
    for file in PluginTemplate(.python, name: "acme.new").files {
      let path = place.file(file.path)
      try SmallFiles.makeFolder(PathText.parent(of: path))
      try SmallFiles.create(path, Array(file.text.utf8))
    }
    try SmallFiles.replace(place.file("tests/first.yaml"), Array("input: first.txt\n\(text)\n".utf8))
    let plugin = try #require(PluginManifest.read(folder: place.path).manifest)
    await #expect {
      try await PluginKit(plugin, in: PluginSurroundings()).test { _ in }
    } throws: {
      Fault($0).message.contains("unknown key `\(text.hasPrefix("expect:") ? "outptu" : "expekt")`")
    }
  }
}
