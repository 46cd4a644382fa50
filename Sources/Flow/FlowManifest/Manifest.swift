public import FlowYAML

/// What was asked for: a manifest's shape, with profiles and inherited manifests laid together.
///
/// Nothing in it has a type yet; what a scalar means is decided by the part that it configures. Every node keeps the
/// file and the place where it was written.
public struct Manifest: Sendable, Hashable {
  /// The path of the manifest as the user wrote it.
  public var file: String
  /// The effective document: the keys of all layers, without `extends` and `profiles`.
  public var document: Node
  /// The sources, in order; bare URLs are gathered into one.
  public var sources: [Entry]
  /// The stages, in order.
  public var stages: [Entry]
  /// The sinks, in order.
  public var sinks: [Entry]
  /// The values given with `--var`, by name, as written.
  public var variables: [String: String] = [:]

  /// What stands under a key of the top level.
  public subscript(key: TopKey) -> Node? { document[key.rawValue] }

  /// A key of the top level.
  public enum TopKey: String, Sendable, Hashable, CaseIterable {
    case imgflow, name, vars, env, secrets
    case `extends`
    case output, plugins, limits, hosts, offline, sources, stages
    case failIf = "fail_if"
    case stopIf = "stop_if"
    case state, sinks, profiles, sample, take
  }
}
