public import FlowBase

/// The kinds of mistakes that make a text no YAML document of ours.
public enum YAMLProblems {
  static let tooLarge = DiagnosticKind(
    code: "E0001", title: "document too large",
    explanation: "A document has at most 16 MiB. Long lists belong into files that a source streams from.",
    example: "sources:\n  - file: { path: urls.txt }\n")
  static let encoding = DiagnosticKind(
    code: "E0002", title: "not written in UTF-8",
    explanation: "The file begins like UTF-16 or UTF-32. Manifests are UTF-8; every editor can save as that.",
    example: "iconv -f UTF-16 -t UTF-8 old.yaml > flow.yaml\n")
  static let brokenUTF8 = DiagnosticKind(
    code: "E0003", title: "broken UTF-8",
    explanation: "These bytes are no character of UTF-8. Often the file was saved as Latin-1, or cut.",
    example: "iconv -f LATIN1 -t UTF-8 old.yaml > flow.yaml\n")
  static let control = DiagnosticKind(
    code: "E0004", title: "control character",
    explanation: "YAML allows no NUL and no control characters but tab and line ends. Escapes can stand for them.",
    example: "name: \"bell\\x07\"\n")
  static let empty = DiagnosticKind(
    code: "E0005", title: "empty document",
    explanation: "Nothing but blank lines and comments was found.",
    example: "imgflow: 1\nsources: [https://example.com/a.png]\nstages: [fetch, store]\n")
  static let severalDocuments = DiagnosticKind(
    code: "E0006", title: "several documents in one file",
    explanation: "A `---` line begins another document. A file holds one; what is shared comes in with `extends`.",
    example: "extends: base.yaml\n")
  static let tab = DiagnosticKind(
    code: "E0007", title: "tab for indentation",
    explanation: "YAML is indented with spaces only, because a tab's width is a matter of taste.",
    example: "output:\n  dir: out     # two spaces\n")
  static let duplicateKey = DiagnosticKind(
    code: "E0008", title: "duplicate key",
    explanation: "A map has each key once; of two, one would be lost without a word.",
    example: "output: { dir: out, on_exists: keep }     # one `output`\n")
  static let keyKind = DiagnosticKind(
    code: "E0009", title: "key is no text",
    explanation: "Keys are texts. Lists, maps, aliases and empty keys cannot be keys.",
    example: "hosts:\n  \"*\": { connections: 6 }\n")
  static let unquotedExpression = DiagnosticKind(
    code: "E0010", title: "`${` without quotes inside {} or []",
    explanation: "Inside `{}` and `[]`, a `{` begins a map, so a text with `${…}` needs quotes there.",
    example: "resize: { width: \"${matrix.w}\" }\n")
  static let alias = DiagnosticKind(
    code: "E0011", title: "alias without anchor",
    explanation: "`*name` repeats what `&name` marked before it, above in the same file, and not itself.",
    example: "base: &base { timeout: 30s }\nagain: *base\n")
  static let aliasExpansion = DiagnosticKind(
    code: "E0012", title: "aliases expand too far",
    explanation: "All aliases of a document together may stand for at most 10,000 values.",
    example: "sources:\n  - file: { path: urls.txt }     # instead of repeated lists\n")
  static let depth = DiagnosticKind(
    code: "E0013", title: "nested too deep",
    explanation: "Lists and maps are nested at most 64 deep.", example: "a: { b: { c: 1 } }\n")
  static let scalarSize = DiagnosticKind(
    code: "E0014", title: "text too long", explanation: "A single text has at most 1 MiB.",
    example: "script: { file: large.lua }     # instead of the text itself\n")
  static let tooManyEntries = DiagnosticKind(
    code: "E0015", title: "too many entries",
    explanation: "A list or map has at most 10,000 entries. Longer lists belong into files, which are streamed.",
    example: "sources:\n  - file: { path: urls.txt }\n")
  static let tooManyNodes = DiagnosticKind(
    code: "E0016", title: "too many values",
    explanation: "A document has at most 250,000 values. Data belongs into files, which are streamed.",
    example: "sources:\n  - file: { path: products.csv, url: \"${row.url}\" }\n")
  static let merge = DiagnosticKind(
    code: "E0017", title: "`<<` without a map",
    explanation: "`<<` merges the entries of a map, or of several in a list, into the map where it stands.",
    example: "base: &base { retry: { attempts: 3 } }\nmore: { <<: *base, timeout: 10s }\n")
  static let tag = DiagnosticKind(
    code: "E0018", title: "unknown tag",
    explanation: "The tags are `!!str`, `!!int`, `!!float`, `!!bool`, `!!null`, `!!seq` and `!!map`.",
    example: "version: !!str 1.10\n")
  static let colon = DiagnosticKind(
    code: "E0019", title: "`:` behind a value",
    explanation: "In a text without quotes, a colon with a space behind it separates a key from its value.",
    example: "title: \"Part 1: the beginning\"\n")
  static let indentation = DiagnosticKind(
    code: "E0020", title: "indentation does not fit",
    explanation: "Keys of one map, and entries of one list, stand in one column.",
    example: "stages:\n  - fetch\n  - store\n")
  static let unclosed = DiagnosticKind(
    code: "E0021", title: "bracket not closed",
    explanation: "`{` needs its `}` and `[` its `]`, with `,` between entries. Texts with such characters need quotes.",
    example: "resize: { width: 256, format: webp }\n")
  static let openQuote = DiagnosticKind(
    code: "E0022", title: "quote not closed",
    explanation: "A quoted text ends with the quote that it began with. `''` is a quote inside single quotes.",
    example: "title: 'it''s here'\n")
  static let escape = DiagnosticKind(
    code: "E0023", title: "unknown escape",
    explanation: "In double quotes a backslash begins an escape such as `\\n` or `\\u00e9`.",
    example: "path: 'C:\\images'     # backslashes are plain in single quotes\n")
  static let reserved = DiagnosticKind(
    code: "E0024", title: "reserved character",
    explanation: "Texts without quotes cannot begin with `@`, a backtick or `%`.", example: "user: \"@mia\"\n")
  static let missingColon = DiagnosticKind(
    code: "E0025", title: "colon missing",
    explanation: "Between keys, every line is `key: value`, with a space behind the colon.",
    example: "name: catalog\n")
  static let blockHeader = DiagnosticKind(
    code: "E0026", title: "text beside `|` or `>`",
    explanation: "A block of text begins on the line below its `|` or `>`.", example: "text: |\n  two\n  lines\n")
  static let name = DiagnosticKind(
    code: "E0027", title: "anchor without a name",
    explanation: "`&` and `*` at the beginning of a value name an anchor. A text that begins with them needs quotes.",
    example: "events: [\"*\"]\n")
  static let directive = DiagnosticKind(
    code: "E0028", title: "directive",
    explanation: "A line that begins with `%` is a directive of YAML itself; manifests need none.",
    example: "discount: \"%5\"\n")
  static let syntax = DiagnosticKind(
    code: "E0029", title: "no YAML", explanation: "The text breaks YAML's grammar here.",
    example: "imgflow: 1\n")

  /// Every kind, in the order of the codes.
  public static let all: [DiagnosticKind] = [
    tooLarge, encoding, brokenUTF8, control, empty, severalDocuments, tab, duplicateKey, keyKind, unquotedExpression,
    alias, aliasExpansion, depth, scalarSize, tooManyEntries, tooManyNodes, merge, tag, colon, indentation, unclosed,
    openQuote, escape, reserved, missingColon, blockHeader, name, directive, syntax,
  ]
}

extension DiagnosticKind {
  /// A mistake of this kind.
  func at(_ place: Place?, _ message: String, hint: String? = nil, notes: [String] = []) -> Diagnostic {
    Diagnostic(code, message, at: place, hint: hint, notes: notes)
  }
}
