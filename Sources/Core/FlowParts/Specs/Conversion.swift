public import FlowBase
internal import FlowExpressions

extension ConfigValue {
  /// This value with its templates evaluated and converted, as far as the scope knows their names.
  func resolved(in scope: some Scope) throws(Fault) -> ConfigValue {
    switch self {
    case .value: return self
    case .template(let template, let type):
      let constant: Value
      // Where all names are known, as with every item, it needs not be put together first as what is left of it.
      if let value = template.known(in: scope) {
        constant = value
      } else {
        let folded = try template.folded(in: scope)
        guard let value = folded.constant else { return .template(folded, type) }
        constant = value
      }
      guard let converted = type.convert(constant) else {
        throw Fault(
          "config.type", .config, "`\(template.source)` gave \(constant.kindName) `\(constant.text)`, not \(type.words)"
        )
      }
      return .value(converted)
    case .condition(let expression):
      let folded = try expression.folded(in: scope)
      guard folded.constant != nil else { return .condition(folded) }
      return .value(.bool(try folded.isTrue(in: scope)))
    case .list(let elements):
      var resolved: [ConfigValue] = []
      for element in elements { resolved.append(try element.resolved(in: scope)) }
      let list = ConfigValue.list(resolved)
      return list.plain.map(ConfigValue.value) ?? list
    case .map(let entries):
      var resolved: [Config.Entry] = []
      for entry in entries { resolved.append(Config.Entry(entry.name, try entry.value.resolved(in: scope))) }
      let map = ConfigValue.map(resolved)
      return map.plain.map(ConfigValue.value) ?? map
    }
  }
}

extension FieldType {
  /// A value as this type holds it; nil where it does not fit.
  public func convert(_ value: Value) -> Value? {
    switch self {
    case .string, .url, .path:
      switch value {
      case .list, .map: return nil
      default: return .string(value.text)
      }
    case .integer(let range):
      guard let number = value.asInt ?? value.asString.flatMap({ Int($0) }), range.contains(number) else { return nil }
      return .int(number)
    case .number(let range):
      guard let number = value.asDouble ?? value.asString.flatMap({ Double($0) }), range.contains(number) else {
        return nil
      }
      return .double(number)
    case .boolean:
      if let flag = value.asBool { return .bool(flag) }
      switch value.asString {
      case "true": return true
      case "false": return false
      default: return nil
      }
    case .byteCount: return value.asInt.map { .int($0) } ?? ByteCount(parsing: value.text).map { .int($0.bytes) }
    case .interval: return Interval(parsing: value.text).map { .int($0.nanoseconds) }
    case .rate: return Rate(parsing: value.text).map { .double($0.perSecond) }
    case .bandwidth: return Bandwidth(parsing: value.text).map { .int($0.bytesPerSecond) }
    case .choice(let words): return words.contains(value.text) ? .string(value.text) : nil
    case .list(let element):
      guard case .list(let values) = value else { return element.convert(value).map { .list([$0]) } }
      let converted = values.compactMap { element.convert($0) }
      return converted.count == values.count ? .list(converted) : nil
    case .map(let element):
      guard case .map(let fields) = value else { return nil }
      let converted = fields.values.compactMap { element.convert($0) }
      return converted.count == fields.count ? .map(Fields(names: fields.names, values: converted)) : nil
    case .object:
      guard case .map = value else { return nil }
      return value
    case .condition: return value.asBool.map { .bool($0) }
    case .anything: return value
    case .either(let types):
      for type in types {
        if let converted = type.convert(value) { return converted }
      }
      return nil
    }
  }

  /// The type in words, for messages: "a whole number from 0 to 100".
  public var words: String {
    switch self {
    case .string: "a text"
    case .url: "a URL"
    case .path: "a path"
    case .integer(let range):
      range.upperBound == .max
        ? (range.lowerBound == .min ? "a whole number" : "a whole number of at least \(range.lowerBound)")
        : "a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .number(let range):
      range.upperBound == .infinity
        ? (range.lowerBound == -.infinity ? "a number" : "a number of at least \(Value.text(of: range.lowerBound))")
        : "a number from \(Value.text(of: range.lowerBound)) to \(Value.text(of: range.upperBound))"
    case .boolean: "true or false"
    case .byteCount: "a size such as 50MB or 64KiB"
    case .interval: "a duration such as 500ms, 30s or 2h"
    case .rate: "a rate such as 20/s or 100/m"
    case .bandwidth: "a bandwidth such as 50MB/s"
    case .choice(let words): words.count == 1 ? "`\(words[0])`" : "one of \(words.joined(separator: ", "))"
    case .list(let element): "a list, each element \(element.words)"
    case .map(let element): "a map, each value \(element.words)"
    case .object(let fields): "a map with the keys \(fields.map(\.name).joined(separator: ", "))"
    case .condition: "a condition"
    case .anything: "any value"
    case .either(let types): types.map(\.words).joined(separator: ", or ")
    }
  }
}
