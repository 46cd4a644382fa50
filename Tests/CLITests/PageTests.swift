import FlowBase
import FlowEvents
import FlowTesting
import Testing

/// A browser without a window, where this machine has one.
enum BrowserProgram {
  static let isThere =
    ["chromium", "chromium-browser", "google-chrome"].contains { SmallFiles.exists("/usr/bin/\($0)") }
    && SmallFiles.exists("/usr/bin/python3")
  static let absence: Comment = "there is no chromium and Python 3 here; `tools/bootstrap browser` installs them"

  /// Tries one thing in the browser.
  static func start(_ scenario: String, _ address: String, in work: Workplace) throws -> ToolRun {
    var tool = work.tool
    tool.program = ["/usr/bin/python3", PathText.currentFolder + "/Tests/Fixtures/python/try_page.py"]
    return try tool.start([address, scenario])
  }
}

/// The live page, served by the real program.
@Suite(.serialized) struct PageTests {
  /// Where a run says that its page is.
  private func address(_ run: ToolRun) async throws -> String {
    let line = try #require(await run.errors.line { $0.contains("the live page is at http://127.0.0.1:") })
    return String(line[try #require(line.firstRange(of: "http://")).lowerBound...])
  }

  /// Asks a page.
  private func ask(
    _ address: String, _ path: String, method: String = "GET", body: String = ""
  ) async throws -> Visitor.Answer {
    let parts = address.dropFirst("http://127.0.0.1:".count).split(separator: "/?token=")
    let port = try #require(Int(parts[0]))
    return try await Visitor.ask(
      port,
      "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(parts[1])\r\n"
        + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
  }

  /// A run whose answers the latch holds.
  private func held(_ count: Int, by latch: Latch) throws -> Workplace {
    let work = try Workplace { request in
      latch.hold()
      return .ok(Workplace.body(request.path))
    }
    try work.manifest((0..<count).map { "/slow/\($0)" }, "limits: { connections: 1 }")
    return work
  }

  @Test func `a run shows itself and is steered from its page, and ends as if it had none`() async throws {
    let latch = Latch()
    let work = try held(3, by: latch)
    let run = try work.tool.start(["run", "m.yaml", "--page"])
    let page = try await address(run)
    _ = await run.output.line { $0.contains("\"item.start\"") }
    #expect(try await ask(page, "/api/run").json?["state"]?.asString == "active")
    let pause = try await ask(
      page, "/api/control", method: "POST", body: "{\"verb\":\"pause\",\"scope\":{\"stage\":\"fetch\"}}")
    #expect(pause.status == 200, "\(pause.text)")
    #expect(try await ask(page, "/api/run").json?["held"]?.asList?.map(\.text) == ["stage:fetch"])
    let set = try await ask(
      page, "/api/control", method: "POST", body: "{\"verb\":\"set\",\"key\":\"connections\",\"value\":\"2\"}")
    #expect(set.status == 200, "\(set.text)")
    let refused = try await ask(page, "/api/control", method: "POST", body: "{\"verb\":\"resume\"}")
    #expect(refused.status == 409 && refused.json?["code"]?.asString == "control.refused")
    latch.release(10)
    let resume = try await ask(
      page, "/api/control", method: "POST", body: "{\"verb\":\"resume\",\"scope\":{\"stage\":\"fetch\"}}")
    #expect(resume.status == 200)
    let end = await run.end()
    expectEnd(end, 0)
    #expect(end.stream.all("control").map { $0["by"]?.asString } == ["page", "page", "page", "page"])
    #expect(end.stream.all("control").map { $0["accepted"]?.asBool } == [true, true, false, true])
    #expect(!end.output.contains(page.split(separator: "=").last.map(String.init) ?? "?"))
  }

  @Test func `a signal that comes as soon as the page's address is told ends the run as one`() async throws {
    let work = try Workplace()
    try work.manifest(["/small/a"])
    for _ in 0..<5 {
      let run = try work.tool.start(["run", "m.yaml", "--page-hold"])
      _ = try await address(run)
      run.signal(2)
      expectEnd(await run.end(), 130)
    }
  }

  @Test func `a held run begins with the first tap, and a signal without one ends it`() async throws {
    let work = try Workplace()
    try work.manifest(["/small/a"])
    let run = try work.tool.start(["run", "m.yaml", "--page-hold"])
    let page = try await address(run)
    #expect(try await ask(page, "/api/run").json?["state"]?.asString == "idle")
    #expect(run.output.text == "" && work.files().isEmpty)
    run.signal(2)
    let end = await run.end()
    expectEnd(end, 130)
    let again = try work.tool.start(["run", "m.yaml", "--page-hold"])
    let second = try await address(again)
    #expect(try await ask(second, "/api/control", method: "POST", body: "{\"verb\":\"start\"}").status == 200)
    let first = try #require(await again.output.line { $0.contains("\"run.end\"") })
    let run1 = try #require(try JSONReader.read(Array(first.utf8)).asMap?["run"]?.asString)
    _ = await again.errors.line { $0.contains("the page stays") }
    #expect(try await ask(second, "/api/run").json?["state"]?.asString == "done")
    #expect(try await ask(second, "/api/control", method: "POST", body: "{\"verb\":\"start\"}").status == 200)
    _ = await again.output.line { $0.contains("\"run.end\"") && !$0.contains(run1) }
    again.signal(15)
    let last = await again.end()
    #expect(last.code == 0, "\(last.errors)")
    let moves = Stream(last.output).all("run.state").compactMap { $0["by"]?.asString }
    #expect(moves.filter { $0 == "page" }.count == 2)
    #expect(work.files() == ["small-a.bin"])
  }

  @Test func `a run that goes opens a page when it is asked to, and shows what came before`() async throws {
    let latch = Latch()
    let work = try held(4, by: latch)
    let run = try work.tool.start(["run", "m.yaml"])
    latch.release(2)
    _ = await run.output.line { $0.contains("\"item.end\"") }
    let asked = try await work.tool.run("page", "last", "--json")
    #expect(asked.code == 0, "\(asked.errors)")
    let answer = try #require(try JSONReader.read(Array(asked.output.utf8)).asMap)
    #expect(answer["under_way"]?.asBool == true)
    let page = try #require(answer["address"]?.asString)
    let items = try await ask(page, "/api/items").json?["items"]?.asList?.compactMap { $0.asMap?["state"]?.asString }
    #expect(items?.contains("ok") == true, "\(items ?? [])")
    #expect(try await work.tool.run("page").output == page + "\n")
    #expect(try await ask(page, "/api/control", method: "POST", body: "{\"verb\":\"cancel\"}").status == 200)
    latch.release(10)
    let end = await run.end()
    #expect(end.code == 130)
    #expect(end.stream.problems == [])
  }

  @Test func `a run that is over is shown from the journal`() async throws {
    let work = try Workplace(["/gone": [.status(404)]])
    try work.manifest(["/small/a", "/small/b", "/gone"])
    #expect(try await work.tool.run("run", "m.yaml").code == 1)
    let run = try work.tool.start(["page", "m.yaml"])
    let page = try #require(await run.output.line { $0.hasPrefix("http://127.0.0.1:") })
    let told = try await ask(page, "/api/run").json
    #expect(told?["state"]?.asString == "done" && told?["result"]?.asString == "failure")
    #expect(told?["items"]?.asMap?["ok"]?.asInt == 2 && told?["items"]?.asMap?["failed"]?.asInt == 1)
    #expect(told?["failures"]?.asList?.first?.asMap?["code"]?.asString == "http.404")
    let item = try await ask(page, "/api/item/urls/gone").json
    #expect(item?["advice"]?.asString?.isEmpty == false)
    let refused = try await ask(page, "/api/control", method: "POST", body: "{\"verb\":\"pause\"}")
    #expect(refused.status == 409)
    run.signal(2)
    #expect(await run.end().code == 0)
  }

  @Test func `a manifest may ask for the page, and a place that cannot be had costs the page alone`() async throws {
    let latch = Latch()
    let work = try held(1, by: latch)
    try work.manifest(["/slow/0"], more: "sinks:\n  - page: { listen: \"127.0.0.1:0\" }")
    let run = try work.tool.start(["run", "m.yaml"])
    let page = try await address(run)
    #expect(try await ask(page, "/api/run").status == 200)
    latch.release(5)
    expectEnd(await run.end(), 0)
    try work.manifest(["/slow/1"], more: "sinks:\n  - page: \"203.0.113.1:1\"")
    let other = try await work.tool.run("run", "m.yaml")
    #expect(other.code == 0 && other.stream.all("sink.error").count == 1, "\(other.errors)")
    let wrong = try await work.tool.run("run", "m.yaml", "--page-listen", "nowhere")
    #expect(wrong.code == 2 && wrong.errors.contains("127.0.0.1:8080"))
  }

  // MARK: In a browser

  @Test(.enabled(if: BrowserProgram.isThere, BrowserProgram.absence))
  func `the ring makes every move of its table, by click, double click and keys`() async throws {
    let latch = Latch()
    let work = try held(3, by: latch)
    let run = try work.tool.start(["run", "m.yaml", "--page-hold"])
    let tried = await (try BrowserProgram.start("moves", try await address(run), in: work)).end(within: .seconds(120))
    #expect(tried.code == 0, "\(tried.output)\(tried.errors)")
    run.signal(2)
    _ = await run.output.line { $0.contains("\"draining\"") }
    latch.release(20)
    let end = await run.end()
    #expect(end.code == 130, "\(end.errors)")
    let moves = Stream(end.output).all("run.state").compactMap { $0["to"]?.asString }
    #expect(moves.filter { $0 == "paused" }.count == 2 && moves.filter { $0 == "done" }.count == 2, "\(moves)")
  }

  @Test(.enabled(if: BrowserProgram.isThere, BrowserProgram.absence))
  func `items are seen from their bar to their picture, found, and looked into`() async throws {
    let nasty = "<img src=x onerror=window.hacked=1>"
    let photo = Painter.photo("one")
    let work = try Workplace { request in
      if request.path == "/old.png" { return .redirect(to: "/first.png") }
      return request.path == "/gone"
        ? .status(404) : .ok(photo, type: "image/png").dripping(photo.count / 20, every: .milliseconds(200))
    }
    try work.write(
      "m.yaml",
      """
      imgflow: 1
      name: "<b>hostile</b>"
      output: { dir: ./out }
      sources:
        - urls:
            - { url: "\(work.server.url)/first.png", key: first }
            - { url: "\(work.server.url)/old.png", key: second }
            - { url: "\(work.server.url)/gone", key: gone }
            - { url: "\(work.server.url)/nasty.png", key: "\(nasty)" }
      stages:
        - fetch
        - store: "${item.index}.png"
      """)
    let run = try work.tool.start(["run", "m.yaml", "--page-hold"])
    let tried = await (try BrowserProgram.start("items", try await address(run), in: work)).end(within: .seconds(120))
    #expect(tried.code == 0, "\(tried.output)\(tried.errors)")
    run.signal(2)
    _ = await run.end()
  }

  @Test(.enabled(if: BrowserProgram.isThere, BrowserProgram.absence))
  func `a page that loses its run for a while says so, and misses nothing when it is back`() async throws {
    let latch = Latch()
    let work = try held(6, by: latch)
    let run = try work.tool.start(["run", "m.yaml", "--page"])
    latch.release(1)
    let browser = try BrowserProgram.start("back", try await address(run), in: work)
    // What ends while the wire is cut is seen afterwards; the last item keeps the run going.
    if await browser.output.line(where: { $0 == "cut" }) != nil { latch.release(4) }
    let tried = await browser.end(within: .seconds(120))
    #expect(tried.code == 0, "\(tried.output)\(tried.errors)")
    latch.release(10)
    expectEnd(await run.end(), 0)
  }
}
