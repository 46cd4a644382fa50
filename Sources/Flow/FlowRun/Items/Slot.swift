import FlowBase
import FlowEvents
import FlowGraph
import FlowParts
import FlowStore

/// An item in the window, with what its nodes have made so far.
///
/// One object a place in the window, used by the run's thread alone: an item is looked at and changed some twenty times
/// on its way, and a copy of all this each time costs more than the rest of it.
final class Slot {
  /// Tells this item from the next one in the same slot, for letters that come late.
  var ticket: Int
  /// Its number in the journal.
  var id: Int
  var item: Item { didSet { subject = ItemSubject(item) } }
  /// The item as events name it, without the number of all items.
  private(set) var subject: ItemSubject
  /// What each node has made; nil before it has, and again once nobody needs it any more.
  var results: [NodeResult?]
  var tries: [Int]
  var tasks: [StageWork?]
  /// The number of the host that each node asks just now; -1 where it asks none.
  var hosts: [Int]
  /// When each node's first try began, and when its current try began.
  var firstStart: [Instant?]
  var tryStart: [Instant]
  /// Time spent by stage, in nanoseconds, in the order of the plan's stages; -1 where the stage has not run.
  var stageTimes: [Int]
  /// What each node's result depends on, for those that a later run may use again.
  var keys: [ResultKey?]
  /// What has become of the item so far.
  var course = Course()

  /// What begins anew with each item.
  struct Course {
    /// The digest of what its source said of it.
    var input: [UInt8] = []
    /// The digest of where its bytes come from, where that is known already.
    var origin: [UInt8]?
    /// The digest of all that its result depends on, where that is known already.
    var fingerprint: [UInt8]?
    /// The fault that an interruption by the clock stands for, by node.
    var lateness: [Int: Fault] = [:]
    /// Nodes whose transfers were stopped by a pause, to go on later.
    var suspended: Set<Int> = []
    /// How many tries of a node a pause has cut short.
    var pardoned: [Int: Int] = [:]
    /// Whether `item.start` has been told.
    var isAnnounced = false
    var isShared = false
    /// Whether its bytes came out of what an earlier run has fetched.
    var isKept = false
    /// The final faults of its legs.
    var failures: [Failure] = []
    /// Why it was filtered, if a stage said so.
    var reason: String?
    var outputs: [PublishedOutput] = []
    /// Whether it has waited on disk behind a gate.
    var wasParked = false
    /// What an earlier run knew of it.
    var history: StoredItem?
    /// Whether the journal has it as being under way.
    var isWritten = false
    /// The nodes whose results stages that gather can read already.
    var written: Set<Int> = []
    /// The stages whose result came from an earlier run.
    var cachedStages: Set<Int> = []
    /// The items in whose favour legs of it were dropped.
    var standIns: [StandIn] = []
    /// The keys of the items that its stages have made of it.
    var made: [String] = []
    /// The end that an earlier run gave it, where it is to be found out whether that still holds.
    var earlierEnd: Payload.ItemEnd?
    /// What was made of it then, and is done.
    var earlierMade: [RunLoop.CachedMade] = []
    /// Outputs that lend their bytes to its nodes.
    var loans: [OutputRecord] = []
    /// Whether that end still holds.
    var isUnchanged = false
    /// Nodes whose earlier results are not to be taken any more: of bytes that had failed, or of a leg that was dropped.
    var blamed: Set<Int> = []
    /// Whether its host is asked as if nothing of it were here.
    var asksPlainly = false
    /// What it was cancelled by.
    var cancelCode = "cancelled.user"
  }

  init(ticket: Int, id: Int, item: Item, nodes: Int, stages: Int) {
    self.ticket = ticket
    self.id = id
    self.item = item
    subject = ItemSubject(item)
    results = Array(repeating: nil, count: nodes)
    tries = Array(repeating: 0, count: nodes)
    tasks = Array(repeating: nil, count: nodes)
    hosts = Array(repeating: -1, count: nodes)
    firstStart = Array(repeating: nil, count: nodes)
    tryStart = Array(repeating: Instant(nanoseconds: 0), count: nodes)
    stageTimes = Array(repeating: -1, count: stages)
    keys = Array(repeating: nil, count: nodes)
  }

  /// Makes it another item's, with the memory of the one that it was for.
  func renew(ticket: Int, id: Int, item: Item, nodes: Int, stages: Int) {
    self.ticket = ticket
    self.id = id
    self.item = item
    course = Course()
    Slot.refill(&results, nil, nodes)
    Slot.refill(&tries, 0, nodes)
    Slot.refill(&tasks, nil, nodes)
    Slot.refill(&hosts, -1, nodes)
    Slot.refill(&firstStart, nil, nodes)
    Slot.refill(&tryStart, Instant(nanoseconds: 0), nodes)
    Slot.refill(&stageTimes, -1, stages)
    Slot.refill(&keys, nil, nodes)
  }

  /// Lets go of what its item held: nothing of it is under way any more.
  func close() {
    ticket = -1
    Slot.refill(&results, nil, results.count)
    Slot.refill(&tasks, nil, tasks.count)
  }

  private static func refill<Value>(_ values: inout [Value], _ value: Value, _ count: Int) {
    guard values.count == count else { return values = Array(repeating: value, count: count) }
    for place in 0..<count { values[place] = value }
  }

  /// The number of the host that a node asks just now.
  func host(of node: Int) -> Int? { hosts[node] < 0 ? nil : hosts[node] }

  /// The most tries that a node took.
  var attempts: Int { tries.max() ?? 0 }
}

/// A stage at work on a leg.
enum StageWork: Sendable {
  case task(Task<Void, Never>)
  case begun(BegunWork)

  /// Ends it soon.
  func cancel() {
    switch self {
    case .task(let task): task.cancel()
    case .begun(let work): work.cancel()
    }
  }
}

/// A leg that failed for good.
struct Failure: Sendable {
  var node: Int
  var fault: Fault
  var attempt: Int
}

/// A file that belongs to a leg of an item.
struct PublishedOutput: Sendable {
  var fact: OutputFact
  var node: Int
}

extension ItemSubject {
  /// An item as events name it.
  init(_ item: Item, total: Int? = nil) {
    self.init(
      item: item.name, index: item.index, total: total, url: item.url, source: item.source, parent: item.parent)
  }
}
