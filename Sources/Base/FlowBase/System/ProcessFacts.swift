internal import Glibc

/// What the process was started with.
public enum ProcessFacts {
  /// The environment's variables.
  public static var environment: [String: String] {
    var variables: [String: String] = [:]
    var entry = unsafe environ
    while let text = unsafe entry.pointee {
      let line = unsafe String(cString: text)
      if let equals = line.firstIndex(of: "=") {
        variables[String(line[..<equals])] = String(line[line.index(after: equals)...])
      }
      unsafe entry = unsafe entry.advanced(by: 1)
    }
    return variables
  }

  /// The working folder as an absolute path.
  public static var folder: String {
    guard let path = unsafe getcwd(nil, 0) else { return "." }
    defer { unsafe free(path) }
    return unsafe String(cString: path)
  }

  /// Goes to another folder.
  public static func changeFolder(to path: String) throws(Fault) {
    guard unsafe chdir(path) == 0 else { throw SystemFault.last("cannot go to the folder \(path)") }
  }

  /// The process's id.
  public static var id: Int { Int(getpid()) }

  /// Ends the process at once, with this exit code.
  public static func exit(_ code: Int) -> Never { Glibc.exit(Int32(truncatingIfNeeded: code)) }
}
