/// A path that stays below the folder that it is taken from.
public struct RelativePath: Sendable, Hashable {
  /// Its segments; at least one, none of them empty, `.` or `..`.
  public let components: [String]

  /// The longest path, in bytes.
  public static let longest = 4000

  /// Reads a path; `.` and doubled slashes are dropped.
  ///
  /// What is absolute, has a `..`, or is empty, is a fault `path.escapes`; what no file system takes is `path.invalid`.
  public init(parsing text: String) throws(Fault) {
    if text.utf8.first == UInt8(ascii: "/") {
      throw Fault("path.escapes", .permanent, "`\(RelativePath.shown(text))` is absolute, not a path below the folder")
    }
    if text.utf8.contains(0) {
      throw Fault("path.invalid", .permanent, "`\(RelativePath.shown(text))` holds a NUL character")
    }
    var components: [String] = []
    for part in text.utf8.split(separator: UInt8(ascii: "/")).map({ String(Substring($0)) }) where part != "." {
      if part == ".." {
        throw Fault("path.escapes", .permanent, "`\(RelativePath.shown(text))` leaves the folder by `..`")
      }
      if part.utf8.count > FileName.longest {
        throw Fault(
          "path.invalid", .permanent, "`\(RelativePath.shown(part))` is a name of more than \(FileName.longest) bytes")
      }
      components.append(part)
    }
    if components.isEmpty {
      throw Fault("path.escapes", .permanent, "`\(RelativePath.shown(text))` names the folder itself, nothing below it")
    }
    if text.utf8.count > RelativePath.longest {
      throw Fault(
        "path.invalid", .permanent, "`\(RelativePath.shown(text))` is longer than \(RelativePath.longest) bytes")
    }
    self.components = components
  }

  /// The path as a text, with `/` between the segments.
  public var text: String { components.joined(separator: "/") }
  /// The last segment.
  public var name: String { components.last ?? "" }
  /// The last segment without its extension.
  public var stem: String { FileName.stem(of: name) }
  /// The last segment's extension, without the dot.
  public var ext: String { FileName.ext(of: name) }
  /// The path of the folder that it lies in; empty for the folder that it is taken from.
  public var folder: String { components.dropLast().joined(separator: "/") }

  /// The form in which paths are equal that some file system takes for one: composed characters, small letters.
  public var foldedForCollision: String { CanonicalText.folded(text) }

  private static func shown(_ text: String) -> String {
    let visible = text.unicodeScalars.prefix(80).map { $0.value < 0x20 ? "\u{FFFD}" : String($0) }.joined()
    return text.unicodeScalars.count > 80 ? visible + "…" : visible
  }
}
