internal import CYAML
internal import FlowBase

/// A place as libyaml counts it: everything from 0, in characters.
struct RawMark {
  var index: Int
  var line: Int
  var column: Int

  init(index: Int, line: Int, column: Int) {
    self.index = index
    self.line = line
    self.column = column
  }

  init(_ mark: yaml_mark_t) {
    self.init(index: Int(mark.index), line: Int(mark.line), column: Int(mark.column))
  }

  /// The place so many characters further on the same line.
  func advanced(by count: Int) -> RawMark { RawMark(index: index + count, line: line, column: column + count) }

  /// The place as people count.
  func mark(length: Int = 1) -> Mark { Mark(line: line + 1, column: column + 1, length: length) }
}

/// One step of a document.
struct Event {
  enum Kind {
    case streamStart, streamEnd
    case documentStart, documentEnd
    case alias(String)
    /// The text is left empty where it is longer than allowed.
    case scalar(text: String, byteCount: Int, style: Node.ScalarStyle)
    case listStart(isFlow: Bool), listEnd
    case mapStart(isFlow: Bool), mapEnd
  }

  var kind: Kind
  var anchor: String?
  var tag: String?
  var start: RawMark
  var end: RawMark

  /// Whether a `[` or `{` begins here.
  var isFlowStart: Bool {
    switch kind {
    case .listStart(let isFlow), .mapStart(let isFlow): isFlow
    default: false
    }
  }
}

/// What libyaml says where it cannot go on.
struct SyntaxFailure: Error {
  var problem: String
  var context: String
  var mark: RawMark
  var contextMark: RawMark?
}

/// The events of a document as libyaml finds them.
@safe final class EventStream {
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let input: UnsafeMutableBufferPointer<UInt8>

  init(_ bytes: [UInt8]) {
    unsafe parser = .allocate(capacity: 1)
    unsafe parser.initialize(to: yaml_parser_t())
    unsafe input = .allocate(capacity: max(1, bytes.count))
    _ = unsafe input.initialize(from: bytes)
    if unsafe yaml_parser_initialize(parser) == 1 {
      unsafe yaml_parser_set_input_string(parser, input.baseAddress, bytes.count)
      unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    }
  }

  deinit {
    unsafe yaml_parser_delete(parser)
    unsafe parser.deallocate()
    unsafe input.deallocate()
  }

  /// The next event.
  func next() throws(SyntaxFailure) -> Event {
    var event = unsafe yaml_event_t()
    guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw failure() }
    defer { unsafe yaml_event_delete(&event) }
    return unsafe read(event)
  }

  private func read(_ event: yaml_event_t) -> Event {
    var anchor: String?
    var tag: String?
    let kind: Event.Kind
    switch unsafe event.type {
    case YAML_SCALAR_EVENT:
      let scalar = unsafe event.data.scalar
      unsafe anchor = text(scalar.anchor)
      unsafe tag = text(scalar.tag)
      let count = unsafe Int(scalar.length)
      let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: count > Limits.scalarBytes ? 0 : count)
      let style: Node.ScalarStyle =
        switch unsafe scalar.style {
        case YAML_LITERAL_SCALAR_STYLE, YAML_FOLDED_SCALAR_STYLE: .block
        case YAML_SINGLE_QUOTED_SCALAR_STYLE, YAML_DOUBLE_QUOTED_SCALAR_STYLE: .quoted
        default: .plain
        }
      kind = unsafe .scalar(text: String(decoding: bytes, as: UTF8.self), byteCount: count, style: style)
    case YAML_SEQUENCE_START_EVENT:
      unsafe anchor = text(event.data.sequence_start.anchor)
      unsafe tag = text(event.data.sequence_start.tag)
      kind = unsafe .listStart(isFlow: event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE)
    case YAML_MAPPING_START_EVENT:
      unsafe anchor = text(event.data.mapping_start.anchor)
      unsafe tag = text(event.data.mapping_start.tag)
      kind = unsafe .mapStart(isFlow: event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE)
    case YAML_ALIAS_EVENT: kind = unsafe .alias(text(event.data.alias.anchor) ?? "")
    case YAML_SEQUENCE_END_EVENT: kind = .listEnd
    case YAML_MAPPING_END_EVENT: kind = .mapEnd
    case YAML_DOCUMENT_START_EVENT: kind = .documentStart
    case YAML_DOCUMENT_END_EVENT: kind = .documentEnd
    case YAML_STREAM_START_EVENT: kind = .streamStart
    default: kind = .streamEnd
    }
    return unsafe Event(
      kind: kind, anchor: anchor, tag: tag, start: RawMark(event.start_mark), end: RawMark(event.end_mark))
  }

  private func text(_ pointer: UnsafeMutablePointer<UInt8>?) -> String? {
    guard let pointer = unsafe pointer else { return nil }
    return unsafe String(decodingCString: pointer, as: UTF8.self)
  }

  private func failure() -> SyntaxFailure {
    let problem = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "out of memory"
    let context = unsafe parser.pointee.context.map { unsafe String(cString: $0) }
    let hasMark = unsafe parser.pointee.error == YAML_SCANNER_ERROR || parser.pointee.error == YAML_PARSER_ERROR
    return unsafe SyntaxFailure(
      problem: problem, context: context ?? "",
      mark: RawMark(hasMark ? parser.pointee.problem_mark : parser.pointee.mark),
      contextMark: context == nil ? nil : RawMark(parser.pointee.context_mark))
  }
}
