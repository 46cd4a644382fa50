import FlowBase
import FlowParts
import FlowPlan

/// A limit that can be changed while a run goes, read from what was typed.
enum LiveSetting: Hashable, Sendable {
  /// Requests under way over all hosts; nil is `auto`.
  case connections(Int?)
  /// Bytes a second over all transfers; nil is no limit.
  case bandwidth(Int?)
  /// Operations at once of one stage, or of every stage.
  case concurrency(stage: Int?, Int)
  /// The time between two starts of a stage.
  case interval(stage: Int, Interval)
  /// Something of the table of hosts.
  case host(pattern: String, HostChange)

  /// What of a host is changed.
  enum HostChange: Hashable, Sendable {
    /// 0 stands for `auto`.
    case connections(Int)
    case rate(Double)
    case interval(Interval)
  }

  /// Why something typed is no setting.
  struct Problem: Error, Hashable {
    var message: String
  }

  /// The keys that can be set, as messages list them.
  static let keys =
    "connections, bandwidth, concurrency, rate and interval, also written as limits.connections, "
    + "stages.fetch.concurrency or hosts.example.com.rate"

  /// Reads a key and a value, for the part of the run that they were typed for.
  static func parse(
    _ setting: ControlRequest.Setting, scope: ControlScope, stages: [String]
  ) throws(Problem) -> LiveSetting {
    let (key, scope) = try place(setting.key, scope)
    let reader = Reader(key: key, text: setting.value)
    switch (scope, key) {
    case (.run, "connections"): return .connections(try reader.countOrAutomatic())
    case (.run, "bandwidth"): return .bandwidth(try reader.bandwidth())
    case (.run, "concurrency"): return .concurrency(stage: nil, try reader.count())
    case (.run, "rate"): return .host(pattern: "*", .rate(try reader.rate()))
    case (.run, "interval"): return .host(pattern: "*", .interval(try reader.interval()))
    case (.stage(let id), "concurrency"), (.stage(let id), "connections"):
      return .concurrency(stage: try stage(id, stages), try reader.count())
    case (.stage(let id), "interval"): return .interval(stage: try stage(id, stages), try reader.interval())
    case (.stage(let id), "rate"):
      return .interval(stage: try stage(id, stages), Interval(seconds: 1 / (try reader.rate())))
    case (.host(let name), "connections"), (.host(let name), "concurrency"):
      return .host(pattern: name, .connections(try reader.countOrAutomatic() ?? 0))
    case (.host(let name), "rate"): return .host(pattern: name, .rate(try reader.rate()))
    case (.host(let name), "interval"): return .host(pattern: name, .interval(try reader.interval()))
    case (.source, _), (.item, _):
      throw Problem(message: "a single \(scope.kind) has no limits; name a stage or a host, or the whole run")
    default:
      throw Problem(message: "`\(setting.key)` cannot be changed for \(scope.words); what can: \(keys)")
    }
  }

  /// A key without the path before it, and the part of the run that the path names.
  private static func place(_ path: String, _ scope: ControlScope) throws(Problem) -> (String, ControlScope) {
    let steps = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard steps.count > 1, let first = steps.first, let last = steps.last else { return (path, scope) }
    let middle = steps.dropFirst().dropLast().joined(separator: ".")
    let named: ControlScope? =
      switch first {
      case "limits" where middle.isEmpty: .run
      case "stages" where !middle.isEmpty: .stage(middle)
      case "hosts" where !middle.isEmpty: .host(middle.lowercased())
      default: nil
      }
    guard let named else { throw Problem(message: "`\(path)` cannot be changed while a run goes; what can: \(keys)") }
    guard scope == .run || scope == named else {
      throw Problem(message: "`\(path)` is about \(named.words), and it is asked for \(scope.words)")
    }
    return (last, named)
  }

  private static func stage(_ id: String, _ stages: [String]) throws(Problem) -> Int {
    guard let place = stages.firstIndex(of: id) else {
      throw Problem(message: "there is no stage `\(id)`; there are \(stages.joined(separator: ", "))")
    }
    return place
  }

  /// Reads values of the kinds that limits have.
  private struct Reader {
    let key: String
    let text: String

    func count() throws(Problem) -> Int {
      guard let count = Int(text), (1...100_000).contains(count) else { throw problem("a whole number from 1") }
      return count
    }

    func countOrAutomatic() throws(Problem) -> Int? {
      if text == "auto" { return nil }
      return try count()
    }

    func bandwidth() throws(Problem) -> Int? {
      if text == "none" { return nil }
      guard let bandwidth = Bandwidth(parsing: text), bandwidth.bytesPerSecond > 0 else {
        throw problem("a bandwidth such as 50MB/s, or none")
      }
      return bandwidth.bytesPerSecond
    }

    func rate() throws(Problem) -> Double {
      guard let rate = Rate(parsing: text), rate.perSecond > 0 else { throw problem("a rate such as 5/s") }
      return rate.perSecond
    }

    func interval() throws(Problem) -> Interval {
      guard let interval = Interval(parsing: text), interval >= .zero, interval <= .seconds(365 * 86_400) else {
        throw problem("a time such as 2s, of a year at most")
      }
      return interval
    }

    private func problem(_ wanted: String) -> Problem { Problem(message: "`\(key)` takes \(wanted), not `\(text)`") }
  }
}

extension HostTable {
  /// The table with one of its lines changed; a line that is missing is added.
  func changing(_ pattern: String, _ change: LiveSetting.HostChange) -> HostTable {
    var table = self
    let place = table.rules.firstIndex { $0.pattern == pattern } ?? table.rules.endIndex
    if place == table.rules.endIndex { table.rules.append(Rule(pattern: pattern)) }
    switch change {
    case .connections(let count): table.rules[place].connections = count
    case .rate(let rate):
      table.rules[place].rate = rate
      table.rules[place].interval = .zero
    case .interval(let interval):
      table.rules[place].interval = interval
      table.rules[place].rate = .infinity
    }
    return table
  }
}
