internal import FlowBase
internal import FlowYAML

extension Node {
  /// A value of a program as a document would hold it: texts are texts, whatever they look like.
  init(_ value: Value, file: String) {
    let content: Content =
      switch value {
      case .null: .scalar("null", .plain)
      case .bool, .int, .double: .scalar(value.text, .plain)
      case .string(let text): .scalar(text, .quoted)
      case .list(let values): .list(values.map { Node($0, file: file) })
      case .map(let fields):
        .map(fields.map { Entry(key: $0, keyMark: .start, value: Node($1, file: file)) })
      }
    self.init(content, mark: .start, file: file)
  }
}
