import FlowBase
import FlowTesting
import Testing

/// The library that lets the calls by which the program changes files fail, or end it; `tools/crash-library` builds it.
enum CrashLibrary {
  /// What happens at a call.
  enum Kind: String, CaseIterable, Sendable {
    case before, tear, after, ENOSPC, EIO, EDQUOT, EMFILE, EINTR

    /// Whether the program ends there.
    var kills: Bool { self == .before || self == .tear || self == .after }
  }

  /// Sanitizers want to be loaded before any other library.
  static let isUsable = !ProcessFacts.environment.keys.contains { $0.hasSuffix("SAN_OPTIONS") }

  private static let place = Guarded<TempPlace?>(nil)
  private static let built = Guarded<String?>(nil)

  /// The library's path; it is built once for all tests.
  static func path() async throws -> String {
    if let path = built.withLock({ $0 }) { return path }
    let folder = try TempPlace()
    let path = folder.file("crash.so")
    var tool = Tool(in: root)
    tool.program = ["tools/crash-library"]
    tool.environment["PATH"] = ProcessFacts.environment["PATH"]
    let end = try await tool.start([path]).end()
    try #require(end.code == 0, "\(end.errors)")
    place.withLock { $0 = folder }
    built.withLock { $0 = path }
    return path
  }

  /// The folder of the package.
  private static let root = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }

  /// The variables that let something happen at a call, or from it on.
  static func variables(_ kind: Kind?, at call: Int, fromThenOn: Bool, tally: String) async throws -> [String: String] {
    var variables = ["LD_PRELOAD": try await path(), "CRASH_TALLY": tally, "CRASH_AT": String(call)]
    variables["CRASH_KIND"] = kind?.rawValue
    // What tells of a crash of the program itself is refused its calls as well, and may then wait for ever.
    variables["SWIFT_BACKTRACE"] = "enable=no"
    if fromThenOn { variables["CRASH_FROM"] = "1" }
    return variables
  }

  /// How often the program was hit, according to the file that it leaves.
  static func hits(_ tally: String) -> Int {
    guard let bytes = try? SmallFiles.read(tally), bytes.count == 16 else { return 0 }
    return Int(bytes[8])
  }
}

/// How thorough a sweep is: the quick one of every test, or the full one of `tools/crash-sweep`.
struct SweepBudget {
  /// The distance between the calls that are tried.
  let step: Int
  private let end: Instant

  init() {
    let environment = ProcessFacts.environment
    step = environment["CRASH_STEP"].flatMap { Int($0) } ?? 10
    let seconds = environment["CRASH_SECONDS"].flatMap { Int($0) } ?? 3
    end = SystemTime().now() + .seconds(seconds)
  }

  /// Whether there is time for another.
  var lasts: Bool { SystemTime().now() < end }

  /// The calls that are tried, in an order that covers all of them evenly wherever it is cut off.
  func calls(below limit: Int) -> [Int] {
    let all = Array(stride(from: 1, through: limit, by: step))
    guard all.count > 2 else { return all }
    var stride = Int(Double(all.count) * 0.618) | 1
    while !isCoprime(stride, all.count) { stride += 2 }
    return all.indices.map { all[$0 * stride % all.count] }
  }

  private func isCoprime(_ left: Int, _ right: Int) -> Bool {
    var (left, right) = (left, right)
    while right != 0 { (left, right) = (right, left % right) }
    return left == 1
  }
}
