public import FlowBase

/// The JSON Schema (draft-07) of a line of the event stream, made from the table of types and their keys.
public enum EventSchema {
  /// The schema as a text.
  public static var json: String {
    var writer = JSONWriter()
    writer.value(schema)
    return writer.text
  }

  /// The schema as a value.
  public static var schema: Value {
    .map([
      "$schema": "http://json-schema.org/draft-07/schema#",
      "title": "An event of imgflow, one line of its stream",
      "description": "Readers ignore keys and types that they do not know.",
      "type": "object",
      "required": ["imgflow", "seq", "type", "time", "ms", "run", "data"],
      "properties": .map(envelope),
      "allOf": .list(EventType.allCases.map(rule)),
    ])
  }

  private static var envelope: Fields {
    [
      "imgflow": ["const": 1, "description": "The major version of the stream."],
      "seq": ["type": "integer", "minimum": 0, "description": "Rises by exactly 1 in a run."],
      "type": [
        "type": "string", "description": "What happened.",
        "examples": .list(EventType.allCases.map { .string($0.rawValue) }),
      ],
      "time": ["type": "string", "format": "date-time", "description": "Wall time in UTC."],
      "ms": [
        "type": "number", "minimum": 0,
        "description": "Milliseconds since the run's start, by the clock that no step disturbs.",
      ],
      "run": ["type": "string", "description": "The run's id."],
      "item": ["type": "string", "description": "The item's name, source/key."],
      "index": ["type": "integer", "minimum": 1, "description": "The item's place in its source, from 1."],
      "total": [
        "type": ["integer", "null"], "description": "The number of items of that source; null while unknown.",
      ],
      "url": ["type": ["string", "null"], "description": "The item's address; null for files of this machine."],
      "source": ["type": "string", "description": "The id of its source."],
      "parent": ["type": "string", "description": "The item that a stage made it from."],
      "stage": ["type": "string", "description": "The stage where it happened."],
      "attempt": ["type": "integer", "minimum": 1, "description": "Which try it was."],
      "data": ["type": "object", "description": "What is told of it, by type."],
    ]
  }

  private static func rule(for type: EventType) -> Value {
    var then: Fields = ["properties": ["data": object(type.fields, type.summary)]]
    if type.isAboutItem { then["required"] = ["item", "index", "total", "url", "source"] }
    return ["if": ["properties": ["type": ["const": .string(type.rawValue)]]], "then": .map(then)]
  }

  private static func object(_ fields: [DataField], _ summary: String) -> Value {
    [
      "type": "object", "description": .string(summary), "required": .list(fields.map { .string($0.name) }),
      "properties": .map(Fields(names: fields.map(\.name), values: fields.map(property))),
    ]
  }

  private static func property(_ field: DataField) -> Value {
    var shape = shape(field.kind, field.summary)
    if field.isNullable {
      switch shape["type"] {
      case .string(let type)?: shape["type"] = [.string(type), "null"]
      default: break
      }
      if let words = shape["enum"]?.asList { shape["enum"] = .list(words + [.null]) }
    }
    return .map(shape)
  }

  private static func shape(_ kind: DataField.Kind, _ summary: String) -> Fields {
    let words = Value.string(summary)
    switch kind {
    case .string: return ["type": "string", "description": words]
    case .integer: return ["type": "integer", "description": words]
    case .number: return ["type": "number", "description": words]
    case .boolean: return ["type": "boolean", "description": words]
    case .ratio: return ["type": "number", "minimum": 0, "maximum": 1, "description": words]
    case .word(let choices):
      return ["type": "string", "enum": .list(choices.map { .string($0) }), "description": words]
    case .list(let element):
      return ["type": "array", "items": .map(shape(element, "One of them.")), "description": words]
    case .object(let fields):
      guard case .map(let object) = object(fields, summary) else { return [:] }
      return object
    case .free: return ["type": "object", "description": words]
    case .counts:
      return ["type": "object", "additionalProperties": ["type": "integer", "minimum": 0], "description": words]
    }
  }
}
