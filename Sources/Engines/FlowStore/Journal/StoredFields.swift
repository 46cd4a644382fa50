internal import FlowBase

/// Fields as the journal stores them: JSON, and nothing at all for an empty map.
enum StoredFields {
  /// The map as JSON; nil for an empty one.
  static func encode(_ fields: Fields) -> [UInt8]? {
    if fields.isEmpty { return nil }
    var writer = JSONWriter()
    writer.value(.map(fields))
    return writer.bytes
  }

  /// The map that was stored; no bytes are an empty one.
  static func decode(_ bytes: [UInt8]) throws(Fault) -> Fields {
    if bytes.isEmpty { return [:] }
    guard let value = try? JSONReader.read(bytes), case .map(let fields) = value else {
      throw Fault(
        "state.damaged", .local,
        "a row of the journal holds \(bytes.count) bytes that are no JSON object; put back a copy of the journal")
    }
    return fields
  }
}
