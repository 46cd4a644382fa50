internal import FlowBase
public import FlowEvents
public import FlowParts
public import FlowPlan
internal import FlowStore

extension Listener {
  /// A sink of the manifest as a listener; one that cannot be made fails when it is opened.
  ///
  /// Call it before the run opens files of its own: a sink may look at the descriptors that it was given.
  public init(_ planned: PlannedSink, _ context: SinkContext) {
    do {
      self.init(planned, try planned.part.make(planned.config, context))
    } catch {
      let fault = Fault(error)
      self.init(name: planned.id, isRequired: planned.isRequired, open: { throw fault }, deliver: { _ in })
    }
  }

  private init(_ planned: PlannedSink, _ sink: any Sink) {
    self.init(
      name: planned.id, filter: EventFilter(globs: planned.events), isRequired: planned.isRequired,
      patience: sink.patience, render: { sink.render($0, into: &$1) }, open: { try await sink.open() },
      deliver: { try await sink.deliver($0) }, courier: (sink as? any SpooledSink)?.courier,
      close: { try await sink.close() })
  }
}

extension SinkContext {
  /// What a sink of a plan is given.
  public init(_ sink: PlannedSink, of plan: Plan, run: String) {
    self.init(sink.id, of: plan, run: run)
    isRequired = sink.isRequired
  }

  /// What a sink is given that no manifest names.
  public init(_ name: String, of plan: Plan, run: String) {
    self.init(id: name, run: run, folder: plan.settings.folder, settings: plan.settings)
    keep = PathText.join(StateFolder(directory: plan.state.folder, stem: plan.state.stem).spool, name)
    manifest = plan.manifest
    secrets = plan.secrets
    for source in plan.sources { places[source.id] = source.place }
    for stage in plan.stages { places[stage.id] = stage.place }
    graph = GraphSketch(PlanGraph(plan))
  }
}

extension GraphSketch {
  /// The graph of a plan.
  public init(_ graph: PlanGraph) {
    self.init()
    sources = graph.sources.map { End(id: $0.id, op: $0.op) }
    sinks = graph.sinks.map { End(id: $0.id, op: $0.op) }
    stages = graph.stages.map {
      Stage(id: $0.id, op: $0.op, per: $0.per, needs: $0.needs, after: $0.after, concurrency: $0.concurrency)
    }
  }
}
