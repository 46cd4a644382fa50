internal import FlowBase
internal import FlowParts

/// A line that a plugin writes, as far as it says what it must.
enum PluginMessage: Sendable {
  case ready(version: Int, window: Int?)
  /// It cannot work at all.
  case refused(PluginFault)
  case progress(id: Int, ratio: Double)
  case log(id: Int?, LogLevel, String)
  case result(id: Int, PluginResult)
  /// The items that a source gives.
  case items(PluginItems)
  /// A batch of events has been taken, or not.
  case acknowledged(batch: Int, PluginFault?)
  case pong(Int)
  case bye
  /// A message of a later version, which means nothing here.
  case unknown(String)

  /// A message from its JSON; nil where it is none.
  init?(_ value: Value) {
    guard let map = value.asMap, let type = map["t"]?.asString else { return nil }
    switch type {
    case "ready": self = .ready(version: map["v"]?.asInt ?? 1, window: map["window"]?.asInt)
    case "error": self = .refused(PluginFault(map))
    case "progress":
      guard let id = map["id"]?.asInt, let ratio = map["ratio"]?.asDouble else { return nil }
      self = .progress(id: id, ratio: min(1, max(0, ratio)))
    case "log":
      let level = map["level"]?.asString.flatMap { $0 == "warning" ? .warn : LogLevel(rawValue: $0) } ?? .info
      self = .log(id: map["id"]?.asInt, level, map["message"]?.text ?? "")
    case "result":
      guard let id = map["id"]?.asInt else { return nil }
      self = .result(id: id, PluginResult(map))
    case "items": self = .items(PluginItems(map))
    case "ack":
      guard let batch = map["batch"]?.asInt else { return nil }
      self = .acknowledged(batch: batch, nil)
    case "nack":
      guard let batch = map["batch"]?.asInt else { return nil }
      self = .acknowledged(batch: batch, PluginFault(map))
    case "pong": self = .pong(map["n"]?.asInt ?? 0)
    case "bye": self = .bye
    default: self = .unknown(type)
    }
  }
}

/// An error as a plugin reports it.
struct PluginFault: Sendable, Hashable {
  var code: String?
  var kind: String?
  var message: String
  /// The key of the configuration that it is about, as a JSON pointer.
  var field: String?
  var retryAfter: Interval?

  init(_ map: Fields) {
    code = map["code"]?.asString
    kind = map["class"]?.asString
    message = map["message"]?.text ?? ""
    field = map["field"]?.asString
    retryAfter = map["retry_after_ms"]?.asInt.map { .milliseconds(max(0, min($0, 86_400_000))) }
  }

  /// The fault that an item, a batch or the whole op fails with.
  ///
  /// A plugin's own word on the class counts, then its plugin.yaml; classes that stop or blame the run are not its to
  /// give.
  func fault(_ op: String, classes: [String: FaultClass] = [:], fallback: String = "plugin.error") -> Fault {
    let code = self.code.flatMap { PluginFault.isCode($0) ? $0 : nil } ?? fallback
    let allowed: [FaultClass] = [.transient, .quota, .permanent, .auth]
    let named = kind.flatMap { FaultClass(rawValue: $0) }.flatMap { allowed.contains($0) ? $0 : nil }
    let words = message.isEmpty ? "\(op) reports `\(code)`" : message
    return Fault(code, named ?? classes[code] ?? .permanent, words, retryAfter: retryAfter)
  }

  /// Whether a text can be a code: words of small letters, digits and `_`, with dots between them, and none of ours.
  static func isCode(_ text: String) -> Bool {
    let words = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return text.utf8.count <= 80 && words.count >= 2 && !text.hasPrefix("internal.") && !text.hasPrefix("cancelled.")
      && words.allSatisfy { word in
        !word.isEmpty
          && word.allSatisfy { ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x5F || $0 == 0x2D }
      }
  }
}

/// What a plugin has made of an item.
struct PluginResult: Sendable {
  enum Status: Sendable {
    case ok
    case drop(reason: String?)
    case many([PluginMade])
    case error(PluginFault)
    case cancelled
    /// The message does not say what it must, and why.
    case unclear(String)
  }

  var status: Status
  var outputs: [PluginOutput]
  var fields: Fields

  init(_ map: Fields) {
    outputs = PluginOutput.list(map["out"])
    fields = map["set"]?.asMap ?? [:]
    switch map["status"]?.asString {
    case "ok": status = .ok
    case "drop": status = .drop(reason: map["reason"]?.asString)
    case "many":
      if let items = map["items"]?.asList {
        status = .many(items.enumerated().map { PluginMade($0.element, number: $0.offset + 1) })
      } else {
        status = .unclear("`many` without a list `items`")
      }
    case "error": status = .error(PluginFault(map))
    case "cancelled": status = .cancelled
    case let word: status = .unclear(word.map { "a result with the status `\($0)`" } ?? "a result without a status")
    }
  }
}

/// A file that a plugin has written.
struct PluginOutput: Sendable, Hashable {
  var path: String
  var media: String?

  /// The files of an `out`: a list, or a single one.
  static func list(_ value: Value?) -> [PluginOutput] {
    let entries = value?.asList ?? (value.map { [$0] } ?? [])
    return entries.compactMap { entry in
      if let path = entry.asString { return PluginOutput(path: path) }
      return entry.asMap?["path"]?.asString.map { PluginOutput(path: $0, media: entry.asMap?["media"]?.asString) }
    }
  }
}

/// An item that a plugin has made of another.
struct PluginMade: Sendable {
  var key: String
  var url: String?
  var row: Fields?
  var outputs: [PluginOutput]
  var fields: Fields

  init(_ value: Value, number: Int) {
    let map = value.asMap ?? [:]
    key = map["key"]?.text ?? String(number)
    url = map["url"]?.asString
    row = map["row"]?.asMap
    outputs = PluginOutput.list(map["out"])
    fields = map["set"]?.asMap ?? [:]
  }
}

/// What a source gives for a `pull`.
struct PluginItems: Sendable {
  var items: [SourceItem]
  /// Where it goes on from, next time.
  var cursor: Value
  var isEnd: Bool
  var total: Int?

  init(_ map: Fields) {
    cursor = map["cursor"] ?? .null
    isEnd = map["end"]?.asBool ?? false
    total = map["total"]?.asInt
    items = (map["items"]?.asList ?? []).map(PluginItems.item)
  }

  private static func item(_ value: Value) -> SourceItem {
    if let url = value.asString { return SourceItem(url: url) }
    guard let map = value.asMap else {
      return SourceItem(
        url: nil, fault: Fault("plugin.protocol", .permanent, "the source gave an item that is \(value.kindName)"))
    }
    var item = SourceItem(
      url: map["url"]?.asString, key: map["key"]?.text, row: map["row"]?.asMap ?? [:], path: map["path"]?.asString)
    item.expected.size = map["size"]?.asInt
    item.expected.sha256 = map["sha256"]?.asString.flatMap { Digest(.sha256, parsing: $0) }
    item.expected.sha512 = map["sha512"]?.asString.flatMap { Digest(.sha512, parsing: $0) }
    item.mirrors = map["mirrors"]?.asList?.map(\.text) ?? []
    item.headers = map["headers"]?.asMap?.map { Header($0, $1.text) } ?? []
    return item
  }
}
