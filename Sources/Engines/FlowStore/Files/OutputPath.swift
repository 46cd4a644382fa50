internal import FlowBase

/// The rules of paths below the output directory.
enum OutputPath {
  /// Refuses what is no path below a directory: absolute or empty ones, `.`, `..`, NUL, steps that are too long.
  static func check(_ path: String) throws(Fault) {
    var length = 0
    var dots = 0
    var steps = 0
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "/"):
        try checkStep(path, length: length, dots: dots)
        length = 0
        dots = 0
        steps += 1
      case 0: throw Fault("path.escapes", .permanent, "the output path \(path.debugDescription) holds a NUL character")
      default:
        length += 1
        if byte == UInt8(ascii: ".") { dots += 1 }
      }
    }
    try checkStep(path, length: length, dots: dots)
    if steps > 512 {
      throw Fault("path.too_long", .permanent, "the output path \(path.prefix(80))… has more than 512 steps")
    }
  }

  private static func checkStep(_ path: String, length: Int, dots: Int) throws(Fault) {
    if length == 0 {
      throw Fault(
        "path.escapes", .permanent, "the output path \(path.debugDescription) is absolute, or a step of it is empty")
    }
    if dots == length && length <= 2 {
      throw Fault("path.escapes", .permanent, "the output path \(path.debugDescription) has a step `.` or `..`")
    }
    if length > 255 {
      throw Fault(
        "path.too_long", .permanent, "a step of the output path \(path.prefix(80))… is longer than 255 bytes")
    }
  }

  /// The path split at its last slash; the folder is empty for what lies in the output directory itself.
  static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", path) }
    return (String(path[..<slash]), String(path[path.utf8.index(after: slash)...]))
  }
}
