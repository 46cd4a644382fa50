internal import FlowBase

/// The JSON Schema of `plugin.yaml`, for editors.
public enum PluginSchema {
  /// The schema as a text.
  public static var json: String {
    var writer = JSONWriter()
    writer.value(schema)
    return writer.text
  }

  private static let schema: Value = [
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "plugin.yaml of imgflow",
    "type": "object",
    "additionalProperties": false,
    "required": ["imgflow_plugin", "name", "version", "run", "ops"],
    "properties": [
      "imgflow_plugin": ["const": 1, "description": "The version of this format."],
      "name": ["type": "string", "pattern": "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)+$", "description": "Its name."],
      "version": ["type": ["string", "number"], "description": "Its version."],
      "summary": text("What it does, in one sentence."),
      "author": text("Who wrote it."), "license": text("Its license."), "homepage": text("Where it comes from."),
      "run": texts("The program and its arguments; the working directory is this folder."),
      "protocol": ["type": "array", "items": ["type": "integer"], "description": "Versions of the protocol."],
      "mode": ["enum": ["process", "oneshot"], "description": "How long a process lives."],
      "ops": [
        "type": "object", "minProperties": 1,
        "propertyNames": ["pattern": "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)+$"],
        "additionalProperties": op,
      ],
      "limits": [
        "type": "object", "additionalProperties": false,
        "properties": [
          "instances": [
            "type": "integer", "minimum": 1, "maximum": 256, "description": "The most processes of one op.",
          ],
          "window": ["type": "integer", "minimum": 1, "description": "The most unanswered items of a process."],
          "start": text("The time in which it must say that it is ready, such as 10s."),
          "item": text("The time for one item, such as 60s."), "memory": text("The most memory, such as 1GB."),
          "idle_exit": text("The time without work after which a process is ended, such as 5m."),
        ],
      ],
      "permissions": [
        "type": "object", "additionalProperties": false,
        "properties": [
          "network": ["type": "boolean", "description": "Whether it reaches the network."],
          "env": texts("Variables beside PATH, HOME, LANG and TMPDIR."),
          "write": texts("Where it may write: workdir, or absolute paths."),
        ],
      ],
      "errors": [
        "type": "object", "additionalProperties": ["enum": ["transient", "quota", "permanent", "auth"]],
        "description": "The class of each error that it reports.",
      ],
    ],
  ]

  private static let op: Value = [
    "type": "object", "additionalProperties": false, "required": ["kind"],
    "properties": [
      "kind": ["enum": ["source", "stage", "sink"], "description": "What it stands for."],
      "summary": text("What it does, in one sentence."), "takes": texts("The media types that it takes."),
      "gives": [
        "type": "object", "additionalProperties": false,
        "properties": [
          "media": text("The media type that it gives, or same."),
          "set": [
            "type": "object",
            "additionalProperties": ["enum": ["string", "integer", "number", "boolean", "list", "map", "any"]],
            "description": "The item fields that it sets, with their types.",
          ],
        ],
      ],
      "reads": texts("The item fields that it cannot do without."),
      "deterministic": ["type": "boolean", "description": "Whether the same input gives the same output."],
      "per": [
        "anyOf": [["enum": perWords], ["type": "array", "items": ["enum": perWords]]],
        "description": "How often it may run.",
      ],
      "config": ["type": "object", "description": "The JSON Schema of its configuration."],
      "shorthand": text("The key that a bare text or list stands for."),
    ],
  ]

  private static let perWords: Value = ["leg", "item", "group", "run"]

  private static func text(_ words: String) -> Value { ["type": "string", "description": .string(words)] }
  private static func texts(_ words: String) -> Value {
    [
      "anyOf": [["type": "string"], ["type": "array", "items": ["type": "string"]]], "description": .string(words),
    ]
  }
}
