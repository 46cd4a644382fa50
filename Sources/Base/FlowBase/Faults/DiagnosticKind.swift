/// What is to be said of one kind of diagnostic, whoever meets it: the text behind `explain E0001`.
public struct DiagnosticKind: Sendable, Hashable {
  /// The stable code, such as `E0001`.
  public let code: String
  /// What is wrong, in a few words.
  public let title: String
  /// Why it is wrong and what to do about it.
  public let explanation: String
  /// The mistake and its remedy, as they look in a manifest.
  public let example: String

  /// A kind of diagnostic.
  public init(code: String, title: String, explanation: String, example: String) {
    self.code = code
    self.title = title
    self.explanation = explanation
    self.example = example
  }
}
