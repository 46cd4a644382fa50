internal import CLua
internal import FlowBase

/// Values on their way into a script and out of it.
extension ScriptState {
  /// How deep tables may be nested.
  private static let maximumDepth = 32
  /// How many values one result may hold.
  private static let maximumCount = 1_000_000

  /// Puts a value on the stack; the limit on memory does not hold meanwhile, since nobody could catch its error.
  func push(_ value: Value) { unsafe push(value, on: lua) }

  func push(_ value: Value, on thread: OpaquePointer) {
    _ = unsafe lua_checkstack(thread, 8)
    switch value {
    case .null: unsafe lua_pushnil(thread)
    case .bool(let flag): unsafe lua_pushboolean(thread, flag ? 1 : 0)
    case .int(let number): unsafe lua_pushinteger(thread, lua_Integer(number))
    case .double(let number): unsafe lua_pushnumber(thread, number)
    case .string(let text): unsafe push(text, on: thread)
    case .list(let values):
      unsafe lua_createtable(thread, Int32(clamping: values.count), 0)
      for (place, value) in values.enumerated() {
        unsafe push(value, on: thread)
        unsafe lua_rawseti(thread, -2, lua_Integer(place + 1))
      }
    case .map(let fields):
      unsafe lua_createtable(thread, 0, Int32(clamping: fields.count))
      for place in fields.names.indices {
        unsafe push(fields.names[place], on: thread)
        unsafe push(fields.values[place], on: thread)
        unsafe lua_rawset(thread, -3)
      }
    }
  }

  private func push(_ text: String, on thread: OpaquePointer) {
    var text = text
    text.withUTF8 { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
        _ = unsafe lua_pushlstring(thread, bytes.baseAddress ?? ScriptState.empty, bytes.count)
      }
    }
  }

  private nonisolated(unsafe) static let empty = unsafe UnsafePointer<CChar>(
    UnsafeMutablePointer<CChar>.allocate(capacity: 1))

  /// The text at a place of a stack, which must hold one.
  func text(at place: Int32, of thread: OpaquePointer) -> String {
    var length = 0
    guard let bytes = unsafe lua_tolstring(thread, place, &length) else { return "" }
    return unsafe String(decoding: UnsafeRawBufferPointer(start: bytes, count: length), as: UTF8.self)
  }

  /// The value at a place of the stack.
  func value(at place: Int32) throws(ScriptProblem) -> Value { try unsafe value(at: place, of: lua) }

  func value(at place: Int32, of thread: OpaquePointer) throws(ScriptProblem) -> Value {
    var left = ScriptState.maximumCount
    return try unsafe value(at: place, of: thread, depth: 0, left: &left)
  }

  private func value(
    at place: Int32, of thread: OpaquePointer, depth: Int, left: inout Int
  ) throws(ScriptProblem) -> Value {
    left -= 1
    guard left > 0 else { throw ScriptProblem(.result, "\(name): a result holds too many values") }
    switch unsafe lua_type(thread, place) {
    case LUA_TNIL: return .null
    case LUA_TBOOLEAN: return .bool(unsafe lua_toboolean(thread, place) != 0)
    case LUA_TNUMBER:
      return unsafe lua_isinteger(thread, place) != 0
        ? .int(Int(imgflow_lua_integer(thread, place))) : .double(imgflow_lua_number(thread, place))
    case LUA_TSTRING: return .string(unsafe text(at: place, of: thread))
    case LUA_TTABLE:
      guard depth < ScriptState.maximumDepth, unsafe lua_checkstack(thread, 8) != 0 else {
        throw ScriptProblem(.result, "\(name): a result is nested more than \(ScriptState.maximumDepth) deep")
      }
      return try unsafe table(at: lua_absindex(thread, place), of: thread, depth: depth + 1, left: &left)
    case let kind:
      let word = unsafe String(cString: lua_typename(thread, kind))
      throw ScriptProblem(.result, "\(name): a result holds a \(word), which means nothing outside of the script")
    }
  }

  /// A table as a list where it has elements, else as a map; an empty one is an empty list.
  private func table(
    at place: Int32, of thread: OpaquePointer, depth: Int, left: inout Int
  ) throws(ScriptProblem) -> Value {
    let count = unsafe lua_rawlen(thread, place)
    var fields = Fields()
    var elements: [Value] = []
    unsafe lua_pushnil(thread)
    while unsafe lua_next(thread, place) != 0 {
      do throws(ScriptProblem) {
        switch unsafe lua_type(thread, -2) {
        case LUA_TSTRING:
          fields[unsafe text(at: -2, of: thread)] = try unsafe value(at: -1, of: thread, depth: depth, left: &left)
        case LUA_TNUMBER where count > 0: break
        case LUA_TNUMBER:
          let key = try unsafe value(at: -2, of: thread, depth: depth, left: &left)
          fields[key.text] = try unsafe value(at: -1, of: thread, depth: depth, left: &left)
        default: throw ScriptProblem(.result, "\(name): a result has a key that is neither a text nor a number")
        }
      } catch {
        unsafe imgflow_lua_pop(thread, 2)
        throw error
      }
      unsafe imgflow_lua_pop(thread, 1)
    }
    guard count > 0 else { return fields.isEmpty ? .list([]) : .map(fields.sorted) }
    for number in 1...Int(clamping: count) {
      unsafe lua_rawgeti(thread, place, lua_Integer(number))
      do throws(ScriptProblem) {
        elements.append(try unsafe value(at: -1, of: thread, depth: depth, left: &left))
      } catch {
        unsafe imgflow_lua_pop(thread, 1)
        throw error
      }
      unsafe imgflow_lua_pop(thread, 1)
    }
    if fields.isEmpty { return .list(elements) }
    for (place, element) in elements.enumerated() { fields[String(place + 1)] = element }
    return .map(fields.sorted)
  }
}

extension Fields {
  /// The entries by name: tables have no order of their own, and equal results must be equal.
  fileprivate var sorted: Fields {
    guard count > 1 else { return self }
    let order = names.indices.sorted { names[$0] < names[$1] }
    return Fields(names: order.map { names[$0] }, values: order.map { values[$0] })
  }
}
