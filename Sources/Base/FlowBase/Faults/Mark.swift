/// A place in a file, as editors count it: lines and columns from 1, columns in characters.
public struct Mark: Sendable, Hashable, Comparable {
  /// The line, from 1.
  public var line: Int
  /// The column, from 1, in Unicode scalars.
  public var column: Int
  /// How many characters the thing at this place takes on its first line; at least 1.
  public var length: Int

  /// A place.
  public init(line: Int, column: Int, length: Int = 1) {
    self.line = line
    self.column = column
    self.length = max(1, length)
  }

  /// Where a document begins; the place of what is missing altogether.
  public static let start = Mark(line: 1, column: 1)

  /// Whether the left place comes first.
  public static func < (left: Mark, right: Mark) -> Bool { (left.line, left.column) < (right.line, right.column) }
}

/// A place in a named file.
public struct Place: Sendable, Hashable {
  /// The file's path as the user wrote it.
  public var file: String
  /// Where in the file.
  public var mark: Mark

  /// A place in a file.
  public init(file: String, mark: Mark) {
    self.file = file
    self.mark = mark
  }
}
