/// How the parts of a run hang together, for those that show it.
public struct GraphSketch: Sendable, Hashable {
  /// A stage.
  public struct Stage: Sendable, Hashable {
    /// Its id.
    public var id: String
    /// Its op.
    public var op: String
    /// `leg`, `item`, `group` or `run`.
    public var per: String
    /// The places of the stages whose results it takes.
    public var needs: [Int]
    /// The places of the stages that must be wholly finished before it.
    public var after: [Int]
    /// The most operations at once.
    public var concurrency: Int?

    /// A stage.
    public init(id: String, op: String, per: String, needs: [Int], after: [Int], concurrency: Int? = nil) {
      self.id = id
      self.op = op
      self.per = per
      self.needs = needs
      self.after = after
      self.concurrency = concurrency
    }
  }

  /// A source or a sink.
  public struct End: Sendable, Hashable {
    /// Its id.
    public var id: String
    /// Its op.
    public var op: String

    /// An end of the graph.
    public init(id: String, op: String) {
      self.id = id
      self.op = op
    }
  }

  /// The sources.
  public var sources: [End] = []
  /// The stages, each after all that it waits for.
  public var stages: [Stage] = []
  /// The sinks.
  public var sinks: [End] = []

  /// An empty graph.
  public init() {}
}
