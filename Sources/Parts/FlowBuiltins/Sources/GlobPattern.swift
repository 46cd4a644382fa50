/// Which paths below a folder are meant: `*`, `?`, `[a-z]`, `{a,b}` within a name, `**` across folders.
///
/// Names that begin with a dot are only matched by a part that begins with one.
struct GlobPattern {
  /// How much of a pattern a path has matched so far.
  struct Progress: Equatable {
    /// For each alternative of the pattern, the parts that may match next.
    fileprivate var parts: [Set<Int>]
    /// Whether the path matches as it is.
    fileprivate(set) var isComplete: Bool
    /// Whether something below the path can match.
    fileprivate(set) var canContinue: Bool
  }

  private enum Part: Equatable {
    case anyFolders
    case name([Token])
  }

  private enum Token: Equatable {
    case character(Character)
    case any
    case anyRun
    case set([ClosedRange<Character>], isNegated: Bool)

    func matches(_ character: Character) -> Bool {
      switch self {
      case .character(let own): own == character
      case .any: true
      case .anyRun: false
      case .set(let ranges, let isNegated): ranges.contains { $0.contains(character) } != isNegated
      }
    }
  }

  private var alternatives: [[Part]] = []

  /// Reads a pattern; nil where a bracket or brace is not closed, or where it leads out of the folder.
  init?(_ text: String) {
    guard let expanded = GlobPattern.expandBraces(text) else { return nil }
    for pattern in expanded {
      var parts: [Part] = []
      for part in pattern.split(separator: "/", omittingEmptySubsequences: false) {
        if part == "." { continue }
        if part.isEmpty || part == ".." { return nil }
        if part == "**" {
          if parts.last != .anyFolders { parts.append(.anyFolders) }
        } else {
          guard let tokens = GlobPattern.tokens(part) else { return nil }
          parts.append(.name(tokens))
        }
      }
      if parts.isEmpty { return nil }
      alternatives.append(parts)
    }
  }

  /// The progress of the folder itself.
  var start: Progress { progress(alternatives.map { reach([0], in: $0) }) }

  /// The progress of a name in a folder that has come so far.
  func advance(_ folder: Progress, by name: String) -> Progress {
    let isHidden = name.utf8.first == UInt8(ascii: ".")
    let characters = Array(name)
    var next: [Set<Int>] = []
    for (parts, places) in zip(alternatives, folder.parts) {
      var reached: Set<Int> = []
      for place in places where place < parts.count {
        switch parts[place] {
        case .anyFolders: if !isHidden { reached.insert(place) }
        case .name(let tokens):
          let isShown = !isHidden || tokens.first == .character(".")
          if isShown && GlobPattern.matches(characters, tokens) { reached.insert(place + 1) }
        }
      }
      next.append(reach(reached, in: parts))
    }
    return progress(next)
  }

  private func progress(_ parts: [Set<Int>]) -> Progress {
    let pairs = zip(parts, alternatives)
    return Progress(
      parts: parts, isComplete: pairs.contains { $0.contains($1.count) },
      canContinue: pairs.contains { places, all in places.contains { $0 < all.count } })
  }

  /// `**` also stands for no folder at all.
  private func reach(_ places: Set<Int>, in parts: [Part]) -> Set<Int> {
    var reached = places
    for place in places where place < parts.count && parts[place] == .anyFolders { reached.insert(place + 1) }
    return reached
  }

  /// Whether a name matches; each `*` is tried shortest first, and only the last one is ever taken back.
  private static func matches(_ name: [Character], _ tokens: [Token]) -> Bool {
    var place = 0
    var token = 0
    var retry: (place: Int, token: Int)?
    while place < name.count {
      if token < tokens.count, tokens[token] == .anyRun {
        retry = (place, token + 1)
        token += 1
      } else if token < tokens.count, tokens[token].matches(name[place]) {
        place += 1
        token += 1
      } else if let last = retry {
        retry = (last.place + 1, last.token)
        place = last.place + 1
        token = last.token
      } else {
        return false
      }
    }
    return tokens[token...].allSatisfy { $0 == .anyRun }
  }

  // MARK: Reading

  /// The patterns without braces that one with braces stands for; at most 256 of them.
  private static func expandBraces(_ text: String) -> [String]? {
    var open: String.Index?
    var depth = 0
    var commas: [String.Index] = []
    for place in text.indices {
      switch text[place] {
      case "{":
        if depth == 0 { open = place }
        depth += 1
      case "," where depth == 1: commas.append(place)
      case "}":
        depth -= 1
        guard depth >= 0 else { return nil }
        guard depth == 0, let open else { continue }
        return expand(text, open: open, commas: commas, close: place)
      default: break
      }
    }
    return depth == 0 ? [text] : nil
  }

  private static func expand(
    _ text: String, open: String.Index, commas: [String.Index], close: String.Index
  ) -> [String]? {
    var expanded: [String] = []
    var start = text.index(after: open)
    for end in commas + [close] {
      let alternative = String(text[..<open]) + text[start..<end] + text[text.index(after: close)...]
      guard let rest = expandBraces(alternative) else { return nil }
      expanded += rest
      if expanded.count > 256 { return nil }
      start = end == close ? end : text.index(after: end)
    }
    return expanded
  }

  private static func tokens(_ part: Substring) -> [Token]? {
    var tokens: [Token] = []
    var rest = part
    while let character = rest.popFirst() {
      switch character {
      case "*": if tokens.last != .anyRun { tokens.append(.anyRun) }
      case "?": tokens.append(.any)
      case "\\":
        guard let literal = rest.popFirst() else { return nil }
        tokens.append(.character(literal))
      case "[":
        guard let set = set(&rest) else { return nil }
        tokens.append(set)
      default: tokens.append(.character(character))
      }
    }
    return tokens
  }

  private static func set(_ rest: inout Substring) -> Token? {
    let isNegated = rest.first == "!" || rest.first == "^"
    if isNegated { rest.removeFirst() }
    var ranges: [ClosedRange<Character>] = []
    while let character = rest.popFirst() {
      if character == "]" && !ranges.isEmpty { return .set(ranges, isNegated: isNegated) }
      if rest.first == "-", let last = rest.dropFirst().first, last != "]" {
        guard character <= last else { return nil }
        ranges.append(character...last)
        rest.removeFirst(2)
      } else {
        ranges.append(character...character)
      }
    }
    return nil
  }
}
