import FlowBase
import FlowBuiltins
import FlowParts
import FlowTesting
import Testing

/// What a source gives that lies on a server.
private func items(_ part: SourcePart, _ config: [String: Value]) async throws -> [SourceItem] {
  let services = try ScratchServices()
  let entries = config.map { Config.Entry($0.key, .value($0.value)) }
  var reader = try await part.make().open(
    in: SourceContext(id: "s", config: Config(entries), folder: "/", services: services))
  var all: [SourceItem] = []
  while true {
    let batch = try await reader.next(upTo: 2)
    #expect(batch.count <= 2)
    if batch.isEmpty { return all }
    all += batch
  }
}

private func code(_ part: SourcePart, _ config: [String: Value]) async -> String? {
  do {
    _ = try await items(part, config)
    return nil
  } catch { return Fault(error).code }
}

private func urls(_ part: SourcePart, _ config: [String: Value]) async throws -> [String?] {
  try await items(part, config).map(\.url)
}

struct `The source sitemap` {
  private func server() throws -> LoopbackServer {
    try LoopbackServer { request in
      let root = "http://\(request.header("Host") ?? "")"
      switch request.path {
      case "/index.xml":
        return .ok(
          """
          <?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
          <sitemap><loc>\(root)/one.xml</loc><lastmod>2026-11-01</lastmod></sitemap>
          <sitemap><loc> \(root)/two.xml.gz </loc></sitemap><sitemap><loc>\(root)/index.xml</loc></sitemap>
          </sitemapindex>
          """, type: "application/xml")
      case "/one.xml":
        return .ok(
          """
          <urlset xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><url><loc>\(root)/a?x=1&amp;y=2</loc>
          <lastmod>2026-11-02</lastmod><image:image><image:loc>\(root)/a1.jpg</image:loc><image:caption>First</image:caption>
          </image:image><image:image><image:loc>/a2.png</image:loc></image:image></url><url><loc>\(root)/b</loc></url></urlset>
          """)
      case "/two.xml.gz":
        return .ok(LoopbackServer.Response.ok("<urlset><url><loc>\(root)/c.jpg</loc></url></urlset>").gzipped().bytes)
      case "/broken.xml": return .ok("<urlset><url><loc>\(root)/a</loc></url><url>")
      default: return .status(404)
      }
    }
  }

  @Test func `gives pages, through indexes and gzip, each sitemap once`() async throws {
    let server = try server()
    let found = try await items(SitemapSource.part, ["url": .string(server.url + "/index.xml")])
    #expect(found.map(\.url) == ["/a?x=1&y=2", "/b", "/c.jpg"].map { server.url + $0 })
    #expect(found.first?.row["lastmod"] == "2026-11-02")
    #expect(server.requests.map(\.path) == ["/index.xml", "/one.xml", "/two.xml.gz"])
  }

  @Test func `gives the images of pages where they are asked for`() async throws {
    let server = try server()
    let found = try await items(SitemapSource.part, ["url": .string(server.url + "/one.xml"), "images": true])
    #expect(found.map(\.url) == [server.url + "/a1.jpg", server.url + "/a2.png"])
    #expect(found.first?.row["caption"] == "First")
    #expect(found.first?.row["page"] == .string(server.url + "/a?x=1&y=2"))
  }

  @Test(arguments: [("*.jpg", ["/c.jpg"]), ("/[ab]", ["/a?x=1&y=2", "/b"]), ("nothing", [])])
  func `gives what matches`(pattern: String, paths: [String]) async throws {
    let server = try server()
    let config: [String: Value] = ["url": .string(server.url + "/index.xml"), "match": .string(pattern)]
    #expect(try await urls(SitemapSource.part, config) == paths.map { server.url + $0 })
  }

  @Test func `that is broken, missing, or has a wrong pattern says so`() async throws {
    let server = try server()
    #expect(await code(SitemapSource.part, ["url": .string(server.url + "/broken.xml")]) == "source.markup")
    #expect(await code(SitemapSource.part, ["url": .string(server.url + "/none.xml")]) == "http.404")
    #expect(
      await code(SitemapSource.part, ["url": .string(server.url + "/one.xml"), "match": "("]) == "config.pattern")
  }
}

struct `The source feed` {
  @Test func `gives what the entries of RSS enclose, show or point at`() async throws {
    let server = try LoopbackServer { _ in
      .ok(
        """
        <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:content="u"><channel><title>Photos</title>
        <image><url>logo.png</url></image>
        <item><title>One</title><link>/one</link><guid>g1</guid><enclosure url="/1.jpg" type="image/jpeg" length="3"/>
          <media:content url="/1.jpg"/><media:content url="/1b.jpg"/><media:thumbnail url="/t.jpg"/></item>
        <item><title>Two</title><content:encoded><![CDATA[<p>see <img src="2.jpg"></p>]]></content:encoded></item>
        <item><title>Three</title><link>/three</link><pubDate>Sat, 21 Nov 2026 00:00:00 GMT</pubDate></item>
        </channel></rss>
        """)
    }
    let found = try await items(FeedSource.part, ["url": .string(server.url + "/f/feed")])
    #expect(found.map(\.url) == ["/1.jpg", "/1b.jpg", "/f/2.jpg", "/three"].map { server.url + $0 })
    #expect(found.first?.row["title"] == "One" && found.first?.row["link"] == .string(server.url + "/one"))
    #expect(found.last?.row["date"] == "Sat, 21 Nov 2026 00:00:00 GMT")
  }

