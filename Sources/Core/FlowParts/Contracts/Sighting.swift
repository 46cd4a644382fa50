/// What can be known of a stage's result without making it.
public struct Sighting: Sendable, Hashable {
  /// How many bytes would come; nil where nobody says.
  public var bytes: Int?

  /// What was seen.
  public init(bytes: Int?) {
    self.bytes = bytes
  }
}
