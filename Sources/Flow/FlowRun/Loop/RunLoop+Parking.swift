import FlowBase
import FlowGraph
import FlowParts

/// An item that comes back from disk to go through a gate.
struct ParkedItem: Sendable {
  var id: Int
  var item: Item
  var input: [UInt8]
  var states: [NodeState]
  var results: [NodeResult?]
  /// What each of the results depends on, where a later run may use it again.
  var keys: [ResultKey?]
  /// The paths of files that are the item's alone, and go with it.
  var ownFiles: Set<String> = []
  var outputs: [PublishedOutput]
  var tries: [Int]
  var stageTimes: [Int]
  var failures: [Failure]
  var isShared: Bool
  /// Whether its bytes came out of what an earlier run has fetched.
  var isKept: Bool
  /// The stages whose result came from an earlier run.
  var cachedStages: Set<Int>
  var made: [String]
  /// Why it was filtered, if a stage said so.
  var reason: String?
  /// The items in whose favour legs of it were dropped.
  var standIns: [StandIn] = []
  /// The nodes whose results stages that gather can read already.
  var written: Set<Int> = []
}

/// Items that wait behind a gate give their slots to others and wait on disk.
extension RunLoop {
  func park(_ slot: Int) {
    // From now on the journal knows the name, so that memory need not.
    tickets += 1
    parkedNames[tickets] = slots[slot].item.name
    writeEarly(slot, ticket: tickets)
    let held = slots[slot]
    var ownFiles: Set<String> = []
    for node in held.results.indices {
      guard let content = held.results[node]?.content, let file = inFile(content) else { continue }
      held.results[node]?.content = .file(file)
      // Of several results with one file the first is given it, for all of them.
      if file.giveAway(), let path = file.writtenPath { ownFiles.insert(path) }
    }
    held.course.history = nil
    store.park(
      ParkedItem(
        id: held.id, item: held.item, input: held.course.input, states: machine.states(slot: slot),
        results: held.results, keys: held.keys.indices.map { held.results[$0] == nil ? nil : held.keys[$0] },
        ownFiles: ownFiles, outputs: held.course.outputs,
        tries: held.tries, stageTimes: held.stageTimes, failures: held.course.failures, isShared: held.course.isShared,
        isKept: held.course.isKept, cachedStages: held.course.cachedStages, made: held.course.made,
        reason: held.course.reason, standIns: held.course.standIns, written: held.course.written))
    slots[slot].ticket = -1
    slots[slot].results = []
    slots[slot].tasks = []
  }

  /// Writes bytes that were in memory into a file; nil where that fails, and then the item has none when it comes back.
  private func inFile(_ content: Content) -> HeldFile? {
    do throws(Fault) {
      switch content {
      case .bytes(let bytes): return try store.spill(bytes)
      case .file(let file):
        _ = try file.path
        return file
      case .deferred: return nil
      }
    } catch {
      react(to: error, stops: false)
      return nil
    }
  }

  /// Reads parked items back; the journal has them once its thread has come to them.
  func askForParked(_ count: Int) {
    parkedAsked = count
    let mailbox = mailbox
    store.unpark(count) { mailbox.post(.parked($0)) }
  }

  func returned(_ items: [ParkedItem]) {
    // The last of these may make the machine ask for more, which is another matter.
    let asked = parkedAsked
    for parked in items {
      guard let slot = machine.admit(parked.states, wasParked: true, at: now, into: &actions) else { continue }
      place(parked.item, in: slot, id: parked.id, input: parked.input, history: nil)
      slots[slot].course.isAnnounced = true
      slots[slot].course.wasParked = true
      slots[slot].results = parked.results
      slots[slot].keys = parked.keys
      slots[slot].course.outputs = parked.outputs
      slots[slot].tries = parked.tries
      slots[slot].stageTimes = parked.stageTimes
      slots[slot].course.failures = parked.failures
      slots[slot].course.isShared = parked.isShared
      slots[slot].course.isKept = parked.isKept
      slots[slot].course.cachedStages = parked.cachedStages
      slots[slot].course.made = parked.made
      slots[slot].course.reason = parked.reason
      slots[slot].course.standIns = parked.standIns
      slots[slot].course.written = parked.written
      perform()
    }
    // Fewer than asked for: what is missing cannot be read any more, and nothing may wait for it.
    guard items.count < asked else { return }
    if machine.parked > 0 {
      react(
        to: .internal("parked", "\(machine.parked) items that waited for a stage to end could not be read back"),
        stops: false)
    }
    tell(.parkedEnded)
  }
}
