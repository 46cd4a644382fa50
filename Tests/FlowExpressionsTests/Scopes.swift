import FlowBase
import FlowExpressions

/// A scope over a map of namespaces.
struct MapScope: Scope {
  var fields: [Namespace: Fields]

  func value(of reference: Reference) -> Value? {
    guard let fields = fields[reference.namespace] else { return nil }
    var value = Value.map(fields)
    for name in reference.path {
      guard case .map(let inner) = value else { return .null }
      value = inner[name] ?? .null
    }
    return value
  }
}

/// A type scope over a map of names.
struct TypeTable: TypeScope {
  var types: [String: ValueType]

  func resolve(_ reference: Reference) -> Resolution {
    if let type = types[reference.text] { return .known(type) }
    if types.keys.contains(reference.namespace.rawValue + ".*") { return .known(.any) }
    return .unknown(code: "E0214", message: "`\(reference.text)` is not set here", hint: nil, notes: [])
  }
}

let sample = MapScope(fields: [
  .item: [
    "key": "a b/c", "width": 640, "height": 480, "media": "image/png", "ratio": 1.5, "on": true, "nothing": nil,
    "url": "https://Example.com/dir/My%20File.tar.GZ?x=1#f", "list": ["x", "y", 3],
  ],
  .row: ["Image URL": "u", "n": "42", "f": "2.5", "sku": "../é 1", "in": "keyword"],
  .vars: ["sizes": [64, 256], "base": "https://h.example/p"],
])
