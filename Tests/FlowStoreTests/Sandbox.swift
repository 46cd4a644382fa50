import FlowBase
import Testing

@testable import FlowStore

/// A folder of its own for a test, removed with it; with a state, an output directory and a ledger's work in it.
final class Sandbox {
  let path: String
  private(set) var store: Store
  private(set) var work: LedgerWork
  let run: Int

  init(run id: String = "01TEST", in parent: String = "/tmp") throws {
    path = "\(parent)/imgflow-store-\(Entropy.token(10))"
    try FileSystem.makeDirectories(path)
    store = try Store(folder: StateFolder(directory: path + "/state", stem: "m"), outputFolder: path + "/out")
    work = try LedgerWork(journal: store.journal, tree: store.tree, temporary: store.temporary)
    run = try store.journal.beginRun(
      RunRecord(id: id, manifest: "m.yaml", manifestDigest: "00", started: WallTime(microseconds: 1)))
  }

  deinit { try? FileSystem.removeTree(path) }

  /// The state as a new process finds it: everything is closed without a word and opened again.
  func reopened() throws -> Recovery {
    store.close()
    store = try Store(folder: store.folder, outputFolder: path + "/out")
    work = try LedgerWork(journal: store.journal, tree: store.tree, temporary: store.temporary)
    return store.recovery
  }

  func out(_ name: String) -> String { path + "/out/" + name }

  func text(_ name: String) throws -> String {
    String(decoding: try FileSystem.read(out(name)), as: UTF8.self)
  }

  func write(_ name: String, _ text: String) throws {
    try FileSystem.makeDirectories(PathText.parent(of: out(name)))
    try FileSystem.replace(out(name), with: Array(text.utf8))
  }

  /// A finished temporary file.
  func file(_ text: String) throws -> FinishedFile {
    let partial = store.temporary.makePartial()
    try partial.write(Array(text.utf8))
    return try partial.finish()
  }

  func order(
    _ path: String, _ text: String, item: Int = 1, onExists: PublishOrder.OnExists = .keep, mode: Int? = nil,
    run: Int? = nil
  ) throws -> PublishOrder {
    PublishOrder(
      path: path, bytes: .file(try file(text)), owner: .item(item, node: 1), ownerName: "s/\(item)",
      onExists: onExists, mode: mode, run: run ?? self.run)
  }

  /// Publishes a text and gives what the ledger says.
  @discardableResult
  func publish(
    _ path: String, _ text: String, item: Int = 1, onExists: PublishOrder.OnExists = .keep, mode: Int? = nil,
    run: Int? = nil, durability: Durability = .process
  ) throws -> PublishedFile? {
    let order = try order(path, text, item: item, onExists: onExists, mode: mode, run: run)
    return try work.perform([.publish(order)], durability: durability)[0].get()
  }

  /// The code of the fault with which publishing fails.
  func refusal(
    _ path: String, _ text: String, item: Int = 1, onExists: PublishOrder.OnExists = .keep
  ) -> String? {
    do {
      try publish(path, text, item: item, onExists: onExists)
      return nil
    } catch { return (error as? Fault)?.code }
  }

  /// The names in the folder for temporary files.
  func temporaries() throws -> [String] {
    let listing = try DirectoryListing(of: store.temporary.path)
    var names: [String] = []
    while let entry = try listing.next() { names.append(entry.name) }
    return names
  }

  func reader() throws -> JournalReader { try store.journal.reader() }
}
