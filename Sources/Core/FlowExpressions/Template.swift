public import FlowBase

/// A text with `${…}` in it.
public struct Template: Sendable, Hashable {
  /// How values are put into the text.
  public enum Style: Sendable, Hashable {
    /// As they are.
    case plain
    /// Percent-encoded for their place in a URL, unless they are the whole text or its origin, or `| raw` is said.
    case url
    /// Made safe as one segment of a path: without `/`, `\`, control characters, leading dots; `| path` keeps `/`.
    case path
  }

  /// The template as it was written.
  public let source: String
  /// How values are put in.
  public let style: Style
  /// The names that it uses, in order of appearance, each once.
  public let references: [Reference]

  let pieces: [TemplatePiece]

  private init(_ source: String, _ style: Style, _ pieces: [TemplatePiece]) {
    self.source = source
    self.style = style
    self.pieces = pieces
    var references: [Reference] = []
    for case .hole(let hole) in pieces { hole.root.collectReferences(into: &references) }
    self.references = references
  }

  /// Parses a text; `$${` stands for a literal `${`.
  public init(parsing source: String, style: Style = .plain) throws(ExpressionProblem) {
    self.init(source, style, try TemplateParser.pieces(of: source))
  }

  /// Its one expression, if that is all there is.
  private var single: TemplateHole? {
    if pieces.count == 1, case .hole(let hole) = pieces[0] { hole } else { nil }
  }

  /// Its type (text, unless it is one single expression), with everything that is wrong.
  public func check(in scope: some TypeScope) -> (type: ValueType, problems: [ExpressionProblem]) {
    var checker = Checker(scope)
    var type = ValueType.string
    for case .hole(let hole) in pieces {
      let found = checker.type(of: hole.root)
      if single != nil { type = style == .path ? .string : found }
    }
    return (type, checker.problems)
  }

  /// Its value: that of its expression if it is a single one, else a text.
  ///
  /// In a path, a single expression too becomes a text that is safe.
  public func evaluate(in scope: some Scope) throws(Fault) -> Value {
    guard let single, style != .path else { return .string(try text(in: scope)) }
    do throws(Fault) {
      return try Evaluator.value(of: single.root, in: scope)
    } catch {
      throw error.inside(source)
    }
  }

  /// Its value as a text; null becomes an empty text.
  public func text(in scope: some Scope) throws(Fault) -> String {
    if pieces.count == 1, case .literal(let text) = pieces[0] { return text }
    do throws(Fault) {
      var writer = TemplateWriter(style, isSingle: pieces.count == 1)
      for piece in pieces {
        switch piece {
        case .literal(let text): writer.literal(text)
        case .hole(let hole): writer.value(try Evaluator.value(of: hole.root, in: scope), hole)
        }
      }
      if writer.text.utf8.count > Evaluator.longestText { throw Evaluator.tooLong }
      return writer.text
    } catch {
      throw error.inside(source)
    }
  }

  /// The template with the names that the scope knows replaced.
  public func folded(in scope: some Scope) throws(Fault) -> Template {
    if references.isEmpty { return self }
    var folded: [TemplatePiece] = []
    do throws(Fault) {
      for piece in pieces {
        switch piece {
        case .literal: folded.append(piece)
        case .hole(var hole):
          hole.root = try Folding.fold(hole.root, in: scope)
          folded.append(.hole(hole))
        }
      }
    } catch {
      throw error.inside(source)
    }
    return Template(source, style, pieces.count == 1 ? folded : TemplateWriter.joined(folded, style))
  }

  /// The value, if the scope knows every name and nothing is wrong with what they stand for.
  public func known(in scope: some Scope) -> Value? {
    references.allSatisfy { scope.value(of: $0) != nil } ? try? evaluate(in: scope) : nil
  }

  /// The value, if no name is left.
  public var constant: Value? { references.isEmpty ? try? evaluate(in: EmptyScope()) : nil }
}
