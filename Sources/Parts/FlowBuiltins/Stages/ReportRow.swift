internal import FlowBase
internal import FlowExpressions
internal import FlowParts

/// One row of a report: a result, and the output that it is about.
struct ReportRow {
  var member: Gathering.Member
  var output: OutputFact?

  /// The rows of a result: one an output, or one where it has none; a sidecar belongs to the row of its file.
  static func rows(of member: Gathering.Member) -> [ReportRow] {
    let sidecars = Set(member.outputs.map { $0.path + ".json" })
    let outputs = member.outputs.filter { !sidecars.contains($0.path) }
    if outputs.isEmpty { return [ReportRow(member: member, output: nil)] }
    return outputs.map { ReportRow(member: member, output: $0) }
  }

  /// What a column reads of what an item's source says.
  static func reads(_ column: String) -> [Reference] {
    guard let dot = column.firstIndex(of: "."), let space = Namespace(rawValue: String(column[..<dot])) else {
      return []
    }
    // A column of a table may hold dots, or be a map.
    let path = String(column[column.index(after: dot)...])
    return [Reference(space, [path]), Reference(space, path.split(separator: ".").map(String.init))]
  }

  /// What stands in a column.
  func value(of column: String) -> Value {
    if let output, let value = ReportRow.value(of: column, in: output) { return value }
    switch column {
    case "status": return .string(member.status)
    case "error": return member.fault.map { .string($0.code) } ?? .null
    case "stage": return .string(member.stage)
    default: return Sidecar.shown(member.leg.column(column))
    }
  }

  /// A fact of the output; nil for columns that are about the item.
  private static func value(of column: String, in output: OutputFact) -> Value? {
    switch column {
    case "path": .string(output.path)
    case "bytes": .int(output.bytes)
    case "sha256": .string(output.sha256)
    case "media": output.media.map(Value.string)
    case "width": output.width.map(Value.int)
    case "height": output.height.map(Value.int)
    default: nil
    }
  }
}

extension Leg {
  /// The value under a column's name: a field of the item, or a name with its namespace.
  fileprivate func column(_ name: String) -> Value {
    if let dot = name.firstIndex(of: "."), let space = Namespace(rawValue: String(name[..<dot])) {
      let path = String(name[name.index(after: dot)...])
      let whole = value(of: Reference(space, []))?.asMap ?? [:]
      // Columns of tables may hold dots themselves.
      return whole[path] ?? value(of: Reference(space, path.split(separator: ".").map(String.init))) ?? .null
    }
    switch name {
    case "source": return .string(item.source)
    case "key": return .string(item.key)
    case "index": return .int(item.index)
    case "url": return item.url.map(Value.string) ?? .null
    case "parent": return item.parent.map(Value.string) ?? .null
    // Where bytes lie that nobody has stored is of no use to a reader: they will not stay. A local file does.
    case "path": return item.fields["path"] ?? .null
    default: return fields[name] ?? item.fields[name] ?? .null
    }
  }
}
