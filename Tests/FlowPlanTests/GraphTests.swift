import FlowBase
import FlowPlan
import Testing

@Suite struct GraphTests {
  private func graph(_ text: String) throws -> PlanGraph {
    let reading = Reading(text) { inputs in
      inputs.environment = ["CDN_HOST": "cdn.example.com", "CDN_TOKEN": "t0ken"]
      inputs.readFile = { _ in "whsec_x\n" }
    }
    return PlanGraph(try #require(reading.plan, "\(reading.text)"))
  }

  @Test func `The large manifest fits 80 columns, wrapped at arrows`() throws {
    let text = try graph(LargeManifest.text).text()
    #expect(
      text == """
        urls     ─┐
        products ─┼─▶ fetch(7) ─▶ probe ─▶ filter ─▶ thumbs ×5 ─▶ store
        banners  ─┘
            ═▶ [category] sheet ═▶ [run] index (+ store) ═▶ publish?
        ─▶ per item   ═▶ barrier   ? conditional   ×n legs   (n) concurrency

        """)
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test func `Branches and joins begin rows of their own`() throws {
    let text = try graph(
      """
      imgflow: 1
      sources: [https://example.com/a.jpg]
      stages:
        - fetch
        - id: small
          resize: { width: 64 }
        - id: large
          resize: { width: 1024 }
          needs: fetch
        - id: both
          exec: [compare, "${from.small.path}", "${from.large.path}"]
          needs: [small, large]
        - store: "${item.key}.jpg"
          needs: small
          after: large
      """
    ).text()
    #expect(
      text == """
        urls ─▶ fetch ─▶ small ─▶ store (after large)
        fetch ─▶ large
        small + large ─▶ both
        ─▶ per item   ═▶ barrier

        """)
  }

  @Test func `Two sources share a bracket, and a gate is drawn as a barrier`() throws {
    let text = try graph(
      """
      imgflow: 1
      sources:
        - https://example.com/a.jpg
        - file: list.txt
      stages:
        - fetch
        - probe:
          after: fetch
      """
    ).text()
    #expect(text == "urls ─┐\nfile ─┴─▶ fetch ═▶ probe\n─▶ per item   ═▶ barrier\n")
  }

  @Test func `Mermaid, dot and JSON name the same edges`() throws {
    let graph = try graph(LargeManifest.text)
    #expect(graph.mermaid.contains("  stage_store ==> stage_sheet\n"))
    #expect(graph.mermaid.contains("  source_urls --> stage_fetch\n"))
    #expect(graph.dot.contains("  \"store\" -> \"sheet\" [style=bold];\n"))
    #expect(graph.json.hasPrefix("{\"format_version\":1,\"name\":\"catalog_images\",\"sources\":[{\"id\":\"urls\""))
    #expect(graph.json.contains("\"needs\":[\"store\",\"sheet\"]"))
  }
}
