import FlowBase
import FlowStore

// Publishes small files through the ledger and ends their items, on a memory file system, as a run at the durability
// `process` does it; then does what a second run does that finds all of them unchanged; then ends as many items without
// files, which is what the journal alone costs. `store-bench [ITEMS] [FOLDER] [DURABILITY]` prints one line.

let arguments = CommandLine.arguments
let count = arguments.count > 1 ? Int(arguments[1]) ?? 20_000 : 20_000
let folder = (arguments.count > 2 ? arguments[2] : "/dev/shm") + "/imgflow-store-bench-\(Entropy.token(8))"

/// How safe a file is before its item counts as done.
let durability = arguments.count > 3 ? Durability(rawValue: arguments[3]) ?? .process : .process

/// How many orders may be on their way at once, as a run's window has them.
let window = 512

let clock = SystemTime()

/// What all parts of the measurement share.
struct Ground {
  let store: Store
  let run: Int
  let source: Int
  let node: Int

  init() throws {
    store = try Store(folder: StateFolder(directory: folder + "/state", stem: "bench"), outputFolder: folder + "/out")
    run = try store.journal.beginRun(
      RunRecord(
        id: Entropy.token(10), manifest: "bench", manifestDigest: "", started: SystemTime().wall()))
    source = try store.journal.register(sources: ["bench"])[0]
    node = try store.journal.register(nodes: [NodeName(stage: "store")])[0]
  }

  func item(_ id: Int, path: String) -> ItemRecord {
    ItemRecord(
      id: id, source: source, key: "key-\(id)", index: id, url: "http://127.0.0.1/\(id).bin", status: .ok, run: run,
      fingerprint: [UInt8](repeating: 1, count: 32),
      facts: ["outputs": [.map(["path": .string(path), "bytes": 4096])]])
  }
}

/// Publishes all files and ends their items; gives the time, and how much of it went into writing the files.
func publishAll() throws -> (whole: Interval, writing: Interval) {
  let ground = try Ground()
  let store = ground.store
  let answers = Mailbox<StoreAnswer>()
  let ledger = try store.startLedger(durability: durability) { answers.post(contentsOf: $0) }
  let body = [UInt8](repeating: 7, count: 4096)
  let start = clock.now()
  var partials = Interval.zero
  var sent = 0
  var ended = 0
  var batch: [StoreAnswer] = []
  while ended < count {
    var orders: [(ticket: UInt64, order: StoreOrder)] = []
    while sent < count, sent - ended < window {
      sent += 1
      let before = clock.now()
      let partial = store.temporary.makePartial()
      try partial.write(body)
      let file = try partial.finish()
      partials = partials + (clock.now() - before)
      let publish = PublishOrder(
        path: "\(sent % 100)/\(sent).bin", bytes: .file(file), owner: .item(sent, node: ground.node),
        ownerName: "\(sent)",
        run: ground.run)
      orders.append((UInt64(sent) * 2, .publish(publish)))
    }
    ledger.post(contentsOf: orders)
    answers.take(into: &batch, until: nil)
    orders.removeAll()
    for answer in batch {
      let item = Int(answer.ticket / 2)
      guard answer.ticket % 2 == 0 else {
        ended += 1
        continue
      }
      guard let file = try answer.outcome.get() else { continue }
      orders.append((answer.ticket + 1, .item(ground.item(item, path: file.path))))
    }
    ledger.post(contentsOf: orders)
  }
  let elapsed = clock.now() - start
  ledger.close()
  store.close()
  return (elapsed, partials)
}

/// A ledger that takes batches and lets the caller wait, so that no more than a few are on their way.
final class PacedLedger {
  private let ledger: Ledger
  private let answers: Mailbox<StoreAnswer>
  private var underWay = 0
  private var batch: [StoreAnswer] = []

  init(_ store: Store) throws {
    let answers = Mailbox<StoreAnswer>()
    self.answers = answers
    ledger = try store.startLedger(durability: durability) { answers.post(contentsOf: $0) }
  }

  func post(_ orders: [(ticket: UInt64, order: StoreOrder)]) throws {
    ledger.post(contentsOf: orders)
    underWay += orders.count
    while underWay > window * 4 { try wait() }
  }

  func close() throws {
    while underWay > 0 { try wait() }
    ledger.close()
  }

  private func wait() throws {
    answers.take(into: &batch, until: nil)
    for answer in batch { _ = try answer.outcome.get() }
    underWay -= batch.count
  }
}

/// Finds all items as they were left, file by file.
func findAll() throws -> Interval {
  let ground = try Ground()
  let ledger = try PacedLedger(ground.store)
  let reader = try ground.store.journal.reader()
  let start = clock.now()
  for first in stride(from: 1, through: count, by: window) {
    var orders: [(ticket: UInt64, order: StoreOrder)] = []
    let ids = first..<min(first + window, count + 1)
    let items = try reader.items(source: ground.source, keys: ids.map { "key-\($0)" }).compactMap { $0 }
    for (item, outputs) in zip(items, try reader.outputs(of: items.map(\.id))) {
      for output in outputs where try ground.store.tree.condition(of: output) != .unchanged {
        throw Fault.internal("bench", "\(output.path) has changed")
      }
      let confirmation = Confirmation(item: item.id, index: item.index, outputs: outputs.count, run: ground.run)
      orders.append((UInt64(item.id), .confirm(confirmation)))
    }
    try ledger.post(orders)
  }
  try ledger.close()
  let elapsed = clock.now() - start
  guard try reader.counts(run: ground.run)[.ok] == count else { throw Fault.internal("bench", "items are missing") }
  ground.store.close()
  return elapsed
}

/// Ends as many new items without files.
func endAll() throws -> Interval {
  let ground = try Ground()
  let ledger = try PacedLedger(ground.store)
  let start = clock.now()
  for first in stride(from: 1, through: count, by: window) {
    let ids = first..<min(first + window, count + 1)
    try ledger.post(
      ids.map { (UInt64($0), .item(ground.item(ground.store.journal.makeItemID(), path: "none"))) })
  }
  try ledger.close()
  let elapsed = clock.now() - start
  ground.store.close()
  return elapsed
}

func measure() throws {
  let (whole, writing) = try publishAll()
  let again = try findAll()
  let bare = try endAll()
  func each(_ time: Interval) -> String { decimal(time.seconds * 1e6 / Double(count), digits: 1) + " µs" }
  print(
    "store-bench: \(count) items of 4 KiB, \(Int(Double(count) / whole.seconds)) items/s: \(each(whole)) an item "
      + "(\(each(writing)) of it to write and hash the file); found unchanged: \(each(again)); "
      + "without a file: \(each(bare))")
}

defer { try? FileSystem.removeTree(folder) }
do { try measure() } catch { print("store-bench: \(error)") }
