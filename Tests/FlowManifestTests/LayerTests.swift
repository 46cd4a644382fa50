import FlowBase
import FlowManifest
import FlowYAML
import Testing

/// A manifest of layers, read from texts.
struct Layers {
  var manifest: Manifest?
  var diagnostics: [Diagnostic]

  init(_ text: String, overlays: Overlays = Overlays(), files: [String: String] = [:], file: String = "m.yaml") {
    guard let node = YAMLReader.read(Array(text.utf8), file: file).node else {
      diagnostics = []
      return
    }
    (manifest, diagnostics) = Manifest.load(node, overlays: overlays) { path in
      guard let text = files[path], let node = YAMLReader.read(Array(text.utf8), file: path).node else {
        throw Fault("file.missing", .config, "no such file")
      }
      return node
    }
  }

  /// A value by its path, as it is written.
  func value(_ path: String) -> String? { manifest?.origins.first { $0.path == path }?.value }
  /// Where a value was written.
  func origin(_ path: String) -> String? {
    manifest?.origins.first { $0.path == path }.map { "\($0.place.file):\($0.place.mark.line)" }
  }
}

@Suite struct LayerTests {
  private let base = """
    imgflow: 1
    limits: { connections: 4, pools: { gpu: 1 } }
    state: { rerun_on: [input, config] }
    sources: [https://example.com/a.jpg]
    stages:
      - fetch: { max_bytes: 5MB, accept: image/* }
        concurrency: 2
      - store
    """

  @Test func `Maps merge, entries merge by id, new ids append, other lists replace`() throws {
    let layers = Layers(
      """
      extends: base.yaml
      limits: { bandwidth: 1MB/s, pools: { cpu: 2 } }
      state: { rerun_on: [plugin] }
      stages:
        - id: fetch
          fetch: { max_bytes: 9MB }
        - report: index.csv
        - store: "${item.key}"
      """, files: ["base.yaml": base])
    #expect(layers.diagnostics == [])
    #expect(layers.manifest?.stages.map(\.id) == ["fetch", "store", "report"])
    #expect(layers.value("limits.connections") == "4")
    #expect(layers.value("limits.bandwidth") == "1MB/s")
    #expect(layers.value("limits.pools.gpu") == "1")
    #expect(layers.value("limits.pools.cpu") == "2")
    #expect(layers.value("state.rerun_on[0]") == "plugin")
    #expect(layers.value("state.rerun_on[1]") == nil)
    #expect(layers.value("stages.fetch.fetch.max_bytes") == "9MB")
    #expect(layers.value("stages.fetch.fetch.accept") == "image/*")
    #expect(layers.value("stages.fetch.concurrency") == "2")
    #expect(layers.value("stages.store.store") == "${item.key}")
  }

  @Test func `Every value knows the file and line that it comes from`() {
    let layers = Layers(
      "extends: base.yaml\nlimits:\n  bandwidth: 1MB/s\n",
      overlays: Overlays(settings: [.init(path: "limits.temp", value: "3GB")]), files: ["base.yaml": base])
    #expect(layers.origin("limits.connections") == "base.yaml:2")
    #expect(layers.origin("limits.bandwidth") == "m.yaml:3")
    #expect(layers.origin("limits.temp") == "--set limits.temp=3GB:1")
  }

  @Test func `A setting wins over a profile, a profile over the manifest, the manifest over what it extends`() {
    let text = """
      extends: base.yaml
      limits: { connections: 5 }
      profiles: { ci: { limits: { connections: 6 } } }
      """
    let files = ["base.yaml": base]
    func connections(_ overlays: Overlays) -> String? {
      Layers(text, overlays: overlays, files: files).value("limits.connections")
    }
    #expect(connections(Overlays()) == "5")
    #expect(connections(Overlays(profiles: ["ci"])) == "6")
    let setting = Overlays.Setting(path: "limits.connections", value: "7")
    #expect(connections(Overlays(profiles: ["ci"], settings: [setting])) == "7")
  }

