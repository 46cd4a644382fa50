import FlowBase
import FlowParts
import FlowPlan
import FlowStore

/// What a single operation's result depends on, part by part, so that a miss can be explained.
///
/// It becomes JSON only where it is written down or compared, which for most operations never happens.
struct ResultKey: Sendable {
  /// What the work has to do with.
  enum Input: Sendable {
    /// The digest of bytes.
    case digest(Digest)
    /// What work identifies itself by that has not been done yet.
    case identity(String)
    /// The digest of what the source said of the item.
    case item([UInt8])

    fileprivate var text: String {
      switch self {
      case .digest(let digest): digest.hex
      case .identity(let text): text
      case .item(let bytes): Hex.encode(bytes)
      }
    }
  }

  private enum Form: Sendable {
    /// What the node does, its configuration where that is not the same for every item, and the input.
    case made(KeyedWork, Config?, Input)
    /// The parts as they were written down before.
    case written(StoredFields)
  }
  private let form: Form

  init(work: KeyedWork, config: Config?, input: Input) { form = .made(work, config, input) }

  /// A key whose parts were written down.
  init(written parts: StoredFields) { form = .written(parts) }

  /// The parts as the journal has them.
  var parts: StoredFields {
    switch form {
    case .made(let work, let config, let input): work.parts(config, input.text)
    case .written(let parts): parts
    }
  }
}

/// What a node does with each of its inputs, as far as the results depend on it.
final class KeyedWork: Sendable {
  /// Whether the configuration is the same for every item.
  let isConstant: Bool
  private let op: String
  private let version: Int
  /// The digest of the script or plugin that does the work; empty for what is built in.
  private let plugin: String
  /// The parts before the input, where they are the same for every item.
  private let head: [UInt8]

  /// - Parameter config: the node's configuration as it was planned.
  init(op: String, version: Int, config: Config, plugin: String) {
    (self.op, self.version, self.plugin) = (op, version, plugin)
    isConstant = config.isConstant
    head = isConstant ? KeyedWork.head(op, version, config) : []
  }

  private static func head(_ op: String, _ version: Int, _ config: Config) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("op")
    writer.string(op)
    writer.key("version")
    writer.int(version)
    // Its digest tells as well as its text whether it differs, and is a fifth as long in each of millions of rows.
    writer.key("config")
    writer.string(Hex.encode(Digest.sha256(of: config.canonical).bytes.prefix(16)))
    writer.key("input")
    return writer.bytes
  }

  fileprivate func parts(_ config: Config?, _ input: String) -> StoredFields {
    var writer = JSONWriter(after: config.map { KeyedWork.head(op, version, $0) } ?? head)
    writer.string(input)
    if !plugin.isEmpty {
      writer.key("plugin")
      writer.string(plugin)
    }
    writer.endObject()
    return StoredFields(json: writer.bytes)
  }
}
