public import FlowBase
public import FlowEvents
import FlowParts
import FlowStore

/// The facts of an item's end, as the journal keeps them.
public enum EndCodec {
  static func encode(
    _ item: Item, _ end: Payload.ItemEnd?, gathering: String, groups: [StoredFacts.Group] = [], made: [String] = [],
    standIns: [StandIn] = [], redaction: Redaction = Redaction()
  ) -> StoredFields {
    var writer = JSONWriter()
    writer.beginObject()
    let empty = writer.count
    if !gathering.isEmpty {
      writer.key("item")
      writer.value(ItemCodec.encode(item), through: redaction)
      writer.key("gathering")
      writer.string(gathering)
    }
    if let end { writer.write(end, through: redaction) }
    if !groups.isEmpty {
      writer.key("groups")
      writer.beginArray()
      for group in groups { writer.value(.list([.string(group.stage), .int(group.node), .string(group.group)])) }
      writer.endArray()
    }
    if !made.isEmpty {
      writer.key("made")
      writer.value(.list(made.map(Value.string)))
    }
    if !standIns.isEmpty {
      writer.key(of: EndCodec.standIns)
      // As the journal has the keys of items and what stages have found, or nobody would find them.
      writer.value(
        encode(
          standIns.map {
            StandIn(source: $0.source, key: $0.key, field: $0.field, value: redaction.redact($0.value))
          }))
    }
    if writer.count == empty { return StoredFields() }
    writer.endObject()
    return StoredFields(json: writer.bytes)
  }

  /// The member that names the items in whose favour legs were dropped.
  static let standIns = "stand_ins"

  static func encode(_ standIns: [StandIn]) -> Value {
    .list(standIns.map { .list([$0.source, $0.key, $0.field, $0.value].map(Value.string)) })
  }

  static func decodeStandIns(_ value: Value?) -> [StandIn] {
    (value?.asList ?? []).compactMap { entry in
      guard let parts = entry.asList?.compactMap(\.asString), parts.count == 4 else { return nil }
      return StandIn(source: parts[0], key: parts[1], field: parts[2], value: parts[3])
    }
  }

  /// The end of an item as it was told, without what its stages took.
  public static func end(_ status: FlowEvents.ItemStatus, _ facts: Fields) -> Payload.ItemEnd {
    var end = Payload.ItemEnd(status: status, ratio: status == .ok ? 1 : nil)
    end.reason = facts["reason"]?.asString
    end.finalURL = facts["final_url"]?.asString
    end.outputs = outputs(facts)
    return end
  }

  /// The files of an end.
  static func outputs(_ facts: Fields) -> [Payload.Output] {
    (facts["outputs"]?.asList ?? []).compactMap { value in
      guard let map = value.asMap, let path = map["path"]?.asString else { return nil }
      return Payload.Output(
        path: path, leg: map["leg"]?.asMap ?? [:], media: map["media"]?.asString, bytes: map["bytes"]?.asInt ?? 0,
        sha256: map["sha256"]?.asString ?? "", width: map["width"]?.asInt, height: map["height"]?.asInt)
    }
  }
}

extension JSONWriter {
  /// What is kept of an end, as members; `FactsScanner` knows them in this order.
  fileprivate mutating func write(_ end: Payload.ItemEnd, through redaction: Redaction) {
    if !end.outputs.isEmpty {
      key("outputs")
      beginArray()
      for output in end.outputs { write(output, through: redaction) }
      endArray()
    }
    if let reason = end.reason {
      key("reason")
      string(reason, through: redaction)
    }
    if let final = end.finalURL {
      key("final_url")
      string(final, through: redaction)
    }
    if !end.stages.isEmpty {
      key("stages")
      beginArray()
      for stage in end.stages { string(stage.stage) }
      endArray()
    }
  }

  private mutating func write(_ output: Payload.Output, through redaction: Redaction) {
    beginObject()
    key("path")
    string(output.path, through: redaction)
    key("leg")
    value(.map(output.leg), through: redaction)
    key("bytes")
    int(output.bytes)
    key("sha256")
    string(output.sha256)
    key("media")
    if let media = output.media { string(media, through: redaction) } else { null() }
    key("width")
    if let width = output.width { int(width) } else { null() }
    key("height")
    if let height = output.height { int(height) } else { null() }
    endObject()
  }
}
