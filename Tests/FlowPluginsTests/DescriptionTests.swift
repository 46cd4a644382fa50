@testable import FlowPlugins
import FlowBase
import FlowParts
import FlowTesting
import Testing

/// What a `plugin.yaml` says, and what is wrong with it.
@Suite struct DescriptionTests {
  private let whole = """
    imgflow_plugin: 1
    name: acme.face-crop
    version: 1.4.0
    summary: Crop around the largest face
    run: [python3, main.py]
    protocol: [1]
    mode: process
    ops:
      acme.face-crop:
        kind: stage
        takes: [image/jpeg, image/png]
        gives: { media: same, set: { faces: integer } }
        reads: [width, height]
        deterministic: true
        config: { type: object, additionalProperties: false,
                  properties: { margin: { type: number, minimum: 0, maximum: 1, default: 0.2, description: Border } } }
    limits: { instances: 2, window: 8, start: 10s, item: 60s, memory: 1GB, idle_exit: 5m }
    permissions: { network: false, env: [], write: [workdir] }
    errors: { image.no_face: permanent, model.overloaded: transient }
    """

  private func read(_ text: String) -> (PluginManifest?, [Diagnostic]) {
    PluginManifest.parse(Array(text.utf8), file: "plugin.yaml", folder: "/p")
  }

  @Test func `A whole description is understood to the letter`() throws {
    let (manifest, problems) = read(whole)
    #expect(problems == [])
    let plugin = try #require(manifest)
    #expect(plugin.run == ["python3", "main.py"])
    #expect(plugin.limits.memory == 1_000_000_000)
    #expect(plugin.limits.idleExit == .seconds(300))
    #expect(plugin.errors == ["image.no_face": .permanent, "model.overloaded": .transient])
    let spec = plugin.spec(of: try #require(plugin.ops.first))
    #expect(spec.name == "acme.face-crop")
    #expect(spec.reads == ["width", "height"])
    #expect(spec.fields.map(\.name) == ["margin"])
    #expect(spec.fields.first?.type == .number(0...1))
    #expect(spec.fields.first?.fallback == "0.2")
    #expect(spec.sets(Config()).map(\.name) == ["faces"])
    let bounds = Confinement.canBoundWrites ? [] : ["not held to that, since this kernel has no Landlock"]
    #expect(
      spec.plugin?.permissions == ["no network", "writes in workdir"] + bounds + ["at most 1.00 GB of memory"])
  }

  @Test(arguments: [
    ("mode: process", "mode: proces", "E0603", 7), ("kind: stage", "kind: stages", "E0603", 10),
    ("window: 8", "windows: 8", "E0602", 17), ("item: 60s", "item: 60", "E0603", 17),
    ("memory: 1GB", "memory: much", "E0603", 17), ("network: false", "network: no", "E0603", 18),
    ("write: [workdir]", "write: [here]", "E0603", 18), ("faces: integer", "faces: int", "E0603", 12),
    ("minimum: 0", "minimun: 0", "E0602", 16), ("margin: {", "timeout: {", "E0603", 15),
    ("permanent, model", "fatal, model", "E0603", 19), ("name: acme.face-crop", "name: crop", "E0603", 2),
    ("  acme.face-crop:", "  crop:", "E0603", 9), ("imgflow_plugin: 1", "imgflow_plugin: 2", "E0603", 1),
    ("run: [python3, main.py]", "run: []", "E0603", 5), ("protocol: [1]", "protocol: [2]", "E0603", 6),
  ])
  func `A mistake is told with its place`(part: String, wrong: String, code: String, line: Int) {
    let (manifest, problems) = read(whole.replacing(part, with: wrong))
    #expect(manifest == nil)
    #expect(problems.map(\.code) == [code], "\(problems)")
    #expect(problems.first?.place?.mark.line == line, "\(problems)")
  }

  @Test func `What a plugin may do is told, and where the kernel cannot hold it to that`() {
    var plugin = PluginManifest(name: "a.b", version: "1", run: ["x"], folder: "/tmp")
    #expect(plugin.permissionWords(boundsWrites: true) == ["no network", "writes in workdir"])
    #expect(
      plugin.permissionWords(boundsWrites: false) == [
        "no network", "writes in workdir", "not held to that, since this kernel has no Landlock",
      ])
    plugin.permissions.network = true
    plugin.permissions.environment = ["TOKEN"]
    plugin.limits.memory = 1_000_000_000
    #expect(
      plugin.permissionWords(boundsWrites: true) == [
        "network", "writes in workdir", "reads the variables TOKEN", "at most 1.00 GB of memory",
      ])
  }

  @Test func `What is missing is named, all at once`() {
    let (_, problems) = read("summary: nothing\n")
    #expect(problems.map(\.code) == Array(repeating: "E0604", count: 5))
  }

  @Test func `Plugins are found in folders and in folders of folders, and the first of a name counts`() throws {
    let place = try TempPlace()
    for (folder, version) in [("a/one", "1"), ("a/two", "2"), ("b", "3")] {
      try SmallFiles.makeFolder(place.file(folder))
      let name = folder == "a/two" ? "acme.other" : "acme.face-crop"
      let text = whole.replacing("1.4.0", with: version).replacing("acme.face-crop", with: name)
      try SmallFiles.replace(place.file("\(folder)/plugin.yaml"), Array(text.utf8))
    }
    let found = PluginFinder(places: [
      .init(path: place.file("a"), isNamed: true), .init(path: place.file("b"), isNamed: true),
      .init(path: place.file("none"), isNamed: false),
    ]).find()
    #expect(found.problems == [])
    #expect(found.plugins.map(\.version) == ["1", "2", "3"])
    let missing = PluginFinder(places: [.init(path: place.file("none"), isNamed: true)]).find()
    #expect(missing.problems.map(\.code) == ["E0601"])
  }

  @Test func `A file that changes beside a plugin changes its digest`() throws {
    let place = try TempPlace()
    try SmallFiles.replace(place.file("main.py"), Array("1".utf8))
    let before = PluginFinder.digest(of: place.path)
    #expect(PluginFinder.digest(of: place.path) == before)
    try SmallFiles.replace(place.file("main.py"), Array("2".utf8))
    #expect(PluginFinder.digest(of: place.path) != before)
  }

  @Test func `Paths are taken from the manifest's folder, and addresses stay`() throws {
    let (manifest, _) = read(
      whole.replacing("type: number, minimum: 0, maximum: 1, default: 0.2", with: "type: string, format: path"))
    let op = try #require(manifest?.ops.first)
    for (given, absolute) in [("a/b", "/m/a/b"), ("/a", "/a"), ("https://x/y", "https://x/y"), ("", "")] {
      #expect(PluginExchange.absolute(["margin": .string(given)], of: op, folder: "/m")["margin"] == .string(absolute))
    }
  }
}
