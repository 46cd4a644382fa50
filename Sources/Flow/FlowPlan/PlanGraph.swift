internal import FlowBase
internal import FlowExpressions
internal import FlowParts

/// How the parts of a plan hang together, ready to be drawn.
public struct PlanGraph: Sendable, Hashable {
  /// A source or a sink.
  public struct End: Sendable, Hashable {
    /// Its id.
    public var id: String
    /// Its op.
    public var op: String
  }

  /// A stage.
  public struct Stage: Sendable, Hashable {
    /// Its id.
    public var id: String
    /// Its op.
    public var op: String
    /// `leg`, `item`, `group` or `run`.
    public var per: String
    /// The expression of its groups.
    public var group: String?
    /// The legs of its own matrix, as texts by axis; one without axes where it has none.
    public var legs: [[String: String]]
    /// How many nodes it has, inherited legs included.
    public var nodes: Int
    /// Its condition, where it is not `success`.
    public var condition: String?
    /// The most operations at once.
    public var concurrency: Int?
    /// The places of the stages whose results it takes.
    public var needs: [Int]
    /// The places of the stages that must be wholly finished before it.
    public var after: [Int]
    /// Whether its work is done in one pass with that of the stages behind it.
    public var isFused: Bool

    /// Whether it runs once for many items.
    public var isBarrier: Bool { per == "group" || per == "run" }
    /// Whether an expression decides if it runs.
    public var isConditional: Bool { condition.map { $0 != "always" } ?? false }
  }

  /// The manifest's name.
  public var name: String
  /// The sources.
  public var sources: [End]
  /// The stages, each after all that it waits for.
  public var stages: [Stage]
  /// The sinks.
  public var sinks: [End]

  /// The graph of a plan.
  public init(_ plan: Plan) {
    name = plan.settings.name
    sources = plan.sources.map { End(id: $0.id, op: $0.op) }
    sinks = plan.sinks.map { End(id: $0.id, op: $0.op) }
    stages = plan.stages.enumerated().map { place, stage in
      Stage(stage, nodes: plan.nodes.count { $0.stage == place })
    }
  }

  /// Whether the way from a needed stage to a stage is a barrier or a gate: nothing passes before all is there.
  func isBarrier(from need: Int, to stage: Int) -> Bool {
    stages[stage].isBarrier || stages[stage].after.contains(need)
  }

  /// Whether a stage does the work of the one that it needs together with its own.
  func isFused(behind stage: Int) -> Bool { stages[stage].needs.contains { stages[$0].isFused } }

  /// The stages that run as one pass, in their order.
  public var passes: [[String]] {
    var passes: [[Int]] = []
    for place in stages.indices where stages[place].isFused || isFused(behind: place) {
      if let row = passes.firstIndex(where: { pass in
        pass.last.map { stages[place].needs == [$0] && stages[$0].isFused } ?? false
      }) {
        passes[row].append(place)
      } else {
        // A stage that branches off goes through the same ones before it.
        var pass = [place]
        while let need = stages[pass[0]].needs.first, stages[need].isFused { pass.insert(need, at: 0) }
        passes.append(pass)
      }
    }
    return passes.filter { $0.count > 1 }.map { $0.map { stages[$0].id } }
  }

  /// The gates of a stage that are no ways of results.
  func gates(of stage: Int) -> [Int] { stages[stage].after.filter { !stages[stage].needs.contains($0) } }
}

extension PlanGraph.Stage {
  init(_ stage: PlannedStage, nodes: Int) {
    id = stage.id
    op = stage.op
    switch stage.scope {
    case .leg: per = "leg"
    case .item: per = "item"
    case .run: per = "run"
    case .group(let expression):
      per = "group"
      group = expression.source
    }
    legs = stage.legs.map { leg in Dictionary(leg.map { ($0.0, $0.1.text) }) { first, _ in first } }
    self.nodes = nodes
    switch stage.condition {
    case .success: condition = nil
    case .always: condition = "always"
    case .expression(let expression): condition = expression.source
    }
    concurrency = stage.concurrency
    needs = stage.needs
    after = stage.after
    isFused = stage.isFused
  }
}
