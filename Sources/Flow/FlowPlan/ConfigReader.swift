internal import FlowBase
internal import FlowExpressions
internal import FlowManifest
internal import FlowParts
internal import FlowYAML

/// Reads nodes as the types of their fields say, and collects everything that is wrong.
struct ConfigReader {
  var diagnostics: [Diagnostic] = []
  /// A line of a file, for exact columns.
  let line: (_ file: String, _ number: Int) -> String?

  /// What a place is called in messages, and the names that may stand there.
  struct Site {
    /// The key, such as `width`.
    var name: String
    /// What the key belongs to, such as `resize`.
    var owner: String
    var types: PlaceTypes

    /// Whether the place is one element of the list at the key.
    var isElement = false

    /// The key in messages.
    var label: String { isElement ? "an element of `\(name)`" : "`\(name)`" }

    func naming(_ name: String) -> Site { Site(name: name, owner: owner, types: types) }
    var element: Site { Site(name: name, owner: owner, types: types, isElement: true) }
    func inside(_ owner: String) -> Site { Site(name: owner, owner: owner, types: types) }
  }

  // MARK: Values

  /// What stands at a node, as its field's type says; nil where it is wrong.
  mutating func read(_ node: Node, as type: FieldType, at site: Site) -> ConfigValue? {
    switch type {
    case .string: text(node, style: .plain, as: type, at: site)
    case .url: text(node, style: .url, as: type, at: site)
    case .path: text(node, style: .path, as: type, at: site)
    case .integer, .number, .boolean, .byteCount, .interval, .rate, .bandwidth, .choice:
      scalar(node, as: type, at: site)
    case .list(let element): list(node, of: element, as: type, at: site)
    case .map(let element): map(node, of: element, as: type, at: site)
    case .object(let fields):
      object(node, fields: fields, at: site.inside(site.name)).map { config in
        let map = ConfigValue.map(config.entries)
        return map.plain.map(ConfigValue.value) ?? map
      }
    case .condition:
      condition(node, at: site).map { expression in
        expression.constant.flatMap(\.asBool).map { .value(.bool($0)) } ?? .condition(expression)
      }
    case .anything: anything(node, at: site)
    case .either(let types): either(node, of: types, at: site)
    }
  }

  private mutating func text(
    _ node: Node, style: Template.Style, as type: FieldType, at site: Site
  ) -> ConfigValue? {
    guard let text = node.scalar else { return mismatch(node, type, at: site) }
    if text.isEmpty, case .scalar(_, .plain) = node.content { return mismatch(node, type, at: site) }
    guard text.contains("${") else {
      if style == .url { judge(text, at: node) }
      return .value(.string(text))
    }
    return template(node, text, style: style, as: type, at: site)
  }

  /// Warns of an address that is none; what asks for it will fail, and what stands beside it need not.
  private mutating func judge(_ address: String, at node: Node) {
    do {
      _ = try WebAddress(parsing: address)
    } catch {
      add(
        "W0302", error.message, at: node.place, hint: "what asks for it will fail; expected is https://… or http://…",
        severity: .warning)
    }
  }

  private mutating func scalar(_ node: Node, as type: FieldType, at site: Site) -> ConfigValue? {
    guard let text = node.scalar else { return mismatch(node, type, at: site) }
    if text.contains("${") { return template(node, text, style: .plain, as: type, at: site) }
    guard let value = type.convert(.string(text)), value.asDouble.map(\.isFinite) ?? true else {
      return mismatch(node, type, at: site)
    }
    return .value(value)
  }

  private mutating func template(
    _ node: Node, _ text: String, style: Template.Style, as type: FieldType, at site: Site
  ) -> ConfigValue? {
    do {
      let template = try Template(parsing: text, style: style)
      let checked = template.check(in: site.types)
      guard tell(checked.problems, in: node) else { return nil }
      let folded = try template.folded(in: site.types.load)
      guard let constant = folded.constant else { return .template(folded, type) }
      guard let value = type.convert(constant) else {
        add(
          "E0110", "\(site.label) is \(constant.kindName) `\(constant.text)` here, not \(type.words)", at: node.place,
          hint: type.example.map { "such as `\($0)`" })
        return nil
      }
      if style == .url { judge(value.text, at: node) }
      return .value(value)
    } catch let problem as ExpressionProblem {
      tell([problem], in: node)
    } catch let fault as Fault {
      add("E0309", fault.message, at: node.place)
    } catch {
      add("E0309", "\(error)", at: node.place)
    }
    return nil
  }

  private mutating func list(
    _ node: Node, of element: FieldType, as type: FieldType, at site: Site
  ) -> ConfigValue? {
    if let text = node.scalar {
      if node.isNull { return mismatch(node, type, at: site) }
      if text.hasPrefix("${"), text.hasSuffix("}") { return template(node, text, style: .plain, as: type, at: site) }
      return read(node, as: element, at: site).map { ConfigValue.list([$0]) }.map(ConfigReader.plainer)
    }
    if node.entries != nil, case .list(let nodes)? = [node].asListContent(for: element) {
      return list(Node(.list(nodes), mark: node.mark, file: node.file), of: element, as: type, at: site)
    }
    guard let elements = node.elements else { return mismatch(node, type, at: site) }
    var values: [ConfigValue] = []
    for node in elements {
      if let value = read(node, as: element, at: site.element) { values.append(value) }
    }
    return ConfigReader.plainer(.list(values))
  }

