internal import FlowBase

/// Builds nodes from events, and keeps count of everything that a hostile document could blow up.
struct Composer {
  /// How the reading of a document ended.
  enum Outcome {
    case document(Node)
    /// No document; why stands among the problems.
    case stopped
    /// An expression without quotes broke the document at this character.
    case unquotedExpression(index: Int, Diagnostic)
  }

  /// A node with what it weighs.
  struct Composed {
    var node: Node
    /// How many nodes it consists of.
    var size: Int
    /// How many levels it is high.
    var height: Int
  }

  /// The reading cannot go on.
  enum Stop: Error {
    case reported
    case unquotedExpression(index: Int, Diagnostic)
  }

  private(set) var problems: [Diagnostic] = []
  private let events: EventStream
  private var text: SourceText
  private let file: String
  private var anchors: [String: Composed] = [:]
  /// The anchors of the collections that are being read: an alias to one of them would never end.
  private var openAnchors: [String] = []
  /// Where the brackets stand that are not closed yet.
  private var openBrackets: [RawMark] = []
  private var nodes = 0
  private var aliasNodes = 0

  init(_ text: SourceText, file: String) {
    events = EventStream(text.bytes)
    self.text = text
    self.file = file
  }

  /// Reads the one document.
  mutating func compose() -> Outcome {
    do throws(Stop) {
      return try .document(document())
    } catch {
      switch error {
      case .reported: return .stopped
      case .unquotedExpression(let index, let problem): return .unquotedExpression(index: index, problem)
      }
    }
  }

  private mutating func document() throws(Stop) -> Node {
    _ = try next()
    let start = try next()
    guard case .documentStart = start.kind else { throw reportEmpty() }
    let first = try next()
    if case .scalar(_, 0, .plain) = first.kind, first.anchor == nil, first.tag == nil { throw reportEmpty() }
    let root = try compose(first, depth: 1, isInFlow: false)
    _ = try next()
    let end = try next()
    if case .documentStart = end.kind {
      throw stop(
        YAMLProblems.severalDocuments, "a second document begins here; a file holds one", end.start.mark(length: 3),
        hint: "remove the `---`, or put what follows into a file of its own")
    }
    return root.node
  }

  private mutating func reportEmpty() -> Stop {
    stop(
      YAMLProblems.empty, "the document is empty", .start,
      hint: "begin with `imgflow: 1`, `sources:` and `stages:`")
  }

  // MARK: Nodes

  private mutating func compose(_ event: Event, depth: Int, isInFlow: Bool) throws(Stop) -> Composed {
    try count(event, depth: depth)
    switch event.kind {
    case .alias(let name): return try resolve(name, event, depth: depth)
    case .scalar(let text, let byteCount, let style):
      let composed = try scalar(event, text, byteCount: byteCount, style, isInFlow: isInFlow)
      if let anchor = event.anchor { anchors[anchor] = composed }
      return composed
    case .listStart(let isFlow):
      return try collection(event, tag: "seq") { (composer) throws(Stop) in
        try composer.list(event, isFlow: isFlow, depth: depth)
      }
    case .mapStart(let isFlow):
      return try collection(event, tag: "map") { (composer) throws(Stop) in
        try composer.map(event, isFlow: isFlow, depth: depth)
      }
    default:
      throw stop(YAMLProblems.syntax, "a value was expected here", event.start.mark())
    }
  }

  private mutating func collection(
    _ event: Event, tag: String, _ read: (inout Composer) throws(Stop) -> Composed
  ) throws(Stop) -> Composed {
    checkTag(event, allowed: [tag], on: tag == "map" ? "a map" : "a list")
    if let anchor = event.anchor { openAnchors.append(anchor) }
    let isBracket = event.isFlowStart
    if isBracket { openBrackets.append(afterProperties(event)) }
    let composed = try read(&self)
    if isBracket { openBrackets.removeLast() }
    if let anchor = event.anchor {
      openAnchors.removeLast()
      anchors[anchor] = composed
    }
    return composed
  }

