/// The static graph: one node a stage and leg, whatever the number of items.
public struct GraphShape: Sendable {
  /// A stage, as far as scheduling cares.
  public struct Stage: Sendable {
    /// Whether it runs once for many items, when all that it needs is wholly finished.
    public var isBarrier: Bool
    /// The stages whose results it takes; only barriers read this, the others have the inputs of their nodes.
    public var needs: [Int]
    /// The stages that must be wholly finished before it starts on any item.
    public var gates: [Int]
    /// Whether it joins all legs of an item.
    public var joins: Bool
    /// Whether it runs although what it needs has failed.
    public var runsAlways: Bool
    /// The most operations at once.
    public var concurrency: Int
    /// The time between two starts, in nanoseconds.
    public var interval: Int
    /// The pool that each operation takes a token of.
    public var pool: Int?
    /// Whether items pass it one by one in the order of their admission, whichever is ready first.
    public var isOrdered: Bool

    /// A stage.
    public init(
      isBarrier: Bool = false, needs: [Int] = [], gates: [Int] = [], joins: Bool = false, runsAlways: Bool = false,
      concurrency: Int = .max, interval: Int = 0, pool: Int? = nil, isOrdered: Bool = false
    ) {
      self.isBarrier = isBarrier
      self.needs = needs
      self.gates = gates
      self.joins = joins
      self.runsAlways = runsAlways
      self.concurrency = max(1, concurrency)
      self.interval = max(0, interval)
      self.pool = pool
      self.isOrdered = isOrdered
    }
  }

  /// A stage on one leg.
  public struct Node: Sendable {
    /// The stage, which is no barrier.
    public var stage: Int
    /// The nodes that come before it.
    public var inputs: [Int]

    /// A node.
    public init(stage: Int, inputs: [Int] = []) {
      self.stage = stage
      self.inputs = inputs
    }
  }

  /// The stages, each after all that it needs.
  public let stages: [Stage]
  /// The nodes, each after its inputs; those of barriers keep their numbers and take no part in items.
  public let nodes: [Node]
  /// The number of tokens of each pool.
  public let pools: [Int]
  /// The most items that are under way at once.
  public let window: Int
  /// What the machine reads at every step, laid out flat.
  let wiring: Wiring

  /// A graph.
  public init(stages: [Stage], nodes: [Node], pools: [Int] = [], window: Int = 1024) {
    self.stages = stages
    self.nodes = nodes
    // A pool without tokens would stop its stages for good.
    self.pools = pools.map { max(1, $0) }
    self.window = max(1, window)
    wiring = Wiring(stages: stages, nodes: nodes, pools: pools.count)
  }
}

/// One node's work on one item.
public struct Operation: Sendable, Hashable {
  /// The item's slot in the window.
  public var slot: Int
  /// The node.
  public var node: Int

  /// An operation.
  public init(slot: Int, node: Int) {
    self.slot = slot
    self.node = node
  }
}

/// Where a node stands with one item.
public enum NodeState: UInt8, Sendable, Hashable {
  /// Something that it needs has not ended.
  case waiting
  /// It could run, but for a stage that must be wholly finished first.
  case gated
  /// It could run, and waits for a slot.
  case ready
  /// It could run, and waits for its host.
  case held
  /// It runs.
  case running
  /// It has failed and waits for its next try.
  case retrying
  /// It went well, or its condition let the leg pass by.
  case ok
  /// The leg was filtered, here or before.
  case filtered
  /// It failed for good.
  case failed
  /// It did not run, because something before it failed.
  case skipped
  /// It was cancelled.
  case cancelled
  /// It went well and has made other items, which go on in place of this one.
  case split

  /// Whether nothing more will happen here.
  public var isFinal: Bool { rawValue >= NodeState.ok.rawValue }
}

/// How an operation ended.
public enum Outcome: UInt8, Sendable, Hashable {
  case ok, filtered, failed, cancelled
  /// It went well and has made other items, which go on in place of this one.
  case split

  var state: NodeState {
    switch self {
    case .ok: .ok
    case .filtered: .filtered
    case .failed: .failed
    case .cancelled: .cancelled
    case .split: .split
    }
  }
}
