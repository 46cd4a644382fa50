/// What a plan takes from outside of its manifest.
public struct PlanInputs: Sendable {
  /// The folder that the manifest's relative paths start from; absolute.
  public var folder: String
  /// The environment variables, by name.
  public var environment: [String: String] = [:]
  /// Reads a secret's file at an absolute path; nil where it cannot be read.
  public var readFile: @Sendable (_ path: String) -> String? = { _ in nil }
  /// A line of a file of the manifest, from 1; used to find the exact column inside quoted and folded texts.
  public var line: @Sendable (_ file: String, _ number: Int) -> String? = { _, _ in nil }
  /// The SHA-256 of the manifest's bytes in hex.
  public var manifestDigest = ""
  /// `--out`: stands in for `output.dir`; absolute.
  public var outputFolder: String?
  /// `--state`: stands in for `state.dir`; absolute.
  public var stateFolder: String?
  /// `--concurrency`: stands in for `limits.connections`.
  public var connections: Int?
  /// `--take`: stands in for `take`.
  public var take: Int?
  /// `--only`: the one source that takes part.
  public var onlySources: [String] = []
  /// `--allow-private`: whether private and loopback addresses may be reached.
  public var allowsPrivate = false

  /// Whether parts look at the files that they name, such as scripts.
  public var checksFiles = false

  /// Inputs for a manifest in a folder.
  public init(folder: String) { self.folder = folder }
}
