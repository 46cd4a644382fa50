internal import FlowBase
internal import FlowEvents

/// Failures by code and host, with an example of each, however many there are.
struct FailureGroups {
  /// Failures of one code at one host.
  struct Group: Hashable {
    var code: String
    var host: String?
    var count: Int
    /// One of them, with its message.
    var example: String
    var message: String
    /// The source or stage where it happened.
    var stage: String
  }

  /// So many groups are told apart; the others are only counted.
  private static let limit = 200

  private var places: [String: Int] = [:]
  private var groups: [Group] = []
  /// Failures that are in no group.
  private(set) var others = 0

  /// The groups, the largest first.
  var sorted: [Group] {
    groups.enumerated().sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }.map(\.element)
  }

  /// Takes note of an event; failures are told by `item.error` and by the ends of stages that gather.
  mutating func handle(_ event: Event) {
    switch event.payload {
    case .itemError(let error):
      let subject = event.subject
      add(subject?.label ?? "", subject?.stage ?? subject?.source ?? "", error.fault)
    case .barrierEnd(let end):
      guard let error = end.error else { return }
      let name = end.barrier.group.map { "\(end.barrier.stage) [\($0)]" } ?? end.barrier.stage
      add(name, end.barrier.stage, error.fault)
    default: break
    }
  }

  private mutating func add(_ name: String, _ stage: String, _ fault: Fault) {
    let key = "\(fault.code) \(fault.host ?? "")"
    if let place = places[key] {
      groups[place].count += 1
    } else if groups.count < FailureGroups.limit {
      places[key] = groups.count
      groups.append(
        Group(code: fault.code, host: fault.host, count: 1, example: name, message: fault.message, stage: stage))
    } else {
      others += 1
    }
  }
}
