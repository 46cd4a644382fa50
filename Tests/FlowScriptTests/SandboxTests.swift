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
      "return ('a'):rep(200):find('.-.-.-.-.-.-.-.-b')",
      "return ('a'):rep(200):match('a*a*a*a*a*a*a*b')",
      "return ('a'):rep(200):gsub('.-.-.-.-.-.-.-b', '')",
      "for _ in ('a'):rep(200):gmatch('.-.-.-.-.-.-.-b') do end",
      "local ok = pcall(string.find, ('a'):rep(200), '.-.-.-.-.-.-.-.-b') return ok",
      "return table.move({}, 1, 1 << 60, 2)",
      "return table.insert(setmetatable({}, { __len = function() return 1 << 60 end }), 1, 'x')",
      "return table.remove(setmetatable({}, { __len = function() return 1 << 60 end }), 1)",
      "local s = ('x'):rep(1 << 20) for i = 1, 1e6 do local t = s .. i end",
      "local s = ('x'):rep(1 << 20) for i = 1, 1e6 do s:upper() end",
    ])
  func `What one instruction sets going counts as what it does`(body: String) {
    let problem = problem("function item() \(body) end")
    #expect(problem?.kind == .limit, "\(String(describing: problem))")
  }

  @Test(.timeLimit(.minutes(1))) func `A call takes no longer than it may, whatever it does`() {
    // Comparing costs time and neither memory nor instructions.
    let text = """
      local a, b = ('x'):rep(1 << 22) .. 'a', ('x'):rep(1 << 22) .. 'b'
      function item() while a ~= b do end end
      """
    let limits = ScriptLimits(steps: 1 << 60, time: .seconds(1))
    #expect(problem(text, limits: limits)?.message == "rules.lua: more than 1 s")
  }

  @Test(arguments: PatternSamples.all)
  func `Patterns mean what the language says`(sample: PatternSamples.Sample) throws {
    let script = try ScriptState(Array("function item() return { \(sample.code) } end".utf8), name: "p.lua")
    #expect(try script.call("item", []).first == .list(sample.result))
  }

  @Test(arguments: [
    ("('x'):find('%')", "malformed pattern (ends with '%')"), ("('x'):find('[a')", "malformed pattern (missing ']')"),
    ("('x'):find('(x')", "unfinished capture"), ("('x'):match('x)')", "invalid pattern capture"),
    ("('x'):find('%1')", "invalid capture index %1"), ("('x'):gsub('x', '%2')", "invalid capture index %2"),
    ("('x'):gsub('x', '%a')", "invalid use of '%' in replacement string"),
    ("('x'):find('%f')", "missing '[' after '%f' in pattern"),
    ("('x'):find('%b')", "malformed pattern (missing arguments to '%b')"),
    ("('x'):gsub('x', function() return {} end)", "invalid replacement value (a table)"),
    ("('x'):gsub('x', true)", "bad argument #2 to 'gsub' (string/function/table expected, got boolean)"),
    ("('x'):rep(300):find(('x?'):rep(300) .. ('x'):rep(300))", "pattern too complex"),
  ])
  func `Patterns that are none are told of`(code: String, message: String) {
    #expect(problem("function item() \(code) end")?.message.contains(message) == true)
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
