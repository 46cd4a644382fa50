internal import FlowBase
public import FlowBuiltins
internal import FlowManifest
public import FlowParts
public import FlowPlan
internal import FlowYAML

extension Plan {
  /// The plan of a manifest's text; throws `ManifestProblems` with everything that is wrong.
  ///
  /// Relative paths in the manifest start from `folder`. `change` may set what a plan takes from outside, such as the
  /// environment, which is this program's own unless set.
  public init(
    manifest text: String, folder: String = ".", catalog: Catalog = .builtins,
    change: (inout PlanInputs) -> Void = { _ in }
  ) throws {
    let file = "imgflow.yaml"
    let bytes = Array(text.utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let line: @Sendable (String, Int) -> String? = { name, number in
      name == file && lines.indices.contains(number - 1) ? lines[number - 1] : nil
    }
    let read = YAMLReader.read(bytes, file: file)
    guard let document = read.node else { throw ManifestProblems(read.problems, line: line) }
    var inputs = PlanInputs(folder: folder, for: bytes)
    inputs.line = line
    change(&inputs)
    self = try Plan(document, known: read.problems, catalog: catalog, inputs: inputs)
  }

  /// The plan of a document, wherever it came from.
  init(_ document: Node, known: [Diagnostic] = [], catalog: Catalog, inputs: PlanInputs) throws {
    let folder = inputs.folder
    let loaded = Manifest.load(document) { path in
      let read = YAMLReader.read(
        try SmallFiles.read(PathText.absolute(path, from: folder), limit: 17 << 20), file: path)
      if let problem = read.problems.first { throw problem }
      guard let node = read.node else { throw Diagnostic("E0001", "`\(path)` is empty", at: nil) }
      return node
    }
    var diagnostics = known + loaded.diagnostics
    var plan: Plan?
    if let manifest = loaded.manifest {
      let made = Plan.make(manifest, catalog: catalog, inputs: inputs)
      plan = made.plan
      diagnostics += made.diagnostics
    }
    guard let plan, !diagnostics.contains(where: { $0.severity == .error }) else {
      throw ManifestProblems(diagnostics, line: inputs.line)
    }
    self = plan
  }
}

extension PlanInputs {
  /// What a plan takes from this program's surroundings.
  init(folder: String, for bytes: [UInt8]) {
    self.init(folder: PathText.absolute(folder))
    environment = ProcessFacts.environment
    manifestDigest = bytes.isEmpty ? "" : Digest.sha256(of: bytes).hex
    readFile = { path in
      (try? SmallFiles.read(path, limit: 1 << 20)).map { String(decoding: $0, as: UTF8.self) }
    }
  }
}
