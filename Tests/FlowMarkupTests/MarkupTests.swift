import FlowBase
import FlowMarkup
import FlowRecords
import Testing

private func pieces(_ text: String) throws(Fault) -> [XMLStream.Piece] {
  let stream = try XMLStream(ByteSources.memory(Array(text.utf8)))
  var pieces: [XMLStream.Piece] = []
  while let piece = try stream.next() { pieces.append(piece) }
  return pieces
}

private func code(_ body: () throws(Fault) -> Void) -> String? {
  do throws(Fault) {
    try body()
    return nil
  } catch { return error.code }
}

struct `XML` {
  @Test func `comes piece by piece, without prefixes, with ends of empty elements`() throws {
    #expect(
      try pieces("<?xml version='1.0'?><a xmlns:x='u'><x:b>1 &amp; 2</x:b><c/><![CDATA[<d>]]></a>") == [
        .start("a"), .start("b"), .text("1 & 2"), .end("b"), .start("c"), .end("c"), .text("<d>"), .end("a"),
      ])
  }

  @Test func `has attributes`() throws {
    let stream = try XMLStream(ByteSources.memory(Array("<a href='x' b=\"y\"/>".utf8)))
    #expect(try stream.next() == .start("a"))
    #expect(stream.attribute("href") == "x" && stream.attribute("b") == "y" && stream.attribute("c") == nil)
  }

  @Test func `that is none says where`() {
    #expect(code { () throws(Fault) in _ = try pieces("<a><b></a>") } == "source.markup")
    #expect(code { () throws(Fault) in _ = try pieces("no xml") } == "source.markup")
    #expect(code { () throws(Fault) in _ = try pieces("") } == "source.markup")
  }

  @Test func `puts in no files and no bombs`() throws {
    let file = "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/hostname'>]><a>&x;</a>"
    #expect(try pieces(file) == [.start("a"), .end("a")])
    var bomb = "<!DOCTYPE a [<!ENTITY e0 'boom'>"
    for level in 1...12 {
      bomb += "<!ENTITY e\(level) '\(String(repeating: "&e\(level - 1);", count: 10))'>"
    }
    bomb += "]><a>&e12;</a>"
    let outcome = code { () throws(Fault) in #expect(try !pieces(bomb).contains { "\($0)".contains("boom") }) }
    #expect(outcome == nil || outcome == "source.markup")
  }

  @Test func `of any length takes no more memory`() throws {
    final class Endless: ByteSource {
      let name = "endless"
      var left = 200_000
      func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int {
        if left < 0 { return 0 }
        left -= 1
        let text = left == 199_999 ? "<a>" : left < 0 ? "</a>" : "<b>text</b>"
        unsafe buffer.copyBytes(from: text.utf8)
        return text.utf8.count
      }
    }
    let stream = try XMLStream(Endless())
    var count = 0
    while let piece = try stream.next() { if piece == .start("b") { count += 1 } }
    #expect(count == 199_999)
  }
}

struct `A page of HTML` {
  private let page = """
    <html><head><base href="x"><title>t</title>
    <body><div id=main class="wide gallery">
      <p><img src=a.jpg alt="A">text<img data-src='b.jpg'></p>
      <a href="c.jpg" class="photo big">C</a><a href="d.png" lang="de-AT">D</a>
      <ul><li>one<li class=two>two<li>three</ul>
    </div><img src=e.jpg><p>it's<span title="it's">x</span>
    """

  private func found(_ selector: String, _ attribute: String = "src") throws -> [String] {
    try HTMLPage(Array(page.utf8)).elements(Selector(selector), attributes: [attribute])
      .map { $0.attributes[attribute] ?? $0.text }
  }

  @Test(arguments: [
    ("img", ["a.jpg", "", "e.jpg"]), ("#main img", ["a.jpg", ""]), ("div.gallery.wide > p > img[src]", ["a.jpg"]),
    ("body > img", ["e.jpg"]), ("IMG[alt=A]", ["a.jpg"]), ("img:not([src])", [""]),
    ("img[src^=e], img[alt]", ["a.jpg", "e.jpg"]),
    ("p img:first-child", ["a.jpg"]), ("li.two + li", ["three"]), ("li ~ li", ["two", "three"]),
    ("li:nth-child(2)", ["two"]), ("li:last-child", ["three"]), ("span[title=\"it's\"]", ["x"]),
    ("*#main > a:not(.photo)", ["D"]),
    ("a[lang|=de]", ["D"]), ("a[class~='big']", ["C"]), ("a[href$='.jpg']", ["C"]), ("a[href*='.p']", ["D"]),
    ("table", []),
  ])
  func `is searched by selectors`(selector: String, texts: [String]) throws {
    #expect(try found(selector) == texts)
  }

  @Test(arguments: [
    "", ">", "a >", "a[", "a[b", "a[b=", "a[b='c]", "a[b%=c]", ".", "#", "a:hover", "a:not(", "a)", "a:nth-child(x)",
    "a{}",
  ])
  func `is not searched by what is no selector`(selector: String) {
    #expect(code { () throws(Fault) in _ = try Selector(selector) } == "config.selector")
  }

  @Test func `that is hardly one is read all the same`() throws {
    let broken = try HTMLPage(Array("<img src=1.jpg <<a href=><img src='2.jpg'></table>&#xFFFFFFF;".utf8))
    #expect(try broken.elements(Selector("img"), attributes: ["src"]).last?.attributes["src"] == "2.jpg")
    let german = try HTMLPage([0x3c, 0x70, 0x3e, 0xfc], encoding: "iso-8859-1")
    #expect(try german.elements(Selector("p"), attributes: []).first?.text == "ü")
    let utf8 = try HTMLPage(Array("<p>ü".utf8), encoding: "utf-8")
    #expect(try utf8.elements(Selector("p"), attributes: []).first?.text == "ü")
    #expect(
      try HTMLPage(Array("<p>x".utf8), encoding: "no-such-one").elements(Selector("p"), attributes: []).count == 1)
  }
}
