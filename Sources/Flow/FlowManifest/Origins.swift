public import FlowBase
internal import FlowYAML

extension Manifest {
  /// A value that holds, and where it was written.
  public struct Origin: Sendable, Hashable {
    /// The way to the value, such as `stages.fetch.concurrency`.
    public var path: String
    /// The value as it was written.
    public var value: String
    /// Where it was written: a file's line, or an option of the command line.
    public var place: Place
  }

  /// Every effective value with the place that it comes from, in the order of the document.
  public var origins: [Origin] {
    var origins: [Origin] = []
    document.collectOrigins(path: "", role: nil, into: &origins)
    return origins
  }
}

extension Node {
  fileprivate func collectOrigins(path: String, role: Manifest.Entry.Role?, into origins: inout [Manifest.Origin]) {
    switch content {
    case .scalar(let text, _):
      origins.append(Manifest.Origin(path: path, value: text, place: place))
    case .list(let elements):
      if elements.isEmpty { origins.append(Manifest.Origin(path: path, value: "[]", place: place)) }
      for (index, element) in elements.enumerated() {
        let name = role.flatMap { Manifest.Entry.looseID(of: element, role: $0) }
        let step = name.map { path + "." + $0 } ?? "\(path)[\(index)]"
        element.collectOrigins(path: step, role: nil, into: &origins)
      }
    case .map(let entries):
      if entries.isEmpty { origins.append(Manifest.Origin(path: path, value: "{}", place: place)) }
      for entry in entries {
        let isPlain = !entry.key.contains(".")
        let step = isPlain ? (path.isEmpty ? entry.key : path + "." + entry.key) : "\(path)[\"\(entry.key)\"]"
        let role = path.isEmpty ? Manifest.Entry.Role.allCases.first { $0.list == entry.key } : nil
        entry.value.collectOrigins(path: step, role: role, into: &origins)
      }
    }
  }
}
