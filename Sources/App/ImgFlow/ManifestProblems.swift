public import FlowBase

/// Everything that is wrong with a manifest, or with a plan that was built in code.
public struct ManifestProblems: Error, Sendable, CustomStringConvertible {
  /// The errors and warnings, sorted by place.
  public var diagnostics: [Diagnostic]
  /// The errors and warnings as `imgflow validate` prints them.
  public var description: String

  init(_ diagnostics: [Diagnostic], line: (_ file: String, _ number: Int) -> String?) {
    self.diagnostics = diagnostics.sortedByPlace()
    description = withoutActuallyEscaping(line) { DiagnosticText(line: $0).text(diagnostics) }
  }
}
