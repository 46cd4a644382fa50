import FlowBase
import FlowScript
import Testing

/// What scripts may not do, and how they end that try.
@Suite struct SandboxTests {
  private func problem(_ text: String, limits: ScriptLimits = ScriptLimits()) -> ScriptProblem? {
    do throws(ScriptProblem) {
      let script = try ScriptState(Array(text.utf8), name: "rules.lua", limits: limits)
      if script.has("item") { _ = try script.call("item", []) }
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    "io", "os", "package", "debug", "load", "loadstring", "loadfile", "dofile", "require", "collectgarbage",
    "string.dump",
  ])
  func `What reaches files, programs, code or the state itself is not there`(name: String) {
    let text = "if \(name) ~= nil then error('it is there') end"
    #expect(problem(text) == nil)
    #expect(problem("if string.format == nil then error('it is not there') end") == nil)
  }

  @Test func `Compiled chunks are refused`() {
    #expect(problem("\u{1B}Lua")?.kind == .syntax)
  }

  @Test(
    .timeLimit(.minutes(1)),
    arguments: [
      "function item() while true do end end",
      "function item() while true do pcall(function() while true do end end) end end",
      "function item() while true do pcall(error) end end",
      "function item() local f = function() while true do end end while true do coroutine.resume(coroutine.create(f)) end end",
      "function item() local t = setmetatable({}, { __index = function(t, k) return t[k + 1] end }) return t[1] end",
      "function item() local t <close> = setmetatable({}, { __close = function() while true do end end }) error('x') end",
      "while true do end",
      "function item() while true do coroutine.wrap(function() local n = 0 for i = 1, 9 do n = n + i end end)() end end",
    ])
  func `A script without end is ended, also where it catches errors`(text: String) {
    let problem = problem(text, limits: ScriptLimits(steps: 1_000_000))
    #expect(problem?.kind == .limit || problem?.kind == .error, "\(String(describing: problem))")
    #expect(problem?.message.contains("rules.lua") == true)
  }

  @Test(
    .timeLimit(.minutes(1)),
    arguments: [
      "function item() local t = {} for i = 1, 1e9 do t[i] = tostring(i) .. 'xxxxxxxx' end end",
      "function item() return ('x'):rep(1 << 30) end",
      "function item() local s = 'x' while true do s = s .. s end end",
      "function item() local s = 'x' while true do pcall(function() s = s .. s end) end end",
    ])
  func `A script takes no more memory than it may`(text: String) {
    let problem = problem(text, limits: ScriptLimits(memory: 4 << 20, steps: 3_000_000))
    #expect(problem?.kind == .limit, "\(String(describing: problem))")
  }

  @Test func `A state is of use after an error`() throws {
    let script = try ScriptState(
      Array("function item(n) if n == 0 then error('zero') end return n * 2 end".utf8), name: "r.lua")
    #expect(throws: ScriptProblem.self) { try script.call("item", [0]) }
    #expect(try script.call("item", [4]) == [8])
    #expect(throws: ScriptProblem(.missing, "r.lua: there is no function `other`")) { try script.call("other", []) }
  }

  @Test func `Deep recursion is an error and no crash`() {
    #expect(problem("function item() return 1 + item() end") != nil)
    #expect(problem("function item() return ('x'):gsub('.', item) end") != nil)
    #expect(problem("local t = {} t.t = t function item() return t end")?.kind == .result)
  }

  @Test func `Finalizers are refused, since no limit would hold for them`() {
    let text = "setmetatable({}, { __gc = function() while true do end end })"
    #expect(problem(text)?.message == "rules.lua:1: `__gc` is not available to scripts")
    #expect(problem("local t = setmetatable({}, { __metatable = 1 }) setmetatable(t, {})") != nil)
  }

  @Test(arguments: [
    ("function item()\n  error('no good')\nend", "rules.lua:2: no good"),
    ("function item()\n  return nothing.at.all\nend", "rules.lua:2: attempt to index a nil value (global 'nothing')"),
    ("function item() error({ code = 3 }) end", nil),
    ("x = = 1", "rules.lua:1: unexpected symbol near '='"),
  ])
  func `Errors name the script and the line`(text: String, message: String?) {
    let found = problem(text)
    if let message {
      #expect(found?.message == message)
    } else {
      #expect(found?.message.hasPrefix("rules.lua") == true)
    }
  }
}
