import FlowBase

extension Fields {
  /// The same with every text redacted, at any depth: what goes to the journal tells no secret.
  func redacted(by redaction: Redaction) -> Fields {
    Fields(names: names, values: values.map { $0.redacted(by: redaction) })
  }
}

extension Value {
  fileprivate func redacted(by redaction: Redaction) -> Value {
    switch self {
    case .string(let text): .string(redaction.redact(text))
    case .list(let values): .list(values.map { $0.redacted(by: redaction) })
    case .map(let fields): .map(fields.redacted(by: redaction))
    case .null, .bool, .int, .double: self
    }
  }
}
