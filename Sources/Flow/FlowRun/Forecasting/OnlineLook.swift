import FlowBase
import FlowExpressions
import FlowGraph
import FlowParts
import FlowPlan

/// Asks the hosts of a forecast what a run would get from them, as gently as the run itself would ask.
struct OnlineLook: Sendable {
  /// What came of asking about one item.
  enum Answer: Sendable {
    /// The stages before the network take the item out, or nothing asks anybody.
    case nothingToAsk
    /// It is there.
    case seen(Sighting)
    /// It is not, or nobody answers.
    case failed(Fault)
  }

  /// So many hosts are asked side by side.
  private static let hosts = 8

  private let plan: Plan
  private let options: RunOptions
  private let stages: [any Stage]
  private let services: LookServices

  init(_ plan: Plan, _ options: RunOptions) {
    self.plan = plan
    self.options = options
    stages = plan.stages.map { $0.part.make() }
    services = LookServices(settings: plan.settings)
  }

  /// Ends the threads.
  func close() { services.blocking.close() }

  /// Asks about some items; the answers come in no order.
  func ask(_ items: [Item]) async -> [Answer] {
    var answers: [Answer] = []
    var byHost: [String: [Question]] = [:]
    for item in items {
      switch question(about: item) {
      case .some(let question): byHost[question.host, default: []].append(question)
      case nil: answers.append(.nothingToAsk)
      }
    }
    var waiting = byHost.values.makeIterator()
    await withTaskGroup(of: [Answer].self) { group in
      for _ in 0..<OnlineLook.hosts {
        guard let questions = waiting.next() else { break }
        group.addTask { await askHost(questions) }
      }
      for await some in group {
        answers += some
        if let questions = waiting.next() { group.addTask { await askHost(questions) } }
      }
    }
    return answers
  }

  /// The first stage that would ask a host about an item, and what it would be given.
  private struct Question: Sendable {
    var host: String
    var stage: Int
    var leg: Leg
    var config: Config
  }

  /// Walks the stages that decide without waiting, up to the first that asks a host; the legs of a matrix ask alike.
  private func question(about item: Item) -> Question? {
    var known: [Int: Fields] = [:]
    for (number, node) in plan.nodes.enumerated() {
      var fields: Fields = [:]
      let inputs = node.inputs.compactMap { known[$0] }
      guard inputs.count == node.inputs.count else { continue }
      for input in inputs { fields = fields.merging(input) }
      let leg = Leg(item: item, axes: node.axes, fields: fields)
      if case .expression(let condition) = plan.stages[node.stage].condition, (try? condition.isTrue(in: leg)) != true {
        known[number] = fields
        continue
      }
      guard let config = try? node.config.resolved(in: leg) else { continue }
      if let immediate = stages[node.stage].asImmediateStage {
        guard let made = try? immediate.decide(leg, config: config), case .pass = made.verdict else { continue }
        known[number] = fields.merging(made.fields)
      } else if let host = stages[node.stage].host(of: leg, config: config) {
        return Question(host: host, stage: node.stage, leg: leg, config: config)
      }
    }
    return nil
  }

  /// Asks one host: over as many connections as it may be asked on, or one after another where it wants time between.
  private func askHost(_ questions: [Question]) async -> [Answer] {
    guard let host = questions.first?.host else { return [] }
    let limits = plan.settings.hosts.limits(of: host, defaultConnections: options.hostConnections)
    let lanes = limits.spacing > 0 ? 1 : max(1, min(limits.connections, questions.count))
    let line = Guarded((next: 0, hasRefused: false))
    return await withTaskGroup(of: [Answer].self) { group in
      for _ in 0..<lanes {
        group.addTask {
          var answers: [Answer] = []
          while let question = line.withLock({ line -> Question? in
            guard !line.hasRefused, line.next < questions.count else { return nil }
            defer { line.next += 1 }
            return questions[line.next]
          }) {
            let answer = await ask(question)
            // A host that says that it has had enough is left alone.
            if case .failed(let fault) = answer, fault.kind == .quota { line.withLock { $0.hasRefused = true } }
            answers.append(answer)
            if limits.spacing > 0 { try? await Task.sleep(nanoseconds: UInt64(limits.spacing)) }
          }
          return answers
        }
      }
      var all: [Answer] = []
      for await some in group { all += some }
      return all
    }
  }

  private func ask(_ question: Question) async -> Answer {
    let stage = plan.stages[question.stage]
    let context = StageContext(stage: stage.id, config: question.config, attempt: 1, services: services)
    do {
      guard let sighting = try await stages[question.stage].look(at: question.leg, in: context) else {
        return .nothingToAsk
      }
      return .seen(sighting)
    } catch {
      return .failed(Fault(error))
    }
  }
}

/// What a stage is given that only looks: it can write nothing.
private final class LookServices: RunServices {
  let settings: RunSettings
  let blocking = BlockingPool(name: "look", threads: 2)
  private let resources = SharedResources()

  init(settings: RunSettings) { self.settings = settings }

  func makePartial() throws(Fault) -> any PartialWriter { throw .internal("look", "a forecast writes no files") }

  func publish(_ content: Content, at path: String, options: PublishOptions) async throws(Fault) -> OutputFact {
    throw .internal("look", "a forecast publishes no files")
  }

  func shared<Resource: Sendable>(_ type: Resource.Type, make: () throws(Fault) -> Resource) throws(Fault) -> Resource {
    try resources.shared(type, make: make)
  }

  func log(_ level: LogLevel, _ message: String) {}
}