  @Test func `Another op of the same id takes the place of the op`() {
    let layers = Layers(
      "extends: base.yaml\nstages:\n  - id: fetch\n    exec: [curl]\n", files: ["base.yaml": base])
    #expect(layers.manifest?.stages.first?.candidates.map(\.key) == ["exec"])
    #expect(layers.value("stages.fetch.concurrency") == "2")
  }

  @Test func `Paths of extended manifests start from the folder of the one that names them`() {
    let layers = Layers(
      "extends: layers/a.yaml\n",
      files: ["flows/layers/a.yaml": "extends: ../../base.yaml\nname: a\n", "base.yaml": base], file: "flows/m.yaml")
    #expect(layers.diagnostics == [])
    #expect(layers.value("name") == "a")
  }

  @Test func `A chain of manifests that is too deep is refused, not followed`() {
    var files: [String: String] = [:]
    for number in 0..<40 { files["\(number).yaml"] = "extends: \(number + 1).yaml\n" }
    let layers = Layers("extends: 0.yaml\n", files: files)
    #expect(layers.diagnostics.contains { $0.code == "E0112" && $0.message.contains("nested") })
  }

  @Test func `Settings reach into entries by id, into bare ops, and to hosts with dots`() {
    let text = base + "\nhosts: { cdn.example.com: { connections: 1 } }\n"
    let settings = [
      ("stages.store.concurrency", "3"), ("stages.fetch.fetch.max_bytes", "1MB"), ("stages.1.note", "x"),
      ("hosts.cdn.example.com.connections", "9"), ("hosts[\"b.example\"].rate", "1/s"), ("sample", "2%"),
      ("state.rerun_on", "[input]"),
    ].map { Overlays.Setting(path: $0.0, value: $0.1) }
    let layers = Layers(text, overlays: Overlays(settings: settings))
    #expect(layers.diagnostics == [])
    #expect(layers.value("stages.store.concurrency") == "3")
    #expect(layers.value("stages.fetch.fetch.max_bytes") == "1MB")
    #expect(layers.value("stages.store.note") == "x")
    #expect(layers.value("hosts[\"cdn.example.com\"].connections") == "9")
    #expect(layers.value("hosts[\"b.example\"].rate") == "1/s")
    #expect(layers.value("state.rerun_on[0]") == "input")
  }

  @Test(arguments: ["", ".", "a..b", "limits.", "[", "limits[]", "stages.nobody.note", "sources.7.note", "x.y"])
  func `A path that leads nowhere is told, never a crash`(path: String) {
    let layers = Layers(base, overlays: Overlays(settings: [.init(path: path, value: "1")]))
    #expect(layers.diagnostics.map(\.code) == ["E0114"])
  }

  @Test func `Bare addresses gather into one source, where the first of them stands`() {
    let layers = Layers(
      "imgflow: 1\nsources:\n  - file: a.txt\n  - https://a.example/1\n  - acme.list\n  - https://a.example/2\nstages: []\n"
    )
    #expect(layers.manifest?.sources.map(\.id) == ["file", "urls", "list"])
    #expect(layers.manifest?.sources[1].candidates.first?.value.elements?.count == 2)
  }

  @Test(arguments: [
    ("acme.face-crop", "face_crop"), ("fetch", "fetch"), ("A.B-C", "b_c"), ("x.é", "_"), (".", "_"),
  ])
  func `An op's name gives the id`(op: String, id: String) { #expect(Manifest.Entry.defaultID(op: op) == id) }

  @Test(arguments: ["a", "a1_b", "fetch"]) func `Ids`(id: String) { #expect(Manifest.Entry.isID(id)) }
  @Test(arguments: ["", "1a", "_a", "A", "a-b", "é", "a b"]) func `No ids`(id: String) {
    #expect(!Manifest.Entry.isID(id))
  }
}
