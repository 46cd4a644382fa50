public import FlowBase

/// Everything that can be wrong with an expression, for `explain`.
public enum ExpressionProblems {
  /// All kinds, by code.
  public static let all: [DiagnosticKind] = syntax + names + types

  private static let syntax = [
    DiagnosticKind(
      code: "E0200", title: "an expression that cannot be read",
      explanation: "Something else was expected at this place. The message says what stands there and what could.",
      example: "if: item.width >=        # a value is missing behind `>=`"),
    DiagnosticKind(
      code: "E0201", title: "`${` without `}`",
      explanation: "Every `${` of a text begins an expression, which ends with `}`. A plain `${` is written `$${`.",
      example: "url: \"https://example.com/${row.id.jpg\"      # write ${row.id}.jpg"),
    DiagnosticKind(
      code: "E0202", title: "a quote that is not closed, or a broken escape",
      explanation:
        "Texts stand in single or double quotes. `\\'`, `\\\"`, `\\\\`, `\\n`, `\\r`, `\\t` and `\\u00e9` are escapes.",
      example: "where: row.kind == 'hero      # the closing ' is missing"),
    DiagnosticKind(
      code: "E0203", title: "an expression that is too large",
      explanation:
        "Expressions take at most 64 KiB, 64 levels of parentheses and 256 chained operations. What is larger is a script.",
      example: "where: row.id == 1 or row.id == 2 or …      # write row.id in [1, 2, …]"),
    DiagnosticKind(
      code: "E0204", title: "a number that is none",
      explanation: "A number is followed by letters, or is larger than any whole number. Texts need quotes.",
      example: "where: row.size == 12px      # write '12px'"),
    DiagnosticKind(
      code: "E0205", title: "a bad pattern",
      explanation:
        "The text behind `matches` is a regular expression that cannot be compiled. There is no look-around and there are "
        + "no back references, so that every pattern is fast.",
      example: "filter: item.name matches '*.jpg'      # write '\\.jpg$'"),
    DiagnosticKind(
      code: "E0206", title: "a sign that is no operator",
      explanation: "The operators are `== != < <= > >= and or not in matches + - * / % ??`; filters follow a `|`.",
      example: "if: item.width > 10 && item.height > 10      # write `and`"),
    DiagnosticKind(
      code: "E0207", title: "`${…}` inside an expression",
      explanation:
        "A condition is an expression as it stands; only around the whole of it may `${` and `}` be written.",
      example: "if: ${item.width} > 10      # write item.width > 10"),
    DiagnosticKind(
      code: "E0208", title: "a call of a function",
      explanation: "There are no functions. Values are changed by filters behind a `|`.",
      example: "if: len(item.name) > 3      # write item.name | len > 3"),
  ]

  private static let names = [
    DiagnosticKind(
      code: "E0210", title: "an unknown name",
      explanation:
        "Names begin with one of `vars env secret output row for item matrix group from out run`. A text needs quotes.",
      example: "filter: width > 10      # write item.width"),
    DiagnosticKind(
      code: "E0214", title: "a field that is not set yet",
      explanation: "A field of the item is used before the stage that sets it.",
      example: "- filter: item.width >= 256      # add `- probe` above"),
    DiagnosticKind(
      code: "E0215", title: "an unknown filter",
      explanation: "What stands behind `|` is no filter; the message lists all of them.",
      example: "store: \"${item.key | slugify}\"      # write slug"),
    DiagnosticKind(
      code: "E0216", title: "a filter with the wrong number of arguments",
      explanation: "The hint shows how the filter is written.",
      example: "store: \"${for.n | pad}\"      # write pad(3)"),
    DiagnosticKind(
      code: "E0217", title: "a filter with an argument of the wrong type",
      explanation: "The hint shows how the filter is written.",
      example: "store: \"${for.n | pad('3')}\"      # write pad(3)"),
  ]

  private static let types = [
    DiagnosticKind(
      code: "E0220", title: "a text compared with a number",
      explanation:
        "Cells of tables are texts unless the source says otherwise. Declare `types: { weight: number }` on the source, or "
        + "write `row.weight | number`.",
      example: "where: row.weight > 0      # write row.weight | number > 0"),
    DiagnosticKind(
      code: "E0221", title: "a comparison that is never true",
      explanation: "The two sides are of different types, so they are never equal.",
      example: "if: item.has_alpha == 'yes'      # write item.has_alpha"),
    DiagnosticKind(
      code: "E0222", title: "an operator or filter with a value of the wrong type",
      explanation: "The message says what is needed and what stands there.",
      example: "if: item.name and item.width > 10      # write item.name != ''"),
    DiagnosticKind(
      code: "E0223", title: "a condition that is neither true nor false",
      explanation: "Conditions are judged by their truth; numbers and texts have none, so compare them.",
      example: "if: item.width      # write item.width > 0"),
  ]
}
