import FlowGraph
import Testing

struct SimulationTests {
  @Test(arguments: Simulation.Interference.allCases)
  func `Over hundreds of random graphs every rule holds`(_ interference: Simulation.Interference) {
    for seed in 0..<200 {
      var dice = Dice(seed: seed + 77)
      let shape = GraphShape.random(seed)
      var run = Simulation(
        shape, items: Int.random(in: 0...30, using: &dice), seed: seed, interference: interference)
      for stage in shape.stages.indices where shape.stages[stage].isBarrier && dice.once(in: 4) {
        run.barriersFail.insert(stage)
      }
      run.run()
      #expect(run.violations.isEmpty, "graph \(seed): \(run.violations.prefix(5)) \(shape.stages) \(shape.nodes)")
      if !run.violations.isEmpty { return }
    }
  }

  @Test func `The random graphs are worth the trouble`() {
    let shapes = (0..<200).map { GraphShape.random($0) }
    #expect(shapes.count { $0.stages.contains { $0.isBarrier } } > 30)
    #expect(shapes.count { $0.stages.contains { !$0.gates.isEmpty && !$0.isBarrier } } > 60)
    #expect(shapes.count { $0.stages.contains { $0.joins } } > 60)
    let parkings = (0..<200).map { seed in
      var run = Simulation(shapes[seed], items: 20, seed: seed)
      run.run()
      return run.parkings
    }
    #expect(parkings.count { $0 > 0 } > 30)
  }
}
