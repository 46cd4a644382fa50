internal import FlowBase

/// A stretch of a template: text that stays, or a value that is put in.
enum TemplatePiece: Sendable, Hashable {
  case literal(String)
  case hole(TemplateHole)
}

/// A `${…}` of a template.
struct TemplateHole: Sendable, Hashable {
  /// What is computed.
  var root: Syntax
  /// The last filter, where it changes how the value is put in.
  var manner: Manner
  /// Whether it makes up a whole segment of a path.
  var isWholeSegment = false
  /// How many bytes of literal text stand beside it in its segment.
  var neighbours = 0

  /// How a value is put in.
  enum Manner: Sendable, Hashable { case usual, raw, path }
}

/// Cuts a template into its pieces.
enum TemplateParser {
  static func pieces(of source: String) throws(ExpressionProblem) -> [TemplatePiece] {
    try Parser.checkLength(of: source)
    let bytes = source.utf8
    if !bytes.contains(UInt8(ascii: "$")) { return [.literal(source)] }
    let text = Array(source.unicodeScalars)
    var pieces: [TemplatePiece] = []
    var literal = String.UnicodeScalarView()
    var place = 0
    while place < text.count {
      if text[place...].starts(with: "$${".unicodeScalars) {
        literal.append(contentsOf: "${".unicodeScalars)
        place += 3
      } else if text[place...].starts(with: "${".unicodeScalars) {
        if !literal.isEmpty { pieces.append(.literal(String(literal))) }
        literal.removeAll()
        let (root, end) = try Parser.parse(text, from: place + 2, braced: true)
        pieces.append(.hole(TemplateHole(root: root, manner: manner(of: root))))
        place = end
      } else {
        literal.append(text[place])
        place += 1
      }
    }
    if !literal.isEmpty || pieces.isEmpty { pieces.append(.literal(String(literal))) }
    return measured(pieces)
  }

  private static func manner(of root: Syntax) -> TemplateHole.Manner {
    guard case .filter(let filter, _, _) = root.term else { return .usual }
    switch filter.name {
    case "raw": return .raw
    case "path": return .path
    default: return .usual
    }
  }

  /// Tells each hole what stands beside it in its segment.
  private static func measured(_ pieces: [TemplatePiece]) -> [TemplatePiece] {
    var result = pieces
    for place in pieces.indices {
      guard case .hole(var hole) = pieces[place] else { continue }
      var isAlone = true
      for (step, limit) in [(-1, -1), (1, pieces.count)] {
        var other = place + step
        while other != limit {
          switch pieces[other] {
          case .hole: isAlone = false
          case .literal(let text):
            let bytes = Array(step < 0 ? text.utf8.reversed() : Array(text.utf8))
            let beside = bytes.prefix { $0 != UInt8(ascii: "/") }.count
            hole.neighbours += beside
            if beside > 0 { isAlone = false }
            if beside < bytes.count { other = limit - step }
          }
          other += step
        }
      }
      hole.isWholeSegment = isAlone
      result[place] = .hole(hole)
    }
    return result
  }
}
