import FlowBase

extension JSONWriter {
  /// A text without the secrets in it.
  mutating func string(_ text: String, through redaction: Redaction) { string(redaction.redact(text)) }

  /// Any value, with every text redacted, at any depth: what goes to the journal tells no secret.
  mutating func value(_ value: Value, through redaction: Redaction) {
    switch value {
    case .string(let text): string(text, through: redaction)
    case .list(let values):
      beginArray()
      for element in values { self.value(element, through: redaction) }
      endArray()
    case .map(let fields):
      beginObject()
      for (name, element) in fields {
        key(of: name)
        self.value(element, through: redaction)
      }
      endObject()
    case .null, .bool, .int, .double: self.value(value)
    }
  }
}
