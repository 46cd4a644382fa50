import FlowBase
import FlowPlugins
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
}
