import FlowBase
import Testing

@testable import FlowStore

@Suite struct `The ledger` {
  @Test func `answers every ticket once, after what it says is true`() async throws {
    let place = try Sandbox()
    let answers = Guarded<[StoreAnswer]>([])
    let ledger = try place.store.startLedger(durability: .process) { batch in answers.withLock { $0 += batch } }
    for number in 1...200 {
      let record = ItemRecord(id: number, source: 1, key: "\(number)", index: number, status: .ok, run: place.run)
      ledger.post(.item(record), ticket: UInt64(number))
    }
    try await ledger.perform(.flush)
    ledger.close()
    let tickets = answers.withLock { $0.map(\.ticket) }
    #expect(tickets == Array(1...200))
    #expect(try place.reader().counts(run: place.run) == [.ok: 200])
  }

  @Test(arguments: [Durability.full, .batch, .process])
  func `publishes for many tasks at once`(durability: Durability) async throws {
    let place = try Sandbox()
    let ledger = try place.store.startLedger(durability: durability)
    let orders = try (1...40).map { try place.order("d\($0 % 3)/\($0)", "n\($0)", item: $0) }
    let published = try await withThrowingTaskGroup(of: PublishedFile.self) { group in
      for order in orders { group.addTask { try await ledger.publish(order) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    ledger.close()
    #expect(published.count == 40)
    for number in 1...40 { #expect(try place.text("d\(number % 3)/\(number)") == "n\(number)") }
  }

  @Test func `lets one order fail without the others`() async throws {
    let place = try Sandbox()
    let ledger = try place.store.startLedger(durability: .batch)
    let orders = try [place.order("../x", "1"), place.order("x", "2", item: 2)]
    let outcomes = await withTaskGroup(of: Result<PublishedFile, Fault>.self) { group in
      for order in orders {
        group.addTask {
          do throws(Fault) { return .success(try await ledger.publish(order)) } catch { return .failure(error) }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.contains { if case .success(let file) = $0 { file.path == "x" } else { false } })
    #expect(outcomes.contains { if case .failure(let fault) = $0 { fault.code == "path.escapes" } else { false } })
    ledger.close()
  }

  @Test func `is full for the first ten thousand items and groups from then on`() {
    var rule = DurabilityRule(fixed: nil)
    let ended = ItemRecord(id: 1, source: 1, key: "k", index: 1, status: .ok, run: 1)
    var running = ended
    running.status = .running
    #expect(rule.current == .full)
    rule.count(Array(repeating: LedgerLetter(order: .item(running), reply: .ticket(1)), count: 20_000))
    #expect(rule.current == .full)
    rule.count(Array(repeating: LedgerLetter(order: .item(ended), reply: .ticket(1)), count: 10_000))
    #expect(rule.current == .batch)
    #expect(DurabilityRule(fixed: .process).current == .process)
  }
}
