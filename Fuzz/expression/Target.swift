import FlowBase
import FlowExpressions

/// Any text is an expression and a template, or a problem inside of it; what is folded first gives the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  let text = String(decoding: bytes, as: UTF8.self)
  let length = text.unicodeScalars.count
  do throws(ExpressionProblem) {
    let expression = try Expression(parsing: text)
    for problem in expression.checkCondition(in: Open()) { checkPlace(problem, length) }
    try? checkFolding(expression)
  } catch {
    checkPlace(error, length)
  }
  for style in [Template.Style.plain, .url, .path] {
    do throws(ExpressionProblem) {
      let template = try Template(parsing: text, style: style)
      for problem in template.check(in: Open()).problems { checkPlace(problem, length) }
      guard let value = try? template.text(in: Sample()) else { continue }
      let folded = try? template.folded(in: Sample()).text(in: EmptyScope())
      check(folded == nil || folded == value, "folded `\(folded ?? "")`, else `\(value)`")
    } catch {
      checkPlace(error, length)
    }
  }
  return 0
}

private func checkFolding(_ expression: Expression) throws {
  let folded = try expression.folded(in: Sample())
  check(folded.references.isEmpty, "a name is left")
  let value = try folded.evaluate(in: EmptyScope())
  check(value == (try expression.evaluate(in: Sample())), "folding changes the value")
}

private func checkPlace(_ problem: ExpressionProblem, _ length: Int) {
  check(problem.code.hasPrefix("E02") && !problem.message.isEmpty, "a problem without words")
  check(problem.offset >= 0 && problem.offset <= length, "a place outside of the text")
  check(problem.length >= 1 && problem.offset + problem.length <= length + 3, "a length outside of the text")
}

/// Knows every name and nothing of its type.
private struct Open: TypeScope {
  func resolve(_ reference: Reference) -> Resolution { .known(.any) }
}

/// Has a value for every name, by the name's length.
private struct Sample: Scope {
  func value(of reference: Reference) -> Value? {
    let values: [Value] = [.null, 1, 2.5, "../a b", true, [1, "x"], .map(["k": 7]), "2026-01-31", .int(.max)]
    return values[reference.text.utf8.count % values.count]
  }
}

private func check(_ holds: Bool, _ message: @autoclosure () -> String) {
  if !holds { fatalError(message()) }
}
