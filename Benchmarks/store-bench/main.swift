import FlowBase
import FlowStore

// Publishes small files through the ledger and ends their items, on a memory file system, as a run at the durability
// `process` does it: `store-bench [ITEMS] [FOLDER]` prints one line.

let arguments = CommandLine.arguments
let count = arguments.count > 1 ? Int(arguments[1]) ?? 20_000 : 20_000
let folder = (arguments.count > 2 ? arguments[2] : "/dev/shm") + "/imgflow-store-bench-\(Entropy.token(8))"

/// How many orders may be on their way at once, as a run's window has them.
let window = 512

func measure() throws {
  let store = try Store(folder: StateFolder(directory: folder + "/state", stem: "bench"), outputFolder: folder + "/out")
  let run = try store.journal.beginRun(
    RunRecord(id: "bench", manifest: "bench", manifestDigest: "", started: SystemTime().wall()))
  let source = try store.journal.register(sources: ["bench"])[0]
  let node = try store.journal.register(nodes: [NodeName(stage: "store")])[0]
  let answers = Mailbox<StoreAnswer>()
  let ledger = try store.startLedger(durability: .process) { answers.post(contentsOf: $0) }
  let body = [UInt8](repeating: 7, count: 4096)
  let clock = SystemTime()
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
        path: "\(sent % 100)/\(sent).bin", bytes: .file(file), owner: .item(sent, node: node), ownerName: "\(sent)",
        run: run)
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
      let record = ItemRecord(
        id: item, source: source, key: "key-\(item)", index: item, url: "http://127.0.0.1/\(item).bin", status: .ok,
        run: run, fingerprint: [UInt8](repeating: 1, count: 32),
        facts: ["outputs": [.map(["path": .string(file.path), "bytes": .int(file.bytes)])]])
      orders.append((answer.ticket + 1, .item(record)))
    }
    ledger.post(contentsOf: orders)
  }
  let elapsed = clock.now() - start
  ledger.close()
  store.close()
  let micros = elapsed.seconds * 1e6 / Double(count)
  print(
    "store-bench: \(count) items of 4 KiB in \(decimal(elapsed.seconds, digits: 2)) s, "
      + "\(Int(Double(count) / elapsed.seconds)) items/s, \(decimal(micros, digits: 1)) µs an item, "
      + "of these \(decimal(partials.seconds * 1e6 / Double(count), digits: 1)) µs to write and hash the file")
}

defer { try? FileSystem.removeTree(folder) }
do { try measure() } catch { print("store-bench: \(error)") }
