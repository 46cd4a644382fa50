import FlowBase
import FlowGraph
import FlowParts
import FlowStore

/// Parked items as the journal keeps them.
enum ParkCodec {
  static func encode(_ parked: ParkedItem) -> Fields {
    [
      "item": ItemCodec.encode(parked.item), "input": .string(Hex.encode(parked.input)),
      "states": .list(parked.states.map { .int(Int($0.rawValue)) }),
      "results": .list(parked.results.map { $0.map(encode) ?? .null }),
      "keys": .list(parked.keys.map { $0.map(encode) ?? .null }),
      "own": .list(parked.ownFiles.sorted().map(Value.string)),
      "outputs": .list(parked.outputs.map { .list([.int($0.node), ItemCodec.encode($0.fact)]) }),
      "tries": .list(parked.tries.map(Value.int)), "times": .list(parked.stageTimes.map(Value.int)),
      "failures": .list(
        parked.failures.map { .list([.int($0.node), .int($0.attempt), ItemCodec.encode($0.fault)]) }),
      "shared": .bool(parked.isShared), "kept": .bool(parked.isKept),
      "cached": .list(parked.cachedStages.sorted().map(Value.int)), "made": .list(parked.made.map(Value.string)),
      "reason": parked.reason.map { .string($0) } ?? .null,
      EndCodec.standIns: EndCodec.encode(parked.standIns),
      "written": .list(parked.written.sorted().map(Value.int)),
    ]
  }

  /// A file that an item waited with, by its path, its bytes and its SHA-256, and whether it goes with the item.
  typealias Holding = (_ path: String, _ bytes: Int, _ sha256: Digest, _ isOwn: Bool) -> HeldFile

  static func decode(_ id: Int, _ fields: Fields, holding: Holding) -> ParkedItem? {
    guard let item = fields["item"].flatMap(ItemCodec.decode) else { return nil }
    let ownFiles = Set(list(fields, "own").map(\.text))
    // Several results may have one file, which goes when none of them needs it any more.
    var files: [String: HeldFile] = [:]
    let results = list(fields, "results").map { result in
      decode(result) { path, bytes, digest in
        if let known = files[path] { return known }
        let file = holding(path, bytes, digest, ownFiles.contains(path))
        files[path] = file
        return file
      }
    }
    let keys = list(fields, "keys").map(decodeKey)
    return ParkedItem(
      id: id, item: item, input: Hex.decode(fields["input"]?.asString ?? "") ?? [],
      states: list(fields, "states").map { NodeState(rawValue: UInt8($0.asInt ?? 0)) ?? .waiting },
      results: results,
      // One for each node, also where the row has none.
      keys: results.indices.map { $0 < keys.count ? keys[$0] : nil },
      ownFiles: ownFiles,
      outputs: list(fields, "outputs").compactMap { pair in
        guard let parts = pair.asList, parts.count == 2, let node = parts[0].asInt,
          let fact = ItemCodec.decodeOutput(parts[1])
        else { return nil }
        return PublishedOutput(fact: fact, node: node)
      },
      tries: list(fields, "tries").map { $0.asInt ?? 0 }, stageTimes: list(fields, "times").map { $0.asInt ?? -1 },
      failures: list(fields, "failures").compactMap { entry in
        guard let parts = entry.asList, parts.count == 3, let node = parts[0].asInt, let attempt = parts[1].asInt,
          let fault = ItemCodec.decodeFault(parts[2])
        else { return nil }
        return Failure(node: node, fault: fault, attempt: attempt)
      },
      isShared: fields["shared"]?.asBool ?? false, isKept: fields["kept"]?.asBool ?? false,
      cachedStages: Set(list(fields, "cached").compactMap(\.asInt)), made: list(fields, "made").map(\.text),
      reason: fields["reason"]?.asString,
      standIns: EndCodec.decodeStandIns(fields[EndCodec.standIns]),
      written: Set(list(fields, "written").compactMap(\.asInt)))
  }

  private static func list(_ fields: Fields, _ name: String) -> [Value] { fields[name]?.asList ?? [] }

  private static func encode(_ result: NodeResult) -> Value {
    var map: Fields = ["fields": .map(result.fields)]
    if case .file(let file)? = result.content, let path = file.writtenPath {
      map["path"] = .string(path)
      map["bytes"] = .int(file.bytes)
      map["sha256"] = .string(file.sha256.hex)
    }
    if !result.outputs.isEmpty { map["outputs"] = .list(result.outputs.map { ItemCodec.encode($0) }) }
    return .map(map)
  }

  private static func decode(
    _ value: Value, _ holding: (_ path: String, _ bytes: Int, _ sha256: Digest) -> HeldFile
  ) -> NodeResult? {
    guard let map = value.asMap else { return nil }
    var result = NodeResult(fields: map["fields"]?.asMap ?? [:])
    if let path = map["path"]?.asString, let bytes = map["bytes"]?.asInt,
      let digest = map["sha256"]?.asString.flatMap({ Digest(.sha256, parsing: $0) })
    {
      result.content = .file(holding(path, bytes, digest))
    }
    result.outputs = (map["outputs"]?.asList ?? []).compactMap { ItemCodec.decodeOutput($0) }
    return result
  }

  private static func encode(_ key: ResultKey) -> Value {
    .string(String(decoding: key.parts.json, as: UTF8.self))
  }

  private static func decodeKey(_ value: Value) -> ResultKey? {
    value.asString.map { ResultKey(written: StoredFields(json: Array($0.utf8))) }
  }
}
