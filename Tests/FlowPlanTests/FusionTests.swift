import FlowPlan
import Testing

/// Which neighbouring stages run as one pass.
@Suite struct FusionTests {
  private func graph(_ stages: String) throws -> PlanGraph {
    let reading = Reading("imgflow: 1\nsources: [https://example.com/a.jpg]\nstages:\n" + stages)
    return PlanGraph(try #require(reading.plan, "\(reading.text)"))
  }

  private static let chain = """
      - fetch
      - { id: a, resize: { width: 9 } }
      - { id: b, resize: { width: 8 } }
      - { id: c, resize: { width: 7 } }
      - store

    """

  @Test func `Neighbours of one kind are one pass, drawn in brackets`() throws {
    let graph = try graph(FusionTests.chain)
    #expect(graph.passes == [["a", "b", "c"]])
    #expect(graph.stages.map(\.isFused) == [false, true, true, false, false])
    #expect(
      graph.text() == """
        urls ─▶ fetch ─▶ [a → b → c] ─▶ store
        ─▶ per item   [a → b] one pass

        """)
  }

  @Test func `Branches share what is before them`() throws {
    let graph = try graph(
      """
        - fetch
        - { id: a, resize: { width: 9 } }
        - { id: b, resize: { width: 8 } }
        - { id: c, resize: { width: 7 }, needs: a }
        - { store: "x.png", needs: b }
        - { id: other, store: "y.png", needs: c }

      """)
    #expect(graph.passes == [["a", "b"], ["a", "c"]])
    #expect(
      graph.text() == """
        urls ─▶ fetch ─▶ [a → b] ─▶ store
        [a → c] ─▶ other
        ─▶ per item   [a → b] one pass

        """)
  }

  /// A change of the chain `a b c`, and the passes that are left.
  @Test(arguments: [
    ("- { id: b, resize: { width: 8 } }", "- { id: b, resize: { width: 8 }, if: item.index > 3 }", [["b", "c"]]),
    ("- { id: b, resize: { width: 8 } }", "- { id: b, resize: { width: 8 }, on_error: use_input }", []),
    ("- { id: a, resize: { width: 9 } }", "- { id: a, resize: { width: 9 }, on_error: drop }", [["b", "c"]]),
    ("- { id: a, resize: { width: 9 } }", "- { id: a, resize: { width: 9 }, concurrency: 2 }", [["b", "c"]]),
    ("- { id: c, resize: { width: 7 } }", "- { id: c, resize: { width: 7 }, concurrency: 2 }", [["a", "b", "c"]]),
    ("- { id: c, resize: { width: 7 } }", "- { id: c, resize: { width: 7 }, after: a }", []),
    ("- { id: c, resize: { width: 7 } }", "- { id: c, resize: { width: 7 }, after: b }", [["a", "b"]]),
    ("- { id: c, resize: { width: 7 } }", "- { id: c, resize: { width: 7 }, per: item }", [["a", "b"]]),
    ("- { id: c, resize: { width: 7 } }", "- { id: c, resize: { width: \"${item.width}\" } }", [["a", "b"]]),
    ("- { id: c, resize: { width: 7 } }", "- { id: c, resize: { width: \"${item.index}\" } }", [["a", "b", "c"]]),
    (
      "- { id: b, resize: { width: 8 } }", "- { id: b, resize: { width: 8 } }\n  - filter: item.width > 3",
      [["a", "b"]]
    ),
    ("- { id: b, resize: { width: 8 } }", "- { id: b, resize: { width: 8 }, timeout: 3s }", [["a", "b"]]),
    ("- store", "- store\n  - { id: again, store: \"b.png\", needs: b }", [["a", "b"]]),
  ])
  func `A pass ends where somebody could tell`(stage: String, changed: String, passes: [[String]]) throws {
    #expect(try graph(FusionTests.chain.replacing(stage, with: changed)).passes == passes)
  }
}
