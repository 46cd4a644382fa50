import FlowBase
import Testing

/// Calls with patterns, and what the language's manual says that they give.
enum PatternSamples {
  struct Sample: Sendable, CustomTestStringConvertible {
    var code: String
    var result: [Value]
    var testDescription: String { code }
  }

  private static func of(_ code: String, _ result: Value...) -> Sample { Sample(code: code, result: result) }

  static let all: [Sample] = [
    of("('hello world'):find('wor')", 7, 9), of("('hello'):find('l', 4)", 4, 4), of("('hello'):find('l', -1) or 0", 0),
    of("('hello'):find('') ", 1, 0), of("('hello'):find('', 6)", 6, 5), of("('hello'):find('', 7) or 'no'", "no"),
    of("('a.b'):find('.', 1, true)", 2, 2), of("('a+b'):find('+', 1, true)", 2, 2), of("('abc'):find('b()')", 2, 2, 3),
    of("('key = value'):match('^(%w+)%s*=%s*(%w+)$')", "key", "value"), of("('abc'):match('^b') or 'no'", "no"),
    of("('2026-11-21'):match('(%d+)-(%d+)-(%d+)')", "2026", "11", "21"), of("('abc'):match('.-')", ""),
    of("('abc'):match('a(.*)c')", "b"), of("('aaa'):match('a-$')", "aaa"), of("('[x]'):match('[]]')", "]"),
    of("('a-b'):match('[a-]+')", "a-"), of("('x^y'):match('[%^y]+')", "^y"), of("('x9'):match('[^%d]')", "x"),
    of("('THE (quick) fox'):find('%((%a+)%)')", 5, 11, "quick"), of("('f(a(b)c)d'):match('%b()')", "(a(b)c)"),
    of("('THE quick'):gsub('%f[%a]%a+', 'w')", "w w", 2), of("('hello'):gsub('', '-')", "-h-e-l-l-o-", 6),
    of("('hello world'):gsub('o', '0', 1)", "hell0 world", 1), of("('abc'):gsub('%w', '%0%0')", "aabbcc", 3),
    of("('abc'):gsub('(a)(b)', '%2%1')", "bac", 1), of("('50%'):gsub('%%', '%%%%')", "50%%", 1),
    of("('$name is $age'):gsub('%$(%w+)', { name = 'x' })", "x is $age", 2),
    of("('abc'):gsub('%w', function(c) if c == 'b' then return c:upper() end end)", "aBc", 3),
    of("('abc'):gsub('^a', 'x')", "xbc", 1), of("('aaa'):gsub('^a', 'x')", "xaa", 1),
    of("('abc'):gsub('z', 'x')", "abc", 0),
    of("('xyxy'):match('(x)(y)%1%2')", "x", "y"), of("('\\0a\\0'):find('%z') or 'no'", "no"),
    of("('a\\0b'):find('\\0')", 2, 2), of("#('a\\0b'):match('.+')", 3), of("('ab12'):match('%a+', 2)", "b"),
    of(
      "(function() local r = {} for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do r[#r + 1] = k .. v end return r[1], r[2] end)()",
      "a1", "b2"),
    of("(function() local n = 0 for _ in ('abc'):gmatch('') do n = n + 1 end return n end)()", 4),
    of("(function() local r = '' for w in ('one two'):gmatch('%a+', 4) do r = r .. w end return r end)()", "two"),
    of("table.concat({ 1, 2, 3 }, '-')", "1-2-3"), of("table.concat({ 1, 2, 3 }, '-', 2, 3)", "2-3"),
    of("table.unpack(table.move({ 1, 2, 3 }, 1, 3, 2))", 1, 1, 2, 3),
    of(
      "(function() local t = { 3, 1, 2 } table.sort(t) table.insert(t, 4) table.insert(t, 1, 0) table.remove(t) table.remove(t, 1) return table.unpack(t) end)()",
      1, 2, 3),
  ]
}