  @Test func `gives those of Atom`() async throws {
    let server = try LoopbackServer { _ in
      .ok(
        """
        <feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><link href="/"/>
        <entry><id>1</id><title>A</title><link rel="alternate" href="/a"/><link rel="enclosure" href="/a.png"/>
        <updated>2026-11-21</updated><author><name>Ann</name></author></entry>
        <entry><id>2</id><link href="/b"/><content type="html">&lt;img src="/b.gif"&gt;</content></entry></feed>
        """)
    }
    let found = try await items(FeedSource.part, ["url": .string(server.url)])
    #expect(found.map(\.url) == [server.url + "/a.png", server.url + "/b.gif"])
    #expect(found.first?.row["name"] == "Ann" && found.first?.row["date"] == "2026-11-21")
    #expect(try await urls(FeedSource.part, ["url": .string(server.url), "match": "*.gif"]) == [server.url + "/b.gif"])
  }
}

struct `The source page` {
  private let html = """
    <base href="/base/"><img src="a.jpg" alt="A"><img src="a.jpg"><img data-src="/b.jpg" src="data:image/gif;base64,AA">
    <img srcset="c-1.jpg 100w, c-2.jpg 800w, c-3.jpg 400w" src="c.jpg"><img src="d,1.jpg">
    <a href="e.pdf">the  file</a><a href="mailto:x@example.com">mail</a><picture><source srcset="f.webp 2x, f1.webp"></picture>
    """

  @Test func `gives each image once, the largest of its sizes`() async throws {
    let server = try LoopbackServer { [html] _ in .ok(html, type: "text/html; charset=utf-8") }
    let found = try await items(PageSource.part, ["url": .string(server.url + "/x/page.html")])
    #expect(
      found.map(\.url) == ["/base/a.jpg", "/b.jpg", "/base/c-2.jpg", "/base/d,1.jpg"].map { server.url + $0 })
    #expect(found.first?.row["alt"] == "A" && found.first?.row["page"] == .string(server.url + "/x/page.html"))
  }

  @Test func `gives the largest of sizes that stand without spaces`() async throws {
    let html = """
      <img srcset="s.jpg 480w,m.jpg 800w,l.jpg 1200w"><img srcset="a,b.jpg 1x,c.jpg 2x, d.jpg">
      <img srcset=",e.jpg 3x,"><img srcset="f.jpg,g.jpg 2x"><img srcset="h.jpg 100w 50h, i.jpg 200w 80h">
      """
    let server = try LoopbackServer { _ in .ok(html, type: "text/html") }
    let found = try await items(PageSource.part, ["url": .string(server.url + "/")])
    #expect(found.map(\.url) == ["/l.jpg", "/c.jpg", "/e.jpg", "/f.jpg,g.jpg", "/i.jpg"].map { server.url + $0 })
  }

  @Test func `gives what a selector and an attribute name`() async throws {
    let server = try LoopbackServer { [html] _ in .ok(html) }
    let links = try await items(PageSource.part, ["url": .string(server.url), "selector": "a"])
    #expect(links.map(\.url) == [server.url + "/base/e.pdf"] && links.first?.row["text"] == "the file")
    #expect(
      try await urls(PageSource.part, ["url": .string(server.url), "selector": "source"]) == [
        server.url + "/base/f.webp"
      ])
    let plain: [String: Value] = ["url": .string(server.url), "selector": "img[srcset]", "attribute": "src"]
    #expect(try await urls(PageSource.part, plain) == [server.url + "/base/c.jpg"])
    #expect(await code(PageSource.part, ["url": .string(server.url), "selector": "a["]) == "config.selector")
  }

  @Test func `is asked for again where its server fails at first`() async throws {
    let server = try LoopbackServer { [html] request in request.attempt == 1 ? .hangUp : .ok(html) }
    #expect(try await urls(PageSource.part, ["url": .string(server.url)]).count == 4)
    #expect(server.requests.count == 2)
  }
}

struct `The source file on a server` {
  @Test func `is fetched, unpacked and read like any other`() async throws {
    let table = LoopbackServer.Response.ok("url,n\nhttp://a.example/1,1\nhttp://a.example/2,2\n").gzipped().bytes
    let server = try LoopbackServer { $0.path == "/list.csv.gz" ? .ok(table) : .ok("http://a.example/3\n") }
    let rows = try await items(
      FileSource.part, ["path": .string(server.url + "/list.csv.gz?token=x"), "types": .map(["n": "integer"])])
    #expect(rows.map(\.url) == ["http://a.example/1", "http://a.example/2"] && rows.last?.row["n"] == 2)
    #expect(
      try await urls(FileSource.part, ["path": .string(server.url + "/list"), "format": "txt"]) == [
        "http://a.example/3"
      ])
    #expect(await code(FileSource.part, ["path": .string(server.url + "/list.bin")]) == "source.format")
  }

  @Test func `is not fetched where nobody is to be asked`() async throws {
    let source = FileSource.part.make()
    let context = SourceContext(
      id: "s", config: Config([Config.Entry("path", .value("http://127.0.0.1:9/a.csv"))]), folder: "/")
    await #expect(throws: Fault.self) { _ = try await source.open(in: context) }
  }
}
