import FlowBase
import FlowParts

/// An item as it comes from its source, or why it is none.
///
/// It is one thread's at a time: of its source until it is posted, of the loop from then on. So what is known of an item
/// is not copied at each step of its way, which for many items costs more than what is done with them.
final class PreparedItem: @unchecked Sendable {
  /// The item without its place, which the loop gives it.
  let item: Item
  /// Its name, made once.
  let name: String
  /// Why the entry is no good.
  var fault: Fault?
  /// From where its source can be asked for it again.
  var cursor: Value?
  /// Whether the journal gave it and not its source: an earlier run has done it.
  let isDone: Bool
  /// What earlier runs have left of it, where that has been looked up already.
  var past: PastItem?

  init(item: consuming Item, fault: Fault? = nil, isDone: Bool = false) {
    name = item.name
    self.item = item
    self.fault = fault
    self.isDone = isDone
  }

  /// The item at its place in its source.
  func item(at index: Int) -> Item {
    var item = item
    item.index = index
    item.fields["index"] = .int(index)
    return item
  }
}

/// Turns what a source describes into items: keys, names and the fields that come from the address.
struct ItemMaker: Sendable {
  let source: String

  /// The fields that every source sets.
  static let names = ["key", "url", "name", "stem", "ext", "host", "index", "source"]
  private static let localNames = ["key", "url", "name", "stem", "ext", "host", "index", "source", "path"]

  func prepare(_ entry: SourceItem) -> PreparedItem {
    var fault = entry.fault
    var key = entry.key ?? ""
    var name = ""
    var host = Value.null
    if let plain = entry.url.flatMap({ PlainAddress($0) }) {
      if key.isEmpty { key = ItemKey.make(source: source, text: plain.canonical) }
      name = plain.fileName
      host = .string(plain.host)
    } else if let url = entry.url {
      do {
        let address = try WebAddress(parsing: url)
        if key.isEmpty { key = ItemKey.make(source: source, url: address) }
        name = address.fileName
        host = .string(address.host)
      } catch {
        fault = fault ?? error
      }
    } else if let path = entry.path {
      name = String(path.split(separator: "/").last ?? "")
      if key.isEmpty { key = ItemKey.make(source: source, text: path) }
    } else {
      fault = fault ?? Fault("source.no_url", .permanent, "the source gave an entry without an address")
    }
    if key.isEmpty { key = ItemKey.make(source: source, text: entry.url ?? entry.path ?? ItemMaker.text(entry, fault)) }
    var values: [Value] = [
      .string(key), entry.url.map(Value.string) ?? .null, .string(name), .string(FileName.stem(of: name)),
      .string(FileName.ext(of: name)), host, .int(0),
      .string(source),
    ]
    if let path = entry.path { values.append(.string(path)) }
    let fields = Fields(names: entry.path == nil ? ItemMaker.names : ItemMaker.localNames, values: values)
    return PreparedItem(
      item: Item(
        source: source, key: key, index: 0, url: entry.url, fields: fields, row: entry.row, loop: entry.loop,
        expected: entry.expected, mirrors: entry.mirrors, headers: entry.headers),
      fault: fault)
  }

  /// What tells an entry without an address from others that fail alike.
  private static func text(_ entry: SourceItem, _ fault: Fault?) -> String {
    var writer = JSONWriter()
    writer.value(.list([.string(fault?.message ?? ""), .map(entry.row), .map(entry.loop)]))
    return writer.text
  }

  /// Where an item's key falls between 0 and 1: the same in every run, and evenly spread.
  static func position(of item: Item) -> Double {
    var number: UInt64 = 0
    for byte in Digest.sha256(of: item.name).bytes.prefix(8) { number = number << 8 | UInt64(byte) }
    return Double(number >> 11) / Double(1 << 53)
  }
}
