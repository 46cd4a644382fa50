import FlowBase
import FlowParts

/// Items as values, for the journal: what is parked comes back whole.
enum ItemCodec {
  static func encode(_ item: Item) -> Value {
    var map: Fields = [
      "source": .string(item.source), "key": .string(item.key), "index": .int(item.index), "fields": .map(item.fields),
    ]
    if let url = item.url { map["url"] = .string(url) }
    if !item.row.isEmpty { map["row"] = .map(item.row) }
    if !item.loop.isEmpty { map["for"] = .map(item.loop) }
    if let digest = item.expected.sha256 { map["sha256"] = .string(digest.hex) }
    if let digest = item.expected.sha512 { map["sha512"] = .string(digest.hex) }
    if let size = item.expected.size { map["size"] = .int(size) }
    if !item.mirrors.isEmpty { map["mirrors"] = .list(item.mirrors.map(Value.string)) }
    if !item.headers.isEmpty {
      map["headers"] = .list(item.headers.map { .list([.string($0.name), .string($0.value)]) })
    }
    if let parent = item.parent { map["parent"] = .string(parent) }
    return .map(map)
  }

  static func decode(_ value: Value) -> Item? {
    guard let map = value.asMap, let source = map["source"]?.asString, let key = map["key"]?.asString,
      let index = map["index"]?.asInt
    else { return nil }
    var item = Item(source: source, key: key, index: index, url: map["url"]?.asString)
    item.fields = map["fields"]?.asMap ?? [:]
    item.row = map["row"]?.asMap ?? [:]
    item.loop = map["for"]?.asMap ?? [:]
    item.expected = Expectation(
      sha256: map["sha256"]?.asString.flatMap { Digest(.sha256, parsing: $0) },
      sha512: map["sha512"]?.asString.flatMap { Digest(.sha512, parsing: $0) }, size: map["size"]?.asInt)
    item.mirrors = map["mirrors"]?.asList?.map(\.text) ?? []
    item.headers =
      map["headers"]?.asList?.compactMap { pair in
        guard let parts = pair.asList, parts.count == 2 else { return nil }
        return Header(parts[0].text, parts[1].text)
      } ?? []
    item.parent = map["parent"]?.asString
    return item
  }

  static func encode(_ output: OutputFact) -> Value {
    var map: Fields = [
      "path": .string(output.path), "bytes": .int(output.bytes), "sha256": .string(output.sha256),
    ]
    if let media = output.media { map["media"] = .string(media) }
    if let width = output.width { map["width"] = .int(width) }
    if let height = output.height { map["height"] = .int(height) }
    return .map(map)
  }

  static func decodeOutput(_ value: Value) -> OutputFact? {
    guard let map = value.asMap, let path = map["path"]?.asString, let bytes = map["bytes"]?.asInt,
      let sha256 = map["sha256"]?.asString
    else { return nil }
    return OutputFact(
      path: path, bytes: bytes, sha256: sha256, media: map["media"]?.asString, width: map["width"]?.asInt,
      height: map["height"]?.asInt)
  }

  static func encode(_ fault: Fault) -> Value {
    var map: Fields = [
      "code": .string(fault.code), "class": .string(fault.kind.rawValue), "message": .string(fault.message),
    ]
    if let status = fault.httpStatus { map["http_status"] = .int(status) }
    if let host = fault.host { map["host"] = .string(host) }
    return .map(map)
  }

  static func decodeFault(_ value: Value) -> Fault? {
    guard let map = value.asMap, let code = map["code"]?.asString,
      let kind = map["class"]?.asString.flatMap(FaultClass.init(rawValue:))
    else { return nil }
    return Fault(
      code, kind, map["message"]?.asString ?? "", httpStatus: map["http_status"]?.asInt, host: map["host"]?.asString)
  }
}
