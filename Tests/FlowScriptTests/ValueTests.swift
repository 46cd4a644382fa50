import FlowBase
import FlowScript
import Testing

/// Values on their way into scripts and back, and functions that give many.
@Suite struct ScriptValueTests {
  private func state(_ text: String) throws -> ScriptState { try ScriptState(Array(text.utf8), name: "v.lua") }

  @Test(
    arguments: [
      .null, true, false, 7, -1, 2.5, "", "a\u{0}b", "Grüße 🐈", [], [1, "two", [3]], ["a": 1, "b": ["c": true]],
      .int(.max), .int(.min), ["list": [["k": "v"], ["k": "w"]]],
    ] as [Value])
  func `A value comes back as it went in`(value: Value) throws {
    let script = try state("function same(v) return v end")
    #expect(try script.call("same", [value]) == [value])
  }

  @Test func `Whole numbers stay whole, and tables with gaps become maps`() throws {
    let script = try state("function f() return 1 // 1, 7 / 2 end function g() return { [3] = 'c', x = 1 } end")
    #expect(try script.call("f", [], results: 2) == [1, 3.5])
    #expect(try script.call("g", []) == [["3": "c", "x": 1]])
  }

  @Test func `What means nothing outside is refused`() throws {
    let script = try state("function f() return { call = print } end function g() return { [{}] = 1 } end")
    #expect(throws: ScriptProblem.self) { try script.call("f", []) }
    #expect(throws: ScriptProblem.self) { try script.call("g", []) }
    #expect(try script.call("f", [], results: 0) == [])
  }

  @Test func `A text that is no UTF-8 is mended`() throws {
    let script = try state("function f() return 'a\\255b' end")
    #expect(try script.call("f", []) == ["a\u{FFFD}b"])
  }

  @Test func `Printed lines are handed over`() throws {
    let lines = Guarded<[String]>([])
    _ = try ScriptState(Array("print('a', 1, nil, true)".utf8), name: "p.lua") { line in
      lines.withLock { $0.append(line) }
    }
    #expect(lines.withLock { $0 } == ["a 1 nil true"])
  }

  private func all(_ text: String, _ arguments: [Value] = []) throws -> [Value] {
    let sequence = try ScriptSequence(try state(text), "items", arguments)
    var values: [Value] = []
    while let value = try sequence.next() {
      values.append(value)
      if values.count > 1000 { break }
    }
    #expect(try sequence.next() == nil)
    return values
  }

  @Test(arguments: [
    "function items() return { 'a', 'b', 'c' } end",
    "function items() for _, v in ipairs({ 'a', 'b', 'c' }) do coroutine.yield(v) end end",
    "function items() return ipairs({ 'a', 'b', 'c' }) end",
    "function items() local n = 0 return function() n = n + 1 return ({ 'a', 'b', 'c' })[n] end end",
    "function items() coroutine.yield('a') return { 'b', 'c' } end",
    "function items() return coroutine.wrap(function() for c in ('abc'):gmatch('.') do coroutine.yield(c) end end) end",
  ])
  func `A list, an iterator and a coroutine give the same`(text: String) throws {
    #expect(try all(text) == ["a", "b", "c"])
  }

  @Test func `Nothing is computed before it is asked for`() throws {
    let script = try state("function items() local n = 0 while true do n = n + 1 coroutine.yield(n) end end")
    let sequence = try ScriptSequence(script, "items", [])
    #expect(try (0..<3).map { _ in try sequence.next() } == [1, 2, 3])
  }

  @Test func `Each value has the whole of the limit, and many values no limit together`() throws {
    let script = try ScriptState(
      Array("function items() for i = 1, 200 do for j = 1, 1000 do end coroutine.yield(i) end end".utf8), name: "m.lua",
      limits: ScriptLimits(steps: 20_000))
    let sequence = try ScriptSequence(script, "items", [])
    var count = 0
    while try sequence.next() != nil { count += 1 }
    #expect(count == 200)
  }

  @Test func `An error in the middle ends the values`() throws {
    let sequence = try ScriptSequence(
      try state("function items() coroutine.yield(1)\nerror('broken') end"), "items", [])
    #expect(try sequence.next() == 1)
    #expect(throws: ScriptProblem(.error, "v.lua:2: broken")) { try sequence.next() }
    #expect(try sequence.next() == nil)
    #expect(throws: ScriptProblem.self) { try all("function items() return 5 end") }
    #expect(try all("function items(ctx) return { ctx.n } end", [["n": 3]]) == [3])
  }
}
