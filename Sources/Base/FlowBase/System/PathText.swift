internal import CPosix
internal import Glibc

/// Paths as texts: joining, cutting, and finding out where they lead.
public enum PathText {
  /// The path without its last step; `.` for a bare name, `/` for what lies in the root.
  public static func parent(of path: String) -> String {
    let trimmed = trimmingSlashes(path)
    guard let slash = trimmed.utf8.lastIndex(of: UInt8(ascii: "/")) else { return trimmed.isEmpty ? path : "." }
    return slash == trimmed.startIndex ? "/" : trimmingSlashes(String(trimmed[..<slash]))
  }

  /// The last step of a path.
  public static func name(of path: String) -> String {
    let trimmed = trimmingSlashes(path)
    guard let slash = trimmed.utf8.lastIndex(of: UInt8(ascii: "/")) else { return trimmed }
    return String(trimmed[trimmed.utf8.index(after: slash)...])
  }

  /// A path below a folder; an absolute path stays as it is.
  public static func join(_ folder: String, _ path: String) -> String {
    if path.utf8.first == UInt8(ascii: "/") || folder.isEmpty { return path }
    return folder.utf8.last == UInt8(ascii: "/") ? folder + path : folder + "/" + path
  }

  /// The absolute form of a path, without `.`, `..` and doubled slashes; links are not looked at.
  public static func absolute(_ path: String, from folder: String? = nil) -> String {
    let whole = join(folder ?? currentFolder, path)
    let based = whole.utf8.first == UInt8(ascii: "/") ? whole : join(currentFolder, whole)
    var steps: [Substring] = []
    for step in based.split(separator: "/", omittingEmptySubsequences: true) {
      switch step {
      case ".": continue
      case "..": _ = steps.popLast()
      default: steps.append(step)
      }
    }
    // Not `joined`: it asks at run time what a list's pieces are, which takes longer than all of this.
    var text = steps.isEmpty ? "/" : ""
    for step in steps {
      text += "/"
      text.append(contentsOf: step)
    }
    return text
  }

  /// The path without links, `.` and `..`; it must be there.
  public static func real(_ path: String) throws(Errno) -> String {
    guard let text = unsafe realpath(path, nil) else { throw .last }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
  }

  /// The process's own folder.
  public static var currentFolder: String {
    guard let text = unsafe getcwd(nil, 0) else { return "/" }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
  }

  private static func trimmingSlashes(_ path: String) -> String {
    guard path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") else { return path }
    var trimmed = path[...]
    while trimmed.utf8.count > 1, trimmed.utf8.last == UInt8(ascii: "/") { trimmed.removeLast() }
    return String(trimmed)
  }
}