  private mutating func map(
    _ node: Node, of element: FieldType, as type: FieldType, at site: Site
  ) -> ConfigValue? {
    if let text = node.scalar, text.hasPrefix("${") {
      return template(node, text, style: .plain, as: type, at: site)
    }
    guard let entries = node.entries else { return mismatch(node, type, at: site) }
    var values: [Config.Entry] = []
    for entry in entries {
      guard let value = read(entry.value, as: element, at: site.naming(entry.key)) else { continue }
      values.append(Config.Entry(entry.key, value))
    }
    return ConfigReader.plainer(.map(values))
  }

  private mutating func anything(_ node: Node, at site: Site) -> ConfigValue? {
    switch node.content {
    case .scalar(let text, let style):
      if text.contains("${") { return template(node, text, style: .plain, as: .anything, at: site) }
      return .value(style == .plain ? CoreSchema.value(of: text) : .string(text))
    case .list(let elements):
      var values: [ConfigValue] = []
      for element in elements { anything(element, at: site).map { values.append($0) } }
      return ConfigReader.plainer(.list(values))
    case .map(let entries):
      var values: [Config.Entry] = []
      for entry in entries {
        anything(entry.value, at: site.naming(entry.key)).map { values.append(Config.Entry(entry.key, $0)) }
      }
      return ConfigReader.plainer(.map(values))
    }
  }

  /// Reads a node as the first type that fits; the mistakes are those of the only type of its shape, if there is one.
  private mutating func either(_ node: Node, of types: [FieldType], at site: Site) -> ConfigValue? {
    let start = diagnostics.count
    var attempts: [[Diagnostic]] = []
    for type in types where type.fits(node) {
      let value = read(node, as: type, at: site)
      let found = Array(diagnostics[start...])
      diagnostics.removeLast(found.count)
      if let value, found.isEmpty { return value }
      attempts.append(found)
    }
    let telling = attempts.filter { $0.contains { $0.code != "E0110" } }
    if let only = telling.first ?? (attempts.count == 1 ? attempts[0] : nil) {
      diagnostics += only
      return nil
    }
    return mismatch(node, .either(types), at: site)
  }

  /// A list or map as one value where no template is left in it.
  static func plainer(_ value: ConfigValue) -> ConfigValue { value.plain.map(ConfigValue.value) ?? value }

  // MARK: Conditions

  /// A condition; `${…}` may stand around the whole.
  mutating func condition(_ node: Node, at site: Site) -> Expression? {
    expression(node, at: site, isCondition: true)
  }

  /// An expression as it stands in a field that holds nothing else.
  mutating func expression(_ node: Node, at site: Site, isCondition: Bool = false) -> Expression? {
    guard let text = node.scalar, !text.isEmpty else {
      add(
        "E0110", "`\(site.name)` is \(isCondition ? "a condition" : "an expression"), and this is \(node.kindName)",
        at: node.place)
      return nil
    }
    do {
      let expression = try Expression(parsing: text)
      let problems = isCondition ? expression.checkCondition(in: site.types) : expression.check(in: site.types).problems
      guard tell(problems, in: node) else { return nil }
      return try expression.folded(in: site.types.load)
    } catch let problem as ExpressionProblem {
      tell([problem], in: node)
    } catch let fault as Fault {
      add("E0309", fault.message, at: node.place)
    } catch {
      add("E0309", "\(error)", at: node.place)
    }
    return nil
  }

  // MARK: Words

  @discardableResult
  private mutating func tell(_ problems: [ExpressionProblem], in node: Node) -> Bool {
    if problems.isEmpty { return true }
    var place = ScalarPlace(node, lines: line)
    for problem in problems {
      let mark = place.mark(at: problem.offset, length: problem.length)
      add(
        problem.code, problem.message, at: Place(file: node.file, mark: mark), hint: problem.hint, notes: problem.notes)
    }
    return false
  }

  private mutating func mismatch(_ node: Node, _ type: FieldType, at site: Site) -> ConfigValue? {
    let found = node.isNull ? "it has no value" : "this is \(node.scalar.map { "`\($0.shortened)`" } ?? node.kindName)"
    add(
      "E0110", "\(site.label) is \(type.words), and \(found)", at: node.place,
      hint: type.remedy(for: node) ?? type.example.map { "such as `\($0)`" })
    return nil
  }

  mutating func add(
    _ code: String, _ message: String, at place: Place?, hint: String? = nil, notes: [String] = [],
    severity: Diagnostic.Severity = .error
  ) {
    diagnostics.append(Diagnostic(code, message, at: place, hint: hint, notes: notes, severity: severity))
  }
}

extension [Node] {
  /// These nodes as a list, where a single map may stand for a list of one.
  fileprivate func asListContent(for element: FieldType) -> Node.Content? {
    switch element {
    case .object, .map, .anything: .list(self)
    case .either(let types): types.contains { $0.takesMaps } ? .list(self) : nil
    default: nil
    }
  }
}

extension String {
  /// The text, cut where it is too long for a message.
  var shortened: String { count <= 60 ? self : prefix(57) + "…" }
}
