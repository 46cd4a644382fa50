internal import FlowBase
internal import FlowParts

/// What stands in the file beside a stored one.
enum Sidecar {
  /// All that is known of a leg and of its file, as one JSON object that ends in a newline.
  ///
  /// Every text goes through `redact`: a host may have said our own secrets back to us.
  static func json(of leg: Leg, output: OutputFact, redact: (String) -> String) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("source")
    writer.string(leg.item.source)
    writer.key("key")
    writer.string(leg.item.key)
    writer.key("index")
    writer.int(leg.item.index)
    writer.key("url")
    if let url = leg.item.url { writer.string(redact(url)) } else { writer.null() }
    writer.key("item")
    var made = leg.fields
    // Where the bytes lay on their way, which is nowhere by the time anybody reads this.
    made["path"] = nil
    writer.value(clean(.map(leg.item.fields.merging(made)), redact))
    for (name, fields) in [("row", leg.item.row), ("for", leg.item.loop), ("matrix", leg.axes)] where !fields.isEmpty {
      writer.key(of: name)
      writer.value(clean(.map(fields), redact))
    }
    writer.key("output")
    writer.fact(output)
    writer.endObject()
    writer.verbatim(0x0A)
    return writer.bytes
  }

  private static func clean(_ value: Value, _ redact: (String) -> String) -> Value {
    switch value {
    case .string(let text): .string(redact(text))
    case .list(let values): .list(values.map { clean($0, redact) })
    case .map(let fields): .map(Fields(names: fields.names, values: fields.values.map { clean($0, redact) }))
    case .null, .bool, .int, .double: value
    }
  }

  /// A value as it may be written down: addresses without what could be a secret.
  static func shown(_ value: Value) -> Value {
    if case .string(let text) = value, text.contains("://") { return .string(Redaction.url(text)) }
    return value
  }
}

extension JSONWriter {
  fileprivate mutating func fact(_ fact: OutputFact) {
    beginObject()
    key("path")
    string(fact.path)
    key("bytes")
    int(fact.bytes)
    key("sha256")
    string(fact.sha256)
    if let media = fact.media {
      key("media")
      string(media)
    }
    if let width = fact.width, let height = fact.height {
      key("width")
      int(width)
      key("height")
      int(height)
    }
    endObject()
  }
}
