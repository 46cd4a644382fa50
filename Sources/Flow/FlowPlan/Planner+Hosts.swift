internal import FlowBase
internal import FlowManifest
internal import FlowParts
internal import FlowYAML

// The table `hosts`: how to treat each host, and the only place where a host's secrets may stand.
extension Planner {
  mutating func readHosts() -> HostTable {
    guard let node = manifest[.hosts], !node.isNull else { return HostTable() }
    guard let entries = node.entries else {
      reader.add(
        "E0104", "`hosts` is a map from hosts to how they are treated, and this is \(node.kindName)", at: node.place,
        hint: "such as `{ cdn.example.com: { connections: 8 } }`")
      return HostTable()
    }
    var rules: [HostTable.Rule] = []
    for entry in entries {
      let pattern = entry.key.lowercased()
      let place = Place(file: entry.value.file, mark: entry.keyMark)
      guard HostPattern.isValid(pattern) else {
        reader.add(
          "E0125", "`\(entry.key)` names no host", at: place, hint: HostPattern.remedy(pattern),
          notes: ["a host is `*`, a name, `*.example.com`, `host:port`, an address, or a range such as `10.0.0.0/8`"])
        continue
      }
      // `*` names no host, so a secret under it would go to every host that a redirect or a list may name.
      var site = site("hosts.\(entry.key)", allowsSecrets: pattern != "*")
      site.types.subject = pattern == "*" ? "`hosts.*`, which stands for every host" : site.types.subject
      guard let config = reader.object(entry.value, fields: SectionFields.host, at: site) else { continue }
      rules.append(rule(pattern, config, written: entry.value))
    }
    return HostTable(rules: rules)
  }

  private mutating func rule(_ pattern: String, _ config: Config, written: Node) -> HostTable.Rule {
    var rule = HostTable.Rule(pattern: pattern)
    // A default is no demand: a less specific line may still say something else.
    if written["connections"] != nil {
      rule.connections = config.text("connections") == "auto" ? 0 : config.int("connections")
    }
    if written["streams"] != nil { rule.streams = config.int("streams") }
    rule.bandwidth = config.int("bandwidth")
    rule.rate = config.double("rate")
    rule.interval = config.interval("interval")
    rule.userAgent = config.text("user_agent")
    rule.robots = config.bool("robots")
    let auth = config.value("auth")?.asMap ?? [:]
    rule.basic = auth["basic"]?.asString
    rule.bearer = auth["bearer"]?.asString
    rule.netrc = auth["netrc"]?.asBool
    if let basic = rule.basic, !basic.contains(":") {
      reader.add(
        "E0110", "`basic` is a name and a password", at: (written["auth"]?["basic"] ?? written).place,
        hint: "write `name:password`, the password as a secret")
    }
    rule.headers = headers(config, "headers")
    rule.query = headers(config, "query")
    rule.cookies = config.text("cookies").map(absolute)
    let tls = config.value("tls")?.asMap ?? [:]
    rule.ca = tls["ca"]?.asString.map(absolute)
    rule.certificate = tls["cert"]?.asString.map(absolute)
    rule.key = tls["key"]?.asString.map(absolute)
    rule.proxy = config.text("proxy")
    if written["http"] != nil { rule.http = config.text("http") }
    rule.allow = config.bool("allow")
    return rule
  }

  private func headers(_ config: Config, _ name: String) -> [Header] {
    (config.value(name)?.asMap ?? [:]).map { Header($0.0, $0.1.text) }
  }
}

/// The keys of `hosts`.
enum HostPattern {
  /// Whether a text is a key of `hosts`: lower case already.
  static func isValid(_ text: String) -> Bool {
    if text == "*" { return true }
    if text.contains("/") { return AddressRange(parsing: text) != nil }
    let (host, port) = split(text)
    if let port, !(1...65535).contains(port) { return false }
    if NetworkAddress(parsing: host) != nil { return true }
    let name = host.hasPrefix("*.") ? host.dropFirst(2) : host[...]
    guard !name.isEmpty, name.utf8.count <= 253 else { return false }
    return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      !label.isEmpty && label.utf8.count <= 63
        && label.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
    }
  }

  /// A host and the port behind it; a port that is no number is 0.
  static func split(_ text: String) -> (host: String, port: Int?) {
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      let host = String(text[text.index(after: text.startIndex)..<end])
      let rest = text[text.index(after: end)...]
      return (host, rest.isEmpty ? nil : Int(rest.dropFirst()) ?? 0)
    }
    guard let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon else { return (text, nil) }
    return (String(text[..<colon]), Int(text[text.index(after: colon)...]) ?? 0)
  }

  /// What to write in place of a text that is no key of `hosts`.
  static func remedy(_ text: String) -> String? {
    guard let scheme = text.firstRange(of: "://") else { return nil }
    let host = text[scheme.upperBound...].prefix { $0 != "/" }
    return isValid(String(host)) ? "write the host alone: `\(host)`" : nil
  }
}
