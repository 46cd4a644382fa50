internal import FlowBase
internal import FlowManifest
internal import FlowParts
internal import FlowYAML

// Addresses and paths that stand literally in the manifest, so that what is refused is known before anything runs.
extension Planner {
  /// Takes note of the addresses in a part's configuration, whatever their depth.
  mutating func meetAddresses(in node: Node?, fields: [FieldSpec]) {
    for entry in node?.entries ?? [] {
      if let field = fields.first(where: { $0.name == entry.key }) { meetAddresses(in: entry.value, as: field.type) }
    }
  }

  private mutating func meetAddresses(in node: Node, as type: FieldType) {
    switch (type, node.content) {
    case (.url, .scalar(let text, _)): literals.meet(text, at: node.place)
    case (.list(let element), .list(let nodes)): for node in nodes { meetAddresses(in: node, as: element) }
    case (.list(let element), _): meetAddresses(in: node, as: element)
    case (.map(let element), .map(let entries)): for entry in entries { meetAddresses(in: entry.value, as: element) }
    case (.object(let fields), .map): meetAddresses(in: node, fields: fields)
    case (.either(let types), _):
      if let type = types.first(where: { $0.fits(node) }) { meetAddresses(in: node, as: type) }
    default: break
    }
  }

  /// Tells of literal addresses that the run would refuse.
  mutating func checkLiterals(in settings: RunSettings) {
    for (authority, place) in literals.met {
      guard let reach = authority.reach, reach != .global, !isAllowed(authority, reach: reach, in: settings) else {
        continue
      }
      let permission = "allow it: `hosts: { \"\(authority.host)\": { allow: true } }`"
      let needsPort = reach != .metadata && authority.port == nil
      reader.add(
        "url.blocked", "`\(authority.host)` is a \(reach.rawValue) address, which is refused unless allowed", at: place,
        hint: needsPort ? "write its port as well: `\(authority.host):\(authority.effectivePort)`" : nil,
        notes: [needsPort ? "or \(permission)" : permission])
    }
  }

  private func isAllowed(
    _ authority: LiteralAuthority, reach: NetworkAddress.Reach, in settings: RunSettings
  ) -> Bool {
    if reach != .metadata, settings.allowsPrivate || authority.port != nil { return true }
    let address = NetworkAddress(parsing: authority.host)
    return settings.hosts.rules.contains { rule in
      guard rule.allow == true else { return false }
      if rule.pattern == "*" { return reach != .metadata }
      if let address, let range = AddressRange(parsing: rule.pattern) { return range.contains(address) }
      let (host, port) = HostPattern.split(rule.pattern)
      return host == authority.host && (port ?? authority.effectivePort) == authority.effectivePort
    }
  }

  /// Tells of paths below the output folder that lead out of it as they stand.
  mutating func checkPaths(in node: Node?, fields: [FieldSpec]) {
    for entry in node?.entries ?? [] {
      guard let field = fields.first(where: { $0.name == entry.key }), field.type == .path,
        let text = entry.value.scalar
      else { continue }
      let steps = text.split(separator: "/", omittingEmptySubsequences: false)
      guard text.hasPrefix("/") || steps.contains("..") else { continue }
      let offset =
        text.hasPrefix("/")
        ? 0 : text.firstRange(of: "..").map { text.distance(from: text.startIndex, to: $0.lowerBound) }
      var place = ScalarPlace(entry.value, lines: inputs.line)
      let mark = place.mark(at: offset ?? 0, length: text.hasPrefix("/") ? 1 : 2)
      reader.add(
        "path.escapes", "`\(text.shortened)` leads out of `output.dir`", at: Place(file: entry.value.file, mark: mark),
        hint: text.hasPrefix("/") ? "write a path below `output.dir`" : "a path here has no `..`",
        notes: ["to write elsewhere, change `output: { dir: … }`"])
    }
  }
}
