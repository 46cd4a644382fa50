import FlowBase

/// How many bytes of items the run may hold in memory while they wait for the stage behind; what is more goes to files.
final class MemoryBudget: Sendable {
  private let used = Guarded(0)
  /// The most bytes.
  let limit: Int

  init(limit: Int) { self.limit = limit }

  /// A quarter of what the machine has, and no more than a gigabyte.
  static var usual: Int { min(1_000_000_000, ProcessFacts.machineMemory / 4) }

  /// How many bytes are held now.
  var held: Int { used.withLock { $0 } }

  /// Room for so many bytes, for as long as the result is held; nil where there is none.
  func take(_ bytes: Int) -> Share? {
    let fits = used.withLock { used in
      if used + bytes > limit { return false }
      used += bytes
      return true
    }
    return fits ? Share(bytes, of: self) : nil
  }

  /// A part of the budget, given back with its last holder.
  final class Share: Sendable {
    private let bytes: Int
    private let budget: MemoryBudget

    fileprivate init(_ bytes: Int, of budget: MemoryBudget) {
      self.bytes = bytes
      self.budget = budget
    }

    deinit { budget.used.withLock { $0 -= bytes } }
  }
}
