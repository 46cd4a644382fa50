/// Which types of events a stream asks for.
public struct EventFilter: Sendable, Hashable {
  /// A bit for each type, at its place: it is asked for with every event.
  private var types: UInt32 = 0

  /// Lets everything pass.
  public static let all = EventFilter(globs: [])

  /// Lets pass what one of the globs matches (`run.*`, `item.end`, `*`); no globs let everything pass.
  ///
  /// The first and the last event of a stream always pass.
  public init(globs: [String]) {
    for type in EventType.allCases
    where type == .streamStart || type == .runEnd || globs.isEmpty || globs.contains(where: { Self.matches($0, type) })
    {
      types |= Self.bit(of: type)
    }
  }

  private static func bit(of type: EventType) -> UInt32 { 1 << type.place }

  /// Whether events of a type pass.
  public func passes(_ type: EventType) -> Bool { types & Self.bit(of: type) != 0 }

  /// Whether nothing is held back.
  public var isOpen: Bool { types.nonzeroBitCount == EventType.allCases.count }

  /// The globs that match no type at all: misspelt ones.
  public static func unmatched(_ globs: [String]) -> [String] {
    globs.filter { glob in !EventType.allCases.contains { matches(glob, $0) } }
  }

  private static func matches(_ glob: String, _ type: EventType) -> Bool {
    matches(Array(glob.utf8)[...], Array(type.rawValue.utf8)[...])
  }

  /// `*` stands for any number of characters, `?` for one.
  private static func matches(_ glob: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>) -> Bool {
    guard let first = glob.first else { return name.isEmpty }
    if first == UInt8(ascii: "*") {
      return matches(glob.dropFirst(), name) || (!name.isEmpty && matches(glob, name.dropFirst()))
    }
    guard let character = name.first, first == UInt8(ascii: "?") || first == character else { return false }
    return matches(glob.dropFirst(), name.dropFirst())
  }
}