  private mutating func list(_ event: Event, isFlow: Bool, depth: Int) throws(Stop) -> Composed {
    var elements: [Node] = []
    var size = 1
    var height = 1
    while true {
      let event2 = try next()
      if case .listEnd = event2.kind {
        let mark = collectionMark(event, end: event2, isFlow: isFlow, parts: elements.map(\.mark), firstKey: nil)
        return Composed(node: Node(.list(elements), mark: mark, file: file), size: size, height: height)
      }
      try checkCount(elements.count, event2, "list")
      let element = try compose(event2, depth: depth + 1, isInFlow: isFlow)
      elements.append(element.node)
      size += element.size
      height = max(height, element.height + 1)
    }
  }

  private mutating func map(_ event: Event, isFlow: Bool, depth: Int) throws(Stop) -> Composed {
    var builder = MapBuilder()
    var parts: [Mark] = []
    var size = 1
    var height = 1
    var count = 0
    while true {
      let keyEvent = try next()
      if case .mapEnd = keyEvent.kind {
        let mark = collectionMark(event, end: keyEvent, isFlow: isFlow, parts: parts, firstKey: parts.first)
        return Composed(node: Node(.map(builder.entries), mark: mark, file: file), size: size, height: height)
      }
      try checkCount(count, keyEvent, "map")
      count += 1
      let key = try self.key(keyEvent, depth: depth, isInFlow: isFlow)
      let value = try compose(try next(), depth: depth + 1, isInFlow: isFlow)
      size += value.size + 1
      height = max(height, value.height + 1)
      guard let key else { continue }
      parts.append(key.mark)
      parts.append(value.node.mark)
      if let earlier = builder.marks[key.text] {
        report(
          YAMLProblems.duplicateKey, "the key `\(shown(key.text))` is here twice", key.mark,
          hint: key.isMerge ? "merge several maps with a list: `<<: [*a, *b]`" : "remove one of them",
          notes: ["it stands first at \(file):\(earlier.line):\(earlier.column)"])
        try checkProblems()
      } else if key.isMerge {
        builder.marks[key.text] = key.mark
        builder.merge(maps(of: value.node, mergedAt: key.mark))
      } else {
        builder.add(Node.Entry(key: key.text, keyMark: key.mark, value: value.node))
      }
    }
  }

  private struct Key {
    var text: String
    var mark: Mark
    var isMerge: Bool
  }

  /// Reads a key; nil, with its problem told, where it cannot be one.
  private mutating func key(_ event: Event, depth: Int, isInFlow: Bool) throws(Stop) -> Key? {
    let composed = try compose(event, depth: depth + 1, isInFlow: isInFlow)
    let what: String
    var mark = composed.node.mark
    switch (event.kind, composed.node.content) {
    case (.scalar(_, _, let style), .scalar(let text, _)) where !text.isEmpty || style == .quoted:
      return Key(text: text, mark: composed.node.mark, isMerge: text == "<<" && style == .plain)
    case (.scalar, _): what = "nothing"
    case (.alias, _):
      what = "an alias"
      mark = event.start.mark(length: event.end.index - event.start.index)
    case (.listStart, _): what = "a list"
    default: what = "a map"
    }
    report(
      YAMLProblems.keyKind, "a key is a text, but here it is \(what)", mark,
      hint: "write the key out; put a text that begins with a special character into quotes")
    try checkProblems()
    return nil
  }

