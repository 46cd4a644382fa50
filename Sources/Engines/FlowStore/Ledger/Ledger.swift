public import FlowBase

/// The one way by which anything is written: files under their final names, and what the journal says of them.
///
/// Orders come from any thread and are done in batches on a thread of the ledger's own. For each batch, in this order:
///
/// 1. the journal takes down what is about to be published (path, size, digest), without waiting for the disk;
/// 2. the files' bytes reach the disk;
/// 3. each file gets its final name, in one step;
/// 4. the names reach the disk;
/// 5. one transaction of the journal holds outputs, results and ends of items;
/// 6. the answers go out.
///
/// So an answer is never given before what it says is true, and after a crash between any two steps `recover` finds
/// either the old state or the new one. At the durability `process` steps 2 and 4 fall away and step 5 does not wait.
///
/// An item that is worked on is recorded as running before its first result, or its results are not found again.
public final class Ledger: Sendable {
  private let mailbox = Mailbox<LedgerLetter>()
  private let durability: Guarded<DurabilityRule>
  private let answer: @Sendable ([StoreAnswer]) -> Void
  private let ended = Mailbox<Void>()
  private let isClosed = Guarded(false)
  private let journal: Journal

  /// Starts the ledger's thread.
  ///
  /// - Parameters:
  ///   - durability: nil is `full` for the first 10,000 ends of items, then `batch`.
  ///   - answer: called on the ledger's thread with the answers of each batch to what was posted with a ticket.
  public init(
    journal: Journal, tree: OutputTree, temporary: TemporaryFolder, durability: Durability? = nil,
    answer: @escaping @Sendable ([StoreAnswer]) -> Void = { _ in }
  ) throws(Fault) {
    self.journal = journal
    self.durability = Guarded(DurabilityRule(fixed: durability))
    self.answer = answer
    // The writer's statements are made here, where a failure can still be told, and used on the thread alone.
    let work = Handover(try LedgerWork(journal: journal, tree: tree, temporary: temporary))
    let (mailbox, rule, ended) = (mailbox, self.durability, ended)
    WorkerThread.start("ledger") {
      Ledger.serve(mailbox, work, rule, answer)
      // Its statements are gone by now: whoever waits for the end uses their connection next.
      ended.post(())
    }
  }

  /// Posts an order; its answer comes to the callback with the same ticket.
  public func post(_ order: StoreOrder, ticket: UInt64) {
    mailbox.post(LedgerLetter(order: order, reply: .ticket(ticket)))
  }

  /// Posts orders at once.
  public func post(contentsOf orders: [(ticket: UInt64, order: StoreOrder)]) {
    mailbox.post(contentsOf: orders.map { LedgerLetter(order: $0.order, reply: .ticket($0.ticket)) })
  }

  /// Publishes a file, and returns when it is safe at the chosen durability.
  public func publish(_ order: PublishOrder) async throws(Fault) -> PublishedFile {
    guard let file = try await ask(.publish(order)) else { throw .internal("ledger", "a published file has no facts") }
    return file
  }

  /// Publishes a file, and says on the ledger's thread what became of it, once it is safe at the chosen durability.
  public func publish(_ order: PublishOrder, done: @escaping @Sendable (Result<PublishedFile, Fault>) -> Void) {
    if isClosed.withLock({ $0 }) { return done(.failure(Ledger.closed)) }
    mailbox.post(
      LedgerLetter(
        order: .publish(order),
        reply: .call { outcome in
          done(
            outcome.flatMap { file in
              file.map { .success($0) } ?? .failure(.internal("ledger", "a published file has no facts"))
            })
        }))
  }

  /// Does what an order says, and returns when that is safe at the chosen durability.
  public func perform(_ order: StoreOrder) async throws(Fault) { _ = try await ask(order) }

  /// Does all that was posted, and ends the thread; waits for it, so never call it on the cooperative pool.
  public func close() {
    let first = isClosed.withLock { closed in
      defer { closed = true }
      return !closed
    }
    guard first else { return }
    mailbox.post(LedgerLetter(order: .flush, reply: .ticket(Ledger.lastTicket)))
    var letters: [Void] = []
    ended.take(into: &letters, until: nil)
  }

