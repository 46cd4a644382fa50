internal import FlowBase

extension SyntaxFailure {
  /// libyaml's words as words for people: what is wrong, and what to do.
  ///
  /// `openBracket` is where the innermost `[` or `{` stands that was not closed before the failure.
  func diagnostic(in text: inout SourceText, file: String, openBracket: RawMark?) -> Diagnostic {
    let here = Place(file: file, mark: mark.mark())
    let began = contextMark.map { Place(file: file, mark: $0.mark()) } ?? here
    switch problem {
    case _ where isTab(in: &text): return tabs(in: &text, file: file)
    case "mapping values are not allowed in this context":
      return YAMLProblems.colon.at(
        here, "a `:` follows a value", hint: "quote the text, or start a new line for the key",
        notes: ["in a text without quotes, `: ` separates a key from its value"])
    case "could not find expected ':'":
      return YAMLProblems.missingColon.at(
        began, "this line is no `key: value`; its `:` is missing",
        hint: "write `key: value` with a space behind the colon, or indent the line to continue the text above")
    case "did not find expected key":
      return YAMLProblems.indentation.at(
        here, "a key of the map that begins at \(line(contextMark)) was expected here",
        hint: "give all keys of a map the same indentation, and close every quote above")
    case "did not find expected '-' indicator":
      return YAMLProblems.indentation.at(
        here, "a `- ` of the list that begins at \(line(contextMark)) was expected here",
        hint: "give all entries of a list the same indentation")
    case "block sequence entries are not allowed in this context":
      return YAMLProblems.indentation.at(
        here, "a list's `- ` cannot begin here", hint: "start the list on a new line below its key")
    case "mapping keys are not allowed in this context":
      return YAMLProblems.indentation.at(
        here, "a map's key cannot begin here", hint: "start the map on a new line, or quote the text")
    case "did not find expected ',' or ']'":
      return YAMLProblems.unclosed.at(
        began, "the list that this `[` begins is not continued or closed at line \(mark.line + 1)",
        hint: "put `,` between the entries and `]` at the end",
        notes: ["reading stopped at \(file):\(mark.line + 1):\(mark.column + 1)"])
    case "did not find expected ',' or '}'":
      return YAMLProblems.unclosed.at(
        began, "the map that this `{` begins is not continued or closed at line \(mark.line + 1)",
        hint: "put `,` between the entries and `}` at the end; quote texts that hold `{`, `}`, `[`, `]` or `,`",
        notes: ["reading stopped at \(file):\(mark.line + 1):\(mark.column + 1)"])
    case "found unexpected end of stream", "found unexpected document indicator":
      return YAMLProblems.openQuote.at(began, "the quote that opens here is never closed", hint: "close it")
    case "found unknown escape character", "did not find expected hexdecimal number",
      "found invalid Unicode character escape code":
      return YAMLProblems.escape.at(
        here, "text in double quotes has no such escape",
        hint: "write a backslash as `\\\\`, or use single quotes, in which backslashes are plain")
    case "found character that cannot start any token":
      let character = text.text(from: mark.index, length: 1)
      return YAMLProblems.reserved.at(
        here, "no value can begin with `\(character)`", hint: "put the text into quotes")
    case "did not find expected node content" where openBracket != nil && text.character(at: mark.index) == nil:
      return YAMLProblems.unclosed.at(
        openBracket.map { Place(file: file, mark: $0.mark()) }, "the bracket that opens here is never closed",
        hint: "put `]` or `}` at the end")
    case "did not find expected node content":
      return YAMLProblems.syntax.at(
        here, "a value was expected here", hint: "write a value, or remove what is too much")
    case "did not find expected comment or line break" where context == "while scanning a block scalar",
      "found an indentation indicator equal to 0":
      return YAMLProblems.blockHeader.at(
        here, "behind `|` or `>` only `+`, `-`, a digit from 1 to 9 and a comment may stand",
        hint: "begin the text on the next line, indented")
    default: return other(here, in: &text)
    }
  }

  private func line(_ mark: RawMark?) -> String { mark.map { "line \($0.line + 1)" } ?? "the top" }

  /// Whether a tab stands where only spaces may.
  private func isTab(in text: inout SourceText) -> Bool {
    problem.contains("found a tab character")
      || problem == "found character that cannot start any token" && text.character(at: mark.index) == 0x09
  }

  private func tabs(in text: inout SourceText, file: String) -> Diagnostic {
    var length = 1
    while text.character(at: mark.index + length) == 0x09 { length += 1 }
    let others = text.linesIndentedWithTabs().filter { $0 != mark.line + 1 }
    let list = others.prefix(10).map(String.init).joined(separator: ", ")
    return YAMLProblems.tab.at(
      Place(file: file, mark: mark.mark(length: length)), "a tab indents this line; YAML takes only spaces",
      hint: "use spaces",
      notes: others.isEmpty
        ? [] : ["also \(others.count == 1 ? "line" : "lines") \(list)\(others.count > 10 ? " …" : "")"])
  }

  private func other(_ place: Place, in text: inout SourceText) -> Diagnostic {
    let percent = UInt8(ascii: "%")
    switch context {
    case "while scanning an anchor", "while scanning an alias":
      return YAMLProblems.name.at(
        place, "behind `&` and `*` a name of letters, digits, `-` and `_` must stand",
        hint: "name the anchor, or quote a text that begins with `&` or `*`")
    case _ where context.contains("tag"), _ where problem.contains("tag"):
      return YAMLProblems.tag.at(
        place, "the tag that begins with `!` is not well formed", hint: "quote a text that begins with `!`")
    case _ where problem == "did not find expected <document start>" && text.character(at: mark.index) != percent:
      return YAMLProblems.syntax.at(
        place, "the document ended above; what stands here belongs to nothing",
        hint: "check where the quotes and brackets above are closed, and that all top-level keys begin in column 1")
    case _ where context.contains("directive"), _ where problem.contains("directive"),
      _ where problem.contains("document start"), _ where problem.contains("incompatible"):
      return YAMLProblems.directive.at(
        place, "lines that begin with `%`, and what follows `...`, need a `---` line and a known directive",
        hint: "remove the line, or quote a text that begins with `%`")
    default:
      return YAMLProblems.syntax.at(
        place, "this is no YAML: \(problem)\(context.isEmpty ? "" : " \(context)")",
        hint: "compare the indentation, the quotes and the brackets with the lines above")
    }
  }
}
