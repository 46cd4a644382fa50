public import FlowBase

/// Fields as the journal stores them: JSON, and nothing at all for an empty map.
///
/// Who writes a row makes the JSON, and who needs what stands in one reads it; between the two nothing looks inside.
public struct StoredFields: Sendable, Hashable {
  /// The map as a JSON object; empty for an empty map.
  public let json: [UInt8]

  /// What was stored, or is to be: a JSON object, or nothing.
  public init(json: [UInt8] = []) { self.json = json }

  /// A map.
  public init(_ fields: Fields) {
    if fields.isEmpty {
      json = []
      return
    }
    var writer = JSONWriter()
    writer.value(.map(fields))
    json = writer.bytes
  }

  /// The map; a fault `state.damaged` where there is none.
  public func fields() throws(Fault) -> Fields {
    if json.isEmpty { return [:] }
    guard let value = try? JSONReader.read(json), case .map(let fields) = value else {
      throw Fault(
        "state.damaged", .local,
        "a row of the journal holds \(json.count) bytes that are no JSON object; put back a copy of the journal")
    }
    return fields
  }
}

extension StoredFields: ExpressibleByDictionaryLiteral {
  /// A map, written out.
  public init(dictionaryLiteral elements: (String, Value)...) {
    var fields: Fields = [:]
    for (name, value) in elements { fields[name] = value }
    self.init(fields)
  }
}

extension Statement {
  /// Binds fields; an empty map is NULL.
  func bind(_ place: Int32, _ fields: StoredFields) { bind(place, fields.json.isEmpty ? nil : fields.json) }
}
