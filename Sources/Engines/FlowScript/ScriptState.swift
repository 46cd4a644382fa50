internal import CLua
public import FlowBase

/// A Lua state with one script in it: globals live from call to call.
///
/// One thread at a time may use it. It has the libraries `coroutine`, `table`, `string`, `math` and `utf8`, and nothing
/// that reaches files, programs, other code or the state itself.
@safe public final class ScriptState: @unchecked Sendable {
  /// The name under which messages know the script.
  public let name: String
  let lua: OpaquePointer
  private let budget: UnsafeMutablePointer<imgflow_lua_budget>
  private let printer: Printer

  /// Loads a script and runs its text once, which defines its functions.
  ///
  /// - Parameter print: is given each line that the script prints.
  public init(
    _ text: [UInt8], name: String, limits: ScriptLimits = ScriptLimits(),
    print: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(ScriptProblem) {
    self.name = name
    printer = Printer(print)
    unsafe budget = .allocate(capacity: 1)
    unsafe budget.initialize(to: imgflow_lua_budget())
    unsafe budget.pointee.limit = limits.memory
    unsafe budget.pointee.max_steps = Int64(limits.steps)
    unsafe budget.pointee.max_time = Int64(limits.time.nanoseconds)
    unsafe budget.pointee.context = Unmanaged.passUnretained(printer).toOpaque()
    unsafe budget.pointee.print = { context, line, length in
      guard let context = unsafe context, let line = unsafe line else { return }
      let bytes = unsafe UnsafeRawBufferPointer(start: line, count: length)
      unsafe Unmanaged<Printer>.fromOpaque(context).takeUnretainedValue().print(
        String(decoding: bytes, as: UTF8.self))
    }
    guard let state = unsafe imgflow_lua_new(budget) else {
      unsafe budget.deallocate()
      throw ScriptProblem(.limit, "\(name): there is no memory for a script")
    }
    unsafe lua = state
    let status = unsafe text.withUnsafeBytes { bytes in
      // The chunk's name stands in front of each message; a fixed one is easy to find and never cut.
      unsafe imgflow_lua_load(
        state, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, ScriptState.chunk)
    }
    guard status == LUA_OK else { throw unsafe problem(.syntax) }
    try call(arguments: 0, results: 0)
  }

  deinit {
    unsafe lua_close(lua)
    unsafe budget.deinitialize(count: 1)
    unsafe budget.deallocate()
  }

  /// Whether the script has a function of a name.
  public func has(_ function: String) -> Bool {
    let kind = push(global: function)
    unsafe imgflow_lua_pop(lua, 1)
    return kind == LUA_TFUNCTION
  }

  /// Calls a function of the script; gives as many results as are asked for, null where there are fewer.
  public func call(_ function: String, _ arguments: [Value], results: Int = 1) throws(ScriptProblem) -> [Value] {
    try find(function)
    for argument in arguments { push(argument) }
    try call(arguments: arguments.count, results: results)
    defer { unsafe imgflow_lua_pop(lua, Int32(results)) }
    var values: [Value] = []
    for place in 0..<results { values.append(try value(at: Int32(place - results))) }
    return values
  }

  // MARK: Calls

  /// Puts a function of the script on the stack.
  func find(_ function: String) throws(ScriptProblem) {
    guard push(global: function) == LUA_TFUNCTION else {
      unsafe imgflow_lua_pop(lua, 1)
      throw ScriptProblem(.missing, "\(name): there is no function `\(function)`")
    }
  }

  private func push(global name: String) -> Int32 {
    var name = name
    return name.withUTF8 { text in
      unsafe text.withMemoryRebound(to: CChar.self) { text in
        unsafe imgflow_lua_global(lua, text.baseAddress, text.count)
      }
    }
  }

  /// Calls the function that lies below its arguments on the stack.
  func call(arguments: Int, results: Int) throws(ScriptProblem) {
    unsafe imgflow_lua_arm(lua)
    let status = unsafe imgflow_lua_call(lua, Int32(arguments), Int32(results))
    unsafe imgflow_lua_disarm(lua)
    guard status == LUA_OK else { throw unsafe problem(.error) }
  }

  /// What lies on top of the stack as the words of a problem; it is taken off.
  func problem(_ kind: ScriptProblem.Kind, of thread: OpaquePointer? = nil) -> ScriptProblem {
    let thread = unsafe thread ?? lua
    var text = "an error that is no text"
    if unsafe lua_type(thread, -1) == LUA_TSTRING { text = unsafe self.text(at: -1, of: thread) }
    unsafe imgflow_lua_pop(thread, 1)
    let isLimit =
      unsafe budget.pointee.ran_out_of_steps != 0 || budget.pointee.ran_out_of_time != 0
      || budget.pointee.ran_out_of_memory != 0
    if unsafe budget.pointee.ran_out_of_memory != 0 {
      text = "\(ScriptState.prefix) more than \(ByteCount(Int(unsafe budget.pointee.limit)).text) of memory"
    }
    return ScriptProblem(isLimit ? .limit : kind, placed(text))
  }

  /// A message with the script's name in the place of the chunk's.
  func placed(_ text: String) -> String {
    let named = text.replacing(ScriptState.prefix, with: name + ":")
    return named.hasPrefix(name + ":") ? named : "\(name): \(named)"
  }

  private static let chunk = "=\u{1}"
  private static let prefix = "\u{1}:"

  /// Keeps what is done with printed lines at one place of memory.
  private final class Printer: Sendable {
    let print: @Sendable (String) -> Void
    init(_ print: @escaping @Sendable (String) -> Void) { self.print = print }
  }
}

extension String {
  fileprivate func replacing(_ part: String, with other: String) -> String {
    var result = ""
    var rest = self[...]
    while let range = rest.firstRange(of: part) {
      result += rest[..<range.lowerBound] + other
      rest = rest[range.upperBound...]
    }
    return result + rest
  }
}
