internal import FlowBase

extension Checker {
  mutating func type(of filter: Filter, _ input: Syntax, _ arguments: [Syntax], at node: Syntax) -> ValueType {
    let found = type(of: input)
    let types = arguments.map { type(of: $0) }
    checkInput(of: filter, found, input)
    checkArguments(of: filter, arguments, types, at: node)
    switch filter.result {
    case .input: return found
    case .element:
      if case .list(let element) = found { return element }
      return .any
    case .type(let type):
      if filter.name == "default" { return found == .null ? types.first ?? .any : found.joined(types.first ?? .any) }
      return type
    }
  }

  private mutating func checkInput(of filter: Filter, _ found: ValueType, _ input: Syntax) {
    if found.isOpen { return }
    switch filter.input {
    case .string where !found.isScalar:
      report(
        mismatch(
          "`\(filter.name)` needs a text", found, input, hint: "`join(', ')` makes a text of a list, `first` takes one")
      )
    case .list where found.isScalar || found == .map: report(mismatch("`\(filter.name)` needs a list", found, input))
    default: break
    }
  }

  private mutating func checkArguments(of filter: Filter, _ arguments: [Syntax], _ types: [ValueType], at node: Syntax)
  {
    let wanted = filter.parameters
    if arguments.count != wanted.count {
      let count = wanted.isEmpty ? "no arguments" : wanted.count == 1 ? "one argument" : "\(wanted.count) arguments"
      report(
        ExpressionProblem(
          "E0216", "`\(filter.name)` takes \(count), not \(arguments.count)", offset: node.offset, length: node.length,
          hint: "it is written `\(filter.form)`"))
      return
    }
    for (place, parameter) in wanted.enumerated() {
      let found = types[place]
      let fits =
        switch parameter.type {
        case .any: true
        case .integer: found == .integer || found == .number
        default: found == parameter.type
        }
      if fits || found.isOpen { continue }
      report(
        ExpressionProblem(
          "E0217", "`\(parameter.name)` of `\(filter.name)` must be \(parameter.type.words), not \(found.words)",
          offset: arguments[place].offset, length: arguments[place].length, hint: "it is written `\(filter.form)`"))
    }
  }
}
