public import FlowBase

/// Reads a YAML document into nodes that know where they stand, and finds every mistake that can be found.
public enum YAMLReader {
  /// Reads one document.
  ///
  /// The node is there as soon as the document could be read to its end, even beside problems, so that whoever looks
  /// at its meaning can add what is wrong there. `file` is the path as the user wrote it.
  public static func read(_ bytes: [UInt8], file: String) -> (node: Node?, problems: [Diagnostic]) {
    let text: SourceText
    switch SourceText.check(bytes, file: file) {
    case .success(let sound): text = sound
    case .failure(let problem): return (nil, [problem])
    }
    return readRecovering(text, file: file)
  }

  /// Reads the document; each unquoted `${` that breaks it is masked and the reading begun again, so that what stands
  /// behind it is found as well.
  private static func readRecovering(_ text: SourceText, file: String) -> (node: Node?, problems: [Diagnostic]) {
    var text = text
    var unquoted: [Diagnostic] = []
    while true {
      var composer = Composer(text, file: file)
      let outcome = composer.compose()
      if case .unquotedExpression(let index, let problem) = outcome {
        unquoted.append(problem)
        if unquoted.count < Limits.recoveries, text.bytes.count <= Limits.recoverableBytes,
          let masked = text.maskingExpression(at: index)
        {
          text = masked
          continue
        }
      }
      let problems = (unquoted + composer.problems).sorted { first, second in
        (first.place?.mark ?? .start) < (second.place?.mark ?? .start)
      }
      if case .document(let node) = outcome, unquoted.isEmpty { return (node, problems) }
      return (nil, problems)
    }
  }
}

/// How large a document and its parts may be.
enum Limits {
  static let bytes = 16 << 20
  static let depth = 64
  static let scalarBytes = 1 << 20
  static let entries = 10_000
  static let aliasNodes = 10_000
  /// All values of the document together; keeps the memory of a document full of tiny values in bounds.
  static let nodes = 250_000
  /// Beyond so many mistakes that are to be listed singly, the reading ends.
  static let problems = 100
  static let recoveries = 20
  static let recoverableBytes = 1 << 20
}
