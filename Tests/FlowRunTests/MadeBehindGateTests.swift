import FlowBase
import FlowEvents
import FlowRun
import FlowTesting
import Testing

/// Stages that make items of others which waited behind a gate.
@Suite(.timeLimit(.minutes(2))) struct MadeBehindGateTests {
  /// Items that were put aside come back into places that made ones want as well.
  @Test(arguments: [8, 32, 64]) func `All come back, and all that is made of them ends`(window: Int) async throws {
    let scene = try Scene()
    try SmallFiles.replace(
      scene.place.file("rules.lua"),
      Array("function item(item) return { { key = 'x' }, { key = 'y' }, { key = 'z' } } end".utf8))
    let trial = try await scene.run(
      """
      sources: [{ template: { url: "$URL/${for.n}", for: { n: 1..400 }, key: "${for.n}" } }]
      stages:
        - { id: first, set: { a: 1 } }
        - { script: rules.lua, after: first }
        - { id: last, set: { b: 1 } }
      """, options: { $0.window = window })
    #expect(trial.exit == .done && trial.items.ok == 1600 && trial.count(.itemEnd) == 1600)
  }
}
