import FlowBase
import FlowStore

/// How many bytes of items the run may hold in memory while they wait for the stage behind; what is more goes to files.
final class MemoryBudget: Sendable {
  private let used = Guarded(0)
  /// The most bytes.
  let limit: Int
  /// The most bytes of one holder.
  private let largest: Int
  /// The budget of which this is a part.
  private let whole: MemoryBudget?

  init(limit: Int, largest: Int = .max, within whole: MemoryBudget? = nil) {
    self.limit = limit
    self.largest = largest
    self.whole = whole
  }

  /// A quarter of what the machine has, and no more than a gigabyte.
  static var usual: Int { min(1_000_000_000, ProcessFacts.machineMemory / 4) }

  /// The part of a run's budget that bodies may take between the network and the stage behind.
  ///
  /// - Parameter chosen: what the manifest allows the run; where it says nothing, bodies that wait are no reason to be
  ///   large, as files do as well.
  static func forBodies(within whole: MemoryBudget, chosen: Int?) -> MemoryBudget {
    let limit = chosen.map { $0 / 2 } ?? min(16 << 20, whole.limit / 2)
    // A worker holds what it is sent several times over.
    return MemoryBudget(limit: limit, largest: min(16 << 20, limit / 2), within: whole)
  }

  /// How many bytes are held now.
  var held: Int { used.withLock { $0 } }

  /// Room for so many bytes, for as long as the result is held; nil where there is none.
  func take(_ bytes: Int) -> Share? {
    let share = Share(of: self)
    return share.grow(by: bytes) ? share : nil
  }

  /// A share that holds nothing yet.
  func open() -> Share { Share(of: self) }

  private func add(_ bytes: Int) -> Bool {
    if let whole, !whole.add(bytes) { return false }
    let fits = used.withLock { used in
      if used + bytes > limit { return false }
      used += bytes
      return true
    }
    if !fits { whole?.giveBack(bytes) }
    return fits
  }

  private func giveBack(_ bytes: Int) {
    used.withLock { $0 -= bytes }
    whole?.giveBack(bytes)
  }

  /// A part of the budget, given back with its last holder.
  final class Share: MemoryRoom {
    private let bytes = Guarded(0)
    private let budget: MemoryBudget

    fileprivate init(of budget: MemoryBudget) { self.budget = budget }

    deinit { budget.giveBack(bytes.withLock { $0 }) }

    /// Takes so many more bytes of the budget; false where they are not there.
    func grow(by more: Int) -> Bool {
      bytes.withLock { bytes in
        guard bytes + more <= budget.largest, budget.add(more) else { return false }
        bytes += more
        return true
      }
    }
  }
}
