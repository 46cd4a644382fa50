internal import CLua
public import FlowBase

/// What a function of a script gives, one value after the other, none of them before it is asked for.
///
/// The function may return a list, return an iterator as `pairs` and `ipairs` do, or yield value by value.
@safe public final class ScriptSequence {
  private enum Stand {
    /// A coroutine that has not come to its end, and the arguments of its first step.
    case yielding(first: [Value])
    /// A list, and the place of its next element.
    case list(kept: Int32, next: Int)
    /// An iterator with its state and its control value.
    case iterator(function: Int32, state: Int32, control: Int32)
    case ended
  }

  private let script: ScriptState
  private let thread: OpaquePointer
  private let keptThread: Int32
  private var stand: Stand

  /// The number of values, where the function has returned a list.
  public private(set) var count: Int?

  /// Gets a function of a script going; nothing of it runs before the first value is asked for.
  public init(_ script: ScriptState, _ function: String, _ arguments: [Value]) throws(ScriptProblem) {
    self.script = script
    let lua = unsafe script.lua
    guard let thread = unsafe lua_newthread(lua) else { throw ScriptProblem(.limit, "\(script.name): no memory") }
    unsafe self.thread = thread
    keptThread = unsafe imgflow_lua_keep(lua)
    stand = .yielding(first: arguments)
    do throws(ScriptProblem) { try script.find(function) } catch {
      unsafe imgflow_lua_forget(lua, keptThread)
      throw error
    }
    unsafe lua_xmove(lua, thread, 1)
  }

  deinit {
    let lua = unsafe script.lua
    unsafe imgflow_lua_forget(lua, keptThread)
    switch stand {
    case .list(let kept, _): unsafe imgflow_lua_forget(lua, kept)
    case .iterator(let function, let state, let control):
      for kept in [function, state, control] { unsafe imgflow_lua_forget(lua, kept) }
    case .yielding, .ended: break
    }
  }

  /// The next value; nil at the end.
  public func next() throws(ScriptProblem) -> Value? {
    switch stand {
    case .yielding(let first): try resume(first)
    case .list(let kept, let next): try element(of: kept, next)
    case .iterator(let function, let state, let control): try step(function, state, control)
    case .ended: nil
    }
  }

  private func resume(_ arguments: [Value]) throws(ScriptProblem) -> Value? {
    for argument in arguments { unsafe script.push(argument, on: thread) }
    stand = .yielding(first: [])
    var results: Int32 = 0
    unsafe imgflow_lua_arm(thread)
    let status = unsafe lua_resume(thread, script.lua, Int32(arguments.count), &results)
    unsafe imgflow_lua_disarm(thread)
    if status == LUA_YIELD {
      defer { unsafe imgflow_lua_pop(thread, results) }
      guard results > 0 else { throw ScriptProblem(.result, "\(script.name): `coroutine.yield()` without a value") }
      return try unsafe script.value(at: -results, of: thread)
    }
    guard status == LUA_OK else {
      stand = .ended
      throw unsafe script.problem(.error, of: thread)
    }
    return try returned(results)
  }

  /// The function has come to its end and has returned something, or nothing.
  private func returned(_ results: Int32) throws(ScriptProblem) -> Value? {
    stand = .ended
    let lua = unsafe script.lua
    guard results > 0 else { return nil }
    switch unsafe lua_type(thread, -results) {
    case LUA_TTABLE:
      unsafe imgflow_lua_pop(thread, results - 1)
      count = Int(clamping: unsafe lua_rawlen(thread, -1))
      unsafe lua_xmove(thread, lua, 1)
      stand = .list(kept: unsafe imgflow_lua_keep(lua), next: 1)
      return try next()
    case LUA_TFUNCTION:
      // As in `for`: an iterator, its state, and the value from which it starts.
      unsafe lua_settop(thread, lua_gettop(thread) - results + 3)
      unsafe lua_xmove(thread, lua, 3)
      let control = unsafe imgflow_lua_keep(lua)
      let state = unsafe imgflow_lua_keep(lua)
      stand = .iterator(function: unsafe imgflow_lua_keep(lua), state: state, control: control)
      return try next()
    case LUA_TNIL: return nil
    case let kind:
      let word = unsafe String(cString: lua_typename(thread, kind))
      unsafe imgflow_lua_pop(thread, results)
      throw ScriptProblem(.result, "\(script.name): a list or an iterator was expected, and a \(word) came")
    }
  }

  private func element(of kept: Int32, _ place: Int) throws(ScriptProblem) -> Value? {
    let lua = unsafe script.lua
    guard place <= count ?? 0 else {
      unsafe imgflow_lua_forget(lua, kept)
      stand = .ended
      return nil
    }
    stand = .list(kept: kept, next: place + 1)
    _ = unsafe imgflow_lua_kept(lua, kept)
    unsafe lua_rawgeti(lua, -1, lua_Integer(place))
    defer { unsafe imgflow_lua_pop(lua, 2) }
    return try script.value(at: -1)
  }

  private func step(_ function: Int32, _ state: Int32, _ control: Int32) throws(ScriptProblem) -> Value? {
    let lua = unsafe script.lua
    for kept in [function, state, control] { _ = unsafe imgflow_lua_kept(lua, kept) }
    try script.call(arguments: 2, results: 2)
    if unsafe lua_type(lua, -2) == LUA_TNIL {
      unsafe imgflow_lua_pop(lua, 2)
      for kept in [function, state, control] { unsafe imgflow_lua_forget(lua, kept) }
      stand = .ended
      return nil
    }
    // The first result controls the next step; the value is the one behind it, as from `ipairs`, or itself.
    let value: Value
    do throws(ScriptProblem) {
      value = try script.value(at: unsafe lua_type(lua, -1) == LUA_TNIL ? -2 : -1)
    } catch {
      unsafe imgflow_lua_pop(lua, 2)
      throw error
    }
    unsafe imgflow_lua_pop(lua, 1)
    let next = unsafe imgflow_lua_keep(lua)
    unsafe imgflow_lua_forget(lua, control)
    stand = .iterator(function: function, state: state, control: next)
    return value
  }
}
