import FlowBase
import FlowEvents
import FlowParts
import FlowStore

/// What all stages of a run share: threads, the disk, and each other's engines.
final class Services: Sendable {
  let settings: RunSettings
  let blocking: BlockingPool
  let store: RunStore
  let isOffline: Bool
  /// What items may take in memory.
  let memory: MemoryBudget
  /// What of it bodies may take between the network and the stage behind.
  let bodies: MemoryBudget
  private let resources = SharedResources()
  private let bandwidthWatchers = Guarded<[@Sendable (Int?) -> Void]>([])
  private let tellLog: @Sendable (LogLevel, String) -> Void
  private let tellPayload: @Sendable (Payload) -> Void

  init(
    settings: RunSettings, blocking: BlockingPool, store: RunStore, isOffline: Bool = false,
    log: @escaping @Sendable (LogLevel, String) -> Void, tell: @escaping @Sendable (Payload) -> Void
  ) {
    self.settings = settings
    self.isOffline = isOffline
    self.blocking = blocking
    self.store = store
    memory = MemoryBudget(limit: settings.memory ?? MemoryBudget.usual)
    bodies = .forBodies(within: memory, chosen: settings.memory)
    tellLog = log
    tellPayload = tell
  }

  /// The services for a node's work on an item.
  func forLeg(item: Int, node: Int, mayMove: Bool, keepsInMemory: Bool = false) -> LegServices {
    LegServices(
      base: self, owner: store.owner(item: item, node: node), mayMove: mayMove, keepsInMemory: keepsInMemory)
  }

  /// The services for a stage's work on a group or on the run.
  func forBarrier(stage: Int, group: String?) -> LegServices {
    LegServices(base: self, owner: store.owner(barrier: stage, group: group), mayMove: true)
  }

  func shared<Resource: Sendable>(_ type: Resource.Type, make: () throws(Fault) -> Resource) throws(Fault) -> Resource {
    try resources.shared(type, make: make)
  }

  /// Lets what stages share end with the run.
  func runEnds() { resources.runEnds() }

  func onBandwidthChange(_ change: @escaping @Sendable (Int?) -> Void) {
    bandwidthWatchers.withLock { $0.append(change) }
  }

  /// Changes the most bytes a second over all transfers.
  func setBandwidth(_ limit: Int?) { for change in bandwidthWatchers.withLock({ $0 }) { change(limit) } }

  func log(_ level: LogLevel, _ message: String) { tellLog(level, message) }
  func tell(_ payload: Payload) { tellPayload(payload) }
}

/// The run's services on behalf of one leg, group or run.
struct LegServices: RunServices {
  let base: Services
  let owner: OutputOwner
  /// Whether a temporary file that is published may be moved, since no other stage reads it.
  let mayMove: Bool
  /// Whether what is taken in may stay in memory, since nothing behind needs a file.
  var keepsInMemory = false

  var settings: RunSettings { base.settings }
  var blocking: BlockingPool { base.blocking }

  var isOffline: Bool { base.isOffline }

  func redact(_ text: String) -> String { base.store.redact(text) }

  func makePartial() throws(Fault) -> any PartialWriter {
    keepsInMemory ? base.store.makePartial(room: base.bodies.open()) : base.store.makePartial()
  }

  var hasUnfinished: Bool { base.store.hasUnfinished }

  func takeUnfinished(where isWanted: (String) -> Bool) -> (file: any PartialWriter, note: String)? {
    base.store.takeUnfinished(where: isWanted)
  }

  var keepsContent: Bool { base.store.keepsContent }

  func kept(_ digest: Digest) async throws(Fault) -> HeldFile? { try base.store.kept(digest) }

  func keep(_ file: HeldFile) async {
    do throws(Fault) { try base.store.keep(file) } catch {
      base.log(.warn, "the content store did not take a file: \(error.message)")
    }
  }

  func publish(_ content: Content, at path: String, options: PublishOptions) async throws(Fault) -> OutputFact {
    switch content {
    case .bytes(let bytes): return try await base.store.publish(.memory(bytes), at: path, options, owner)
    case .file(let file): return try await publish(file, at: path, options)
    case .deferred(let work):
      let made: Content
      do { made = try await work.realise() } catch { throw Fault(error) }
      if case .deferred = made { throw .internal("deferred", "deferred content gave deferred content") }
      return try await publish(made, at: path, options: options)
    }
  }

  func publish(
    _ content: Content, at path: String, options: PublishOptions,
    done: @escaping @Sendable (Result<OutputFact, Fault>) -> Void
  ) {
    switch content {
    case .bytes(let bytes): base.store.publish(.memory(bytes), at: path, options, owner, done: done)
    case .file(let file):
      let (bytes, isMove): (PublishOrder.Bytes, Bool)
      do throws(Fault) { (bytes, isMove) = try self.bytes(of: file) } catch { return done(.failure(error)) }
      let store = base.store
      store.publish(bytes, at: path, options, owner) { outcome in
        if isMove { LegServices.settle(file, outcome, store) }
        done(outcome)
      }
    case .deferred:
      Task(executorPreference: blocking) {
        do throws(Fault) { done(.success(try await publish(content, at: path, options: options))) } catch {
          done(.failure(error))
        }
      }
    }
  }

  private func publish(_ file: HeldFile, at path: String, _ options: PublishOptions) async throws(Fault) -> OutputFact {
    let (bytes, isMove) = try bytes(of: file)
    do throws(Fault) {
      let fact = try await base.store.publish(bytes, at: path, options, owner)
      if isMove { LegServices.settle(file, .success(fact), base.store) }
      return fact
    } catch {
      if isMove { LegServices.settle(file, .failure(error), base.store) }
      throw error
    }
  }

  /// How a file gets to its final name: it is moved there where nobody else needs it, else copied.
  private func bytes(of file: HeldFile) throws(Fault) -> (PublishOrder.Bytes, isMove: Bool) {
    if let bytes = file.memory { return (.memory(bytes), false) }
    let path = try file.path
    guard mayMove, file.claimMove() else {
      return (.copy(path: path, bytes: file.bytes, sha256: file.sha256), false)
    }
    guard let finished = base.store.finishedFile(file) else {
      file.releaseClaim()
      return (.copy(path: path, bytes: file.bytes, sha256: file.sha256), false)
    }
    return (.file(finished), true)
  }

  private static func settle(_ file: HeldFile, _ outcome: Result<OutputFact, Fault>, _ store: RunStore) {
    switch outcome {
    // Where a file with other bytes stays in the place, this one is still what it was.
    case .success(let fact) where fact.bytes == file.bytes && fact.sha256 == file.sha256.hex:
      file.becamePublished(at: store.absolute(fact.path))
    case .success, .failure: file.releaseClaim()
    }
  }

  func shared<Resource: Sendable>(_ type: Resource.Type, make: () throws(Fault) -> Resource) throws(Fault) -> Resource {
    try base.shared(type, make: make)
  }

  func remembered(of stage: String) -> any GatheringReader { base.store.remembered(of: stage) }
  func makeScratch() throws(Fault) -> String { try base.store.makeScratch() }
  func onBandwidthChange(_ change: @escaping @Sendable (Int?) -> Void) { base.onBandwidthChange(change) }
  func log(_ level: LogLevel, _ message: String) { base.log(level, message) }
  func tell(_ payload: Payload) { base.tell(payload) }
}
