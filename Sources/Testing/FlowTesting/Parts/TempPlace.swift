public import FlowBase
internal import Glibc

/// A folder of its own below the system's temporary one, removed with all that is in it when nobody holds it.
public final class TempPlace: Sendable {
  /// Its absolute path.
  public let path: String

  /// A new, empty folder.
  public init() throws(Fault) {
    let base = Environment.value(of: "TMPDIR") ?? "/tmp"
    path = "\(base)/imgflow-test-\(getpid())-\(Entropy.token(8))"
    let path = path
    try naming("make the folder", path) { () throws(Errno) in try FileSystem.makeDirectories(path) }
  }

  deinit { try? FileSystem.removeTree(path) }

  /// The path of a new, empty folder that stays until the process ends.
  public static func untilExit() throws(Fault) -> String {
    let place = try TempPlace()
    lasting.withLock { places in
      if places.isEmpty { atexit { TempPlace.lasting.withLock { $0 = [] } } }
      places.append(place)
    }
    return place.path
  }

  private static let lasting = Guarded<[TempPlace]>([])

  /// The path of something in it.
  public func file(_ name: String) -> String { "\(path)/\(name)" }

  /// The names of what is in it, sorted.
  public var names: [String] { (try? SmallFiles.names(in: path)) ?? [] }
}