  private mutating func scalar(
    _ event: Event, _ content: String, byteCount: Int, _ style: Node.ScalarStyle, isInFlow: Bool
  ) throws(Stop) -> Composed {
    let start = afterProperties(event)
    if byteCount > Limits.scalarBytes {
      report(
        YAMLProblems.scalarSize, "this text has \(byteCount) bytes; at most \(Limits.scalarBytes) are allowed",
        mark(from: start, to: event.end, style), hint: "put it into a file of its own")
      try checkProblems()
    }
    if style == .plain, isInFlow, content.hasSuffix("$"), text.character(at: event.end.index) == UInt8(ascii: "{") {
      let dollar = event.end.advanced(by: -1)
      let length = text.lengthOfExpression(at: dollar.index)
      let written = text.text(from: start.index, length: min(200, dollar.index - start.index + length))
      throw .unquotedExpression(
        index: dollar.index,
        YAMLProblems.unquotedExpression.at(
          Place(file: file, mark: dollar.mark(length: length)),
          "`${` inside `{}` or `[]` needs quotes, because `{` begins a map there",
          hint: "quote it: \(quoted(written))"))
    }
    var style = style
    let tag = checkTag(event, allowed: ["str", "int", "float", "bool", "null"], on: "a text")
    if tag == "str" || tag == "!" { style = style == .plain ? .quoted : style } else if tag != nil { style = .plain }
    let node = Node(.scalar(content, style), mark: mark(from: start, to: event.end, style), file: file)
    return Composed(node: node, size: 1, height: 1)
  }

  // MARK: Aliases and merging

  private mutating func resolve(_ name: String, _ event: Event, depth: Int) throws(Stop) -> Composed {
    let place = event.start.mark(length: event.end.index - event.start.index)
    guard !openAnchors.contains(name) else {
      throw stop(
        YAMLProblems.alias, "`*\(shown(name))` stands inside the very thing that it repeats, which would never end",
        place, hint: "move the anchor `&\(shown(name))` to a part that does not hold this alias")
    }
    guard let target = anchors[name] else {
      report(
        YAMLProblems.alias, "`*\(shown(name))` repeats something that is not there", place,
        hint: anchors.isEmpty
          ? "write `&\(shown(name))` before the thing to repeat, above this line, or quote a text that begins with `*`"
          : "anchors above this line: \(anchors.keys.sorted().prefix(8).map { "&" + shown($0) }.joined(separator: ", "))"
      )
      try checkProblems()
      return Composed(node: Node(.scalar("", .plain), mark: place, file: file), size: 1, height: 1)
    }
    aliasNodes += target.size
    if aliasNodes > Limits.aliasNodes {
      throw stop(
        YAMLProblems.aliasExpansion,
        "with `*\(shown(name))`, aliases stand for more than \(Limits.aliasNodes) values", place,
        hint: "repeat less, or put the list into a file (the source `file`)")
    }
    if depth + target.height - 1 > Limits.depth { throw stopTooDeep(place) }
    return target
  }

  /// The entries that `<<` brings in; in a list of maps the earlier ones win.
  private mutating func maps(of node: Node, mergedAt place: Mark) -> [Node.Entry] {
    switch node.content {
    case .map(let entries): return entries
    case .list(let elements) where elements.allSatisfy({ $0.entries != nil }):
      return elements.flatMap { $0.entries ?? [] }
    default:
      report(
        YAMLProblems.merge, "`<<` takes a map or a list of maps", node.mark,
        hint: "name anchors of maps: `<<: *defaults` or `<<: [*a, *b]`")
      return []
    }
  }

  // MARK: Bounds

  private mutating func count(_ event: Event, depth: Int) throws(Stop) {
    if depth > Limits.depth { throw stopTooDeep(event.start.mark()) }
    nodes += 1
    if nodes > Limits.nodes {
      throw stop(
        YAMLProblems.tooManyNodes, "the document has more than \(Limits.nodes) values", event.start.mark(),
        hint: "put long lists into files of their own (the source `file`)")
    }
  }

  private mutating func stopTooDeep(_ place: Mark) -> Stop {
    stop(
      YAMLProblems.depth, "lists and maps are nested more than \(Limits.depth) deep here", place,
      hint: "flatten this part")
  }

