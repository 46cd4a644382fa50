import FlowBase
import FlowExpressions
import Testing

@Suite struct Templates {
  @Test(
    arguments: [
      ("plain", "plain"), ("", ""), ("$${item.key}", "${item.key}"), ("$ {a} $", "$ {a} $"), ("$$${x}", "$${x}"),
      ("${item.width}", 640), ("${item.width}px", "640px"), ("a${item.nothing}b", "ab"), ("${item.nothing}", nil),
      ("${item.width}x${item.height}", "640x480"), ("${'}'}!", "}!"), ("${vars.sizes}", [64, 256]),
      ("<${vars.sizes}>", "<[64,256]>"),
    ] as [(String, Value)])
  func `evaluates`(_ text: String, _ expected: Value) throws {
    let template = try Template(parsing: text)
    #expect(try template.evaluate(in: sample) == expected)
    #expect(try template.text(in: sample) == expected.text)
    #expect(try template.folded(in: sample).constant == expected)
  }

  @Test(arguments: [
    ("${item.url}", "https://Example.com/dir/My%20File.tar.GZ?x=1#f"),
    ("${vars.base}/a/${item.key}", "https://h.example/p/a/a%20b%2Fc"),
    ("https://${item.media}/x", "https://image/png/x"),
    ("https://h/${item.key}?q=${item.key}&r=${'a&b=c+d'}", "https://h/a%20b%2Fc?q=a%20b/c&r=a%26b%3Dc%2Bd"),
    ("https://h/${item.key | raw}", "https://h/a b/c"), ("https://h/${'logo@2x.png'}", "https://h/logo@2x.png"),
    ("https://h/${'50%'}", "https://h/50%25"), ("https://h/${'?x' | raw}=${'a/b?'}", "https://h/?x=a/b?"),
  ])
  func `encodes values for their place in a URL`(_ text: String, _ expected: String) throws {
    let template = try Template(parsing: text, style: .url)
    #expect(try template.text(in: sample) == expected)
    #expect(try template.folded(in: sample).text(in: EmptyScope()) == expected)
  }

  @Test(arguments: [
    ("out/${item.key}.jpg", "out/a bc.jpg"), ("${row.sku}", "é 1"), ("${row.sku | path}", "_/é 1"),
    ("a/../${item.width}", "a/../640"), ("a/${'..'}/b", "a/_/b"), ("a/${item.nothing}/b", "a/_/b"),
    ("a/x${item.nothing}/b", "a/x/b"), ("${item.url | path}", "dir/My File.tar.GZ"), ("${'a\\\\b\\nc'}", "abc"),
  ])
  func `makes values safe in a path`(_ text: String, _ expected: String) throws {
    let template = try Template(parsing: text, style: .path)
    #expect(try template.evaluate(in: sample) == .string(expected))
    #expect(try template.folded(in: sample).constant == .string(expected))
  }

  @Test func `values in a path are cut on a character boundary so that the segment fits`() throws {
    let scope = MapScope(fields: [.item: ["key": .string(String(repeating: "é", count: 200))]])
    #expect(try Template(parsing: "${item.key}", style: .path).text(in: scope).utf8.count == 254)
    let text = try Template(parsing: "d/${item.key}.webp/x", style: .path).text(in: scope)
    #expect(text.utf8.count == 2 + 255 + 2)
    #expect(text.hasSuffix("é.webp/x"))
  }

  @Test func `a folded template keeps the names that are not known yet`() throws {
    let scope = MapScope(fields: [.vars: ["base": "https://h", "s": "a b"]])
    let folded = try Template(parsing: "${vars.base}/${vars.s}/${row.x}/${vars.s}", style: .url).folded(in: scope)
    #expect(folded.references.map(\.text) == ["row.x"])
    #expect(folded.constant == nil)
    #expect(try folded.text(in: MapScope(fields: [.row: ["x": "é"]])) == "https://h/a%20b/%C3%A9/a%20b")
    let late = try Template(parsing: "${row.base}/${vars.s}", style: .url).folded(in: scope)
    #expect(try late.text(in: MapScope(fields: [.row: ["base": "https://r?q=1"]])) == "https://r?q=1/a%20b")
  }
}
