import FlowBase
import FlowEvents
import FlowGraph
import FlowParts
import FlowPlan

/// What the lock says of items, and what becomes of those that differ.
extension RunLoop {
  /// Makes an item that is about to be fetched be what is locked; throws where it cannot.
  func imposeLock(on operation: Operation) throws(Fault) {
    let item = slots[operation.slot].item
    guard var lock = lockGuard else { return }
    defer { lockGuard = lock }
    do throws(LockDifference) {
      let entry = try lock.entry(for: item.name, url: LockFile.address(of: item))
      if let own = item.expected.sha256, let difference = lock.compare(item.name, digest: own, size: nil) {
        throw difference
      }
      slots[operation.slot].item.expected.sha256 = entry.digest
    } catch { throw error.fault }
  }

  /// Whether bytes are those that the lock says.
  func isLocked(_ content: Content, on operation: Operation) -> Bool {
    guard lockGuard != nil, case .file(let file) = content else { return true }
    return file.sha256 == slots[operation.slot].item.expected.sha256
  }

  /// Whether what a node brings for an item is what is locked.
  func locks(_ node: Int, _ item: Item) -> Bool {
    item.parent == nil ? node == lockNode : lockNodesOfMade.values.contains(node)
  }

  /// Whether an item of which an earlier run has done everything is what is locked; `lockNode` is the one that fetches
  /// it, or would if it came by.
  func agreesWithLock(_ item: Item, _ known: StoredItem, _ lockNode: Int?) -> Bool {
    guard lockGuard != nil, let lockNode else { return true }
    let digest = store.remembered(known, node: lockNode)?["sha256"]?.asString.flatMap { Digest(.sha256, parsing: $0) }
    // What a filter let go before it was fetched is in no lock.
    if digest == nil, known.status == .filtered { return true }
    return lockGuard?.agrees(item.name, url: LockFile.address(of: item), digest: digest) ?? true
  }

  /// A wrong digest as a violation of the lock.
  func asLocked(_ fault: Fault, _ operation: Operation) -> Fault {
    let item = slots[operation.slot].item
    guard fault.code == "verify.digest", locks(operation.node, item) else { return fault }
    let difference = lockGuard?.compare(item.name, digest: LockGuard.digest(in: fault.message), size: nil)
    return difference?.fault ?? fault
  }

  /// Finds what the lock has and no source gave, where all of them were read.
  func finishLock() {
    guard lockGuard != nil, options.isWhole, !leftSomething, brokenSource == nil else { return }
    lockGuard?.finish()
    for difference in lockGuard?.differences ?? [] where difference.kind == .missing {
      errorCodes["lock.violated", default: 0] += 1
      teller.log(.error, difference.fault.message)
    }
  }
}

extension LockFile {
  /// An item's address as a lock has it.
  static func address(of item: Item) -> String? { item.url.map { Redaction.url($0) } }
}

extension LockGuard {
  /// The first digest that a message names.
  static func digest(in message: String) -> Digest? {
    message.split { !$0.isHexDigit }.lazy.filter { $0.utf8.count == 64 }.compactMap {
      Digest(.sha256, parsing: String($0))
    }.first
  }
}

extension Plan {
  /// The first node that fetches.
  var lockNode: Int? { nodes.indices.first(where: fetches) }

  /// The first node that fetches what a node has made, by the nodes that may make items.
  var lockNodesOfMade: [Int: Int] {
    var found: [Int: Int] = [:]
    for maker in nodes.indices where stages[nodes[maker].stage].part.spec.makesItems {
      var behind: Set = [maker]
      // Nodes stand behind their inputs.
      for node in nodes.indices where found[maker] == nil && !behind.isDisjoint(with: nodes[node].inputs) {
        behind.insert(node)
        if fetches(node) { found[maker] = node }
      }
    }
    return found
  }

  private func fetches(_ node: Int) -> Bool { stages[nodes[node].stage].op == "fetch" }
}