  private mutating func checkCount(_ count: Int, _ event: Event, _ what: String) throws(Stop) {
    guard count >= Limits.entries else { return }
    throw stop(
      YAMLProblems.tooManyEntries, "this \(what) has more than \(Limits.entries) entries", event.start.mark(),
      hint: "put it into a file: `file: { path: urls.txt }`")
  }

  /// Ends the reading where so much is wrong that more would help nobody.
  private func checkProblems() throws(Stop) {
    if problems.count >= Limits.problems { throw .reported }
  }

  // MARK: Tags and marks

  /// The short name of a core tag, if the node has one; a tag that cannot stand here is told.
  @discardableResult
  private mutating func checkTag(_ event: Event, allowed: [String], on what: String) -> String? {
    guard let tag = event.tag else { return nil }
    let prefix = "tag:yaml.org,2002:"
    let short = tag.hasPrefix(prefix) ? String(tag.dropFirst(prefix.count)) : tag
    if allowed.contains(short) || tag == "!" { return short }
    let isCore = ["str", "int", "float", "bool", "null", "seq", "map"].contains(short) && tag != short
    let written = tag.hasPrefix(prefix) ? "!!\(short)" : tag
    var start = event.start
    if text.character(at: start.index) == UInt8(ascii: "&") {
      var anchor = text.charactersToBlank(from: start.index)
      while let byte = text.character(at: start.index + anchor), byte == 0x20 || byte == 0x09 { anchor += 1 }
      start = start.advanced(by: anchor)
    }
    report(
      YAMLProblems.tag,
      isCore ? "the tag `\(written)` cannot stand on \(what)" : "the tag `\(shown(written))` is unknown",
      start.mark(length: text.charactersToBlank(from: start.index)),
      hint: isCore ? "remove it" : "remove it; `!!str` makes a text of any scalar, other types follow from the field")
    return nil
  }

  /// Where the node itself begins, behind its anchor and tag.
  private mutating func afterProperties(_ event: Event) -> RawMark {
    guard event.anchor != nil || event.tag != nil else { return event.start }
    return event.start.advanced(by: text.charactersOfProperties(from: event.start.index))
  }

  private mutating func mark(from start: RawMark, to end: RawMark, _ style: Node.ScalarStyle) -> Mark {
    if style == .block { return start.mark(length: text.charactersToBlank(from: start.index)) }
    if start.line == end.line { return start.mark(length: end.index - start.index) }
    return start.mark(length: text.charactersToLineEnd(from: start.index))
  }

  /// The mark of a list or map: to its end if that is on the first line, else to the last part that begins there.
  private mutating func collectionMark(
    _ event: Event, end: Event, isFlow: Bool, parts: [Mark], firstKey: Mark?
  ) -> Mark {
    let start = afterProperties(event)
    if isFlow && start.line == end.end.line { return start.mark(length: end.end.index - start.index) }
    // The anchor of a block stands on the line above it: the block itself begins with its first key.
    var mark = !isFlow && (event.anchor != nil || event.tag != nil) ? firstKey ?? start.mark() : start.mark()
    for part in parts.prefix(while: { $0.line <= mark.line }) where part.line == mark.line {
      mark.length = max(mark.length, part.column + part.length - mark.column)
    }
    return mark
  }

  // MARK: Telling

  private mutating func next() throws(Stop) -> Event {
    do throws(SyntaxFailure) {
      return try events.next()
    } catch {
      problems.append(error.diagnostic(in: &text, file: file, openBracket: openBrackets.last))
      throw .reported
    }
  }

  private mutating func report(
    _ kind: DiagnosticKind, _ message: String, _ mark: Mark, hint: String? = nil, notes: [String] = []
  ) {
    problems.append(kind.at(Place(file: file, mark: mark), message, hint: hint, notes: notes))
  }

  private mutating func stop(_ kind: DiagnosticKind, _ message: String, _ mark: Mark, hint: String? = nil) -> Stop {
    report(kind, message, mark, hint: hint)
    return .reported
  }
}