  private func ask(_ order: StoreOrder) async throws(Fault) -> PublishedFile? {
    if isClosed.withLock({ $0 }) { throw Ledger.closed }
    let outcome = await withCheckedContinuation { continuation in
      mailbox.post(LedgerLetter(order: order, reply: .call { continuation.resume(returning: $0) }))
    }
    return try outcome.get()
  }

  private static let closed = Fault.internal("ledger", "an order came after the ledger was closed")

  /// The ticket that ends the thread; it is no caller's.
  private static let lastTicket = UInt64.max

  private static func serve(
    _ mailbox: Mailbox<LedgerLetter>, _ handover: Handover<LedgerWork>, _ rule: Guarded<DurabilityRule>,
    _ answer: @Sendable ([StoreAnswer]) -> Void
  ) {
    guard let work = handover.take() else { return }
    let clock = SystemTime()
    var letters: [LedgerLetter] = []
    var last = (count: 0, end: Instant(nanoseconds: 0))
    var isOpen = true
    while isOpen {
      mailbox.take(into: &letters, until: nil)
      let durability = rule.withLock { $0.current }
      switch durability {
      case .batch: gather(&letters, from: mailbox, clock)
      case .process where letters.count + last.count >= crowd: pace(&letters, from: mailbox, after: last.end, clock)
      case .process, .full: break
      }
      isOpen = !letters.contains { if case .ticket(lastTicket) = $0.reply { true } else { false } }
      let outcomes = work.perform(letters.map(\.order), durability: durability)
      rule.withLock { $0.count(letters) }
      Wakes.together {
        var answers: [StoreAnswer] = []
        answers.reserveCapacity(letters.count)
        for (letter, outcome) in zip(letters, outcomes) {
          switch letter.reply {
          case .ticket(lastTicket): break
          case .ticket(let ticket): answers.append(StoreAnswer(ticket: ticket, outcome: outcome))
          case .call(let done): done(outcome)
          }
        }
        if !answers.isEmpty { answer(answers) }
      }
      last = (letters.count, clock.now())
    }
  }

  /// Begins a batch a moment after the last one, where orders come thick and fast and none waits for the disk.
  ///
  /// A transaction costs the same, however many orders it holds. A few orders at a time are done at once.
  private static func pace(
    _ letters: inout [LedgerLetter], from mailbox: Mailbox<LedgerLetter>, after last: Instant, _ clock: SystemTime
  ) {
    if letters.count >= full || letters.contains(where: \.endsWaiting) { return }
    WorkerThread.rest(last + betweenBatches - clock.now())
    var more: [LedgerLetter] = []
    mailbox.take(into: &more, until: clock.now())
    letters += more
  }

  private static let crowd = 12
  private static let full = 64
  private static let betweenBatches = Interval.milliseconds(3)

  /// Waits for more letters: until there are a few hundred, nothing has come for a moment, or half a second is over.
  private static func gather(_ letters: inout [LedgerLetter], from mailbox: Mailbox<LedgerLetter>, _ clock: SystemTime)
  {
    let end = clock.now() + .milliseconds(500)
    var more: [LedgerLetter] = []
    while letters.count < 300, !letters.contains(where: \.endsWaiting) {
      mailbox.take(into: &more, until: min(end, clock.now() + .milliseconds(10)))
      if more.isEmpty { return }
      letters += more
    }
  }
}

/// What durability the next batch has.
struct DurabilityRule {
  private let fixed: Durability?
  private var ends = 0

  init(fixed: Durability?) { self.fixed = fixed }

  /// The durability of the next batch.
  var current: Durability { fixed ?? (ends < 10_000 ? .full : .batch) }

  /// Counts the ends of items in a batch.
  mutating func count(_ letters: [LedgerLetter]) {
    if fixed != nil || ends >= 10_000 { return }
    for letter in letters { if case .item(let item) = letter.order, item.status != .running { ends += 1 } }
  }
}

extension LedgerLetter {
  /// Whether a batch is not to wait for more.
  var endsWaiting: Bool {
    switch order {
    case .flush, .endRun: true
    default: false
    }
  }
}

/// Something that goes from the thread that made it to the one that uses it, and is no more used by the first.
private final class Handover<Value>: @unchecked Sendable {
  private var value: Value?
  init(_ value: Value) { self.value = value }

  /// Takes it over; it ends with the taker.
  func take() -> Value? {
    defer { value = nil }
    return value
  }
}
