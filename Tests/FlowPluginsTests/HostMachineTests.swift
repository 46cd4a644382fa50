@testable import FlowPlugins
import FlowBase
import Testing

/// What the machine decides, table by table: no process, no clock.
@Suite struct HostMachineTests {
  /// A machine on a bench, with a clock that is set by hand.
  private final class Bench {
    var machine: HostMachine
    var now = Instant(nanoseconds: 0)
    private(set) var said: [HostMachine.Action] = []

    init(_ change: (inout HostMachine.Limits) -> Void = { _ in }) {
      var limits = HostMachine.Limits()
      limits.window = 4
      change(&limits)
      machine = HostMachine(name: "acme.op", limits: limits)
    }

    @discardableResult
    func tell(_ event: HostMachine.Event) -> [HostMachine.Action] {
      said = machine.handle(event, at: now)
      // Whoever sleeps until the next look misses nothing.
      if let wake = machine.nextWake { #expect((machine.nextLook ?? wake + .seconds(1)) <= wake, "after \(event)") }
      return said
    }

    @discardableResult
    func after(_ span: Interval) -> [HostMachine.Action] {
      now = now + span
      return tell(.tick)
    }

    func submit(_ ids: Int..., budget: Interval = .seconds(60)) -> [HostMachine.Action] {
      ids.flatMap { tell(.submit($0, budget: budget)) }
    }

    /// A machine with one process that is ready and has work.
    static func ready(_ ids: Int..., change: (inout HostMachine.Limits) -> Void = { _ in }) -> Bench {
      let bench = Bench(change)
      for id in ids { bench.tell(.submit(id, budget: .seconds(60))) }
      if ids.isEmpty {
        bench.tell(.submit(0, budget: .seconds(60)))
        bench.tell(.ready(0, window: nil))
        bench.tell(.answered(0, 0))
      } else {
        bench.tell(.ready(0, window: nil))
      }
      return bench
    }
  }

  @Test func `No process runs before there is work, and work waits for the handshake`() {
    let bench = Bench()
    #expect(bench.tell(.tick) == [])
    #expect(bench.submit(1) == [.start(0)])
    #expect(bench.submit(2) == [])
    #expect(bench.tell(.ready(0, window: nil)) == [.send(0, 1), .send(0, 2)])
  }

  @Test(arguments: [(nil, 4), (2, 2), (9, 4), (0, 1)] as [(Int?, Int)])
  func `The window is the smaller of what both sides allow`(asked: Int?, window: Int) {
    let bench = Bench()
    _ = bench.submit(1, 2, 3, 4, 5, 6)
    #expect(bench.tell(.ready(0, window: asked)).count == window)
    #expect(bench.tell(.answered(0, 1)) == [.send(0, window + 1)])
  }

  @Test func `Answers come in any order, and one that was not asked for changes nothing`() {
    let bench = Bench.ready(1, 2, 3)
    #expect(bench.machine.holds(0, 2))
    #expect(bench.tell(.answered(0, 3)) == [])
    #expect(bench.tell(.answered(0, 3)) == [])
    #expect(bench.tell(.answered(0, 77)) == [])
    #expect(!bench.machine.holds(0, 3))
    #expect(bench.machine.holds(0, 1))
  }

  @Test func `More processes start while there is more work than room, one after the other`() {
    let bench = Bench {
      $0.instances = 2
      $0.window = 1
    }
    #expect(bench.submit(1, 2, 3) == [.start(0)])
    #expect(bench.tell(.ready(0, window: nil)) == [.send(0, 1), .start(1)])
    #expect(bench.tell(.ready(1, window: nil)) == [.send(1, 2)])
    #expect(bench.tell(.answered(1, 2)) == [.send(1, 3)])
  }

  @Test func `A process that does not say in time that it is ready ends everything`() {
    let bench = Bench()
    _ = bench.submit(1)
    let said = bench.after(.seconds(10))
    guard case .fail(1, let fault)? = said.first else {
      Issue.record("\(said)")
      return
    }
    #expect(fault.code == "plugin.start")
    #expect(said.contains(.terminate(0)))
    #expect(bench.after(.seconds(2)) == [.kill(0)])
    guard case .fail(2, _)? = bench.submit(2).first else {
      Issue.record("work after the end must fail at once")
      return
    }
  }

  @Test func `Late work is cancelled, then its process asked to end, then killed; the rest is done again`() {
    let bench = Bench.ready(1)
    bench.now = .init(nanoseconds: 30_000_000_000)
    _ = bench.submit(2)
    #expect(bench.after(.seconds(29)) == [])
    #expect(bench.after(.seconds(1)) == [.cancel(0, 1)])
    #expect(bench.after(.seconds(5)) == [.terminate(0)])
    #expect(bench.after(.seconds(2)) == [.kill(0)])
    let said = bench.tell(.ended(0, "was ended by signal 9"))
    #expect(said.count == 2)
    guard case .fail(1, let fault)? = said.first else {
      Issue.record("\(said)")
      return
    }
    #expect(fault.code == "plugin.timeout")
    #expect(said.last == .start(0))
    #expect(bench.tell(.ready(0, window: nil)) == [.send(0, 2)])
  }

  @Test func `Late work that is answered after its cancellation ends there, and nobody is killed`() {
    let bench = Bench.ready(1)
    #expect(bench.after(.seconds(60)) == [.cancel(0, 1)])
    bench.tell(.answered(0, 1))
    #expect(bench.after(.seconds(30)) == [])
  }

  @Test func `Work that nobody wants is dropped while it waits, and cancelled while it runs`() {
    let bench = Bench.ready(1, 2, 3, 4, 5)
    guard case .fail(5, let fault)? = bench.tell(.cancel(5)).first else {
      Issue.record("waiting work must end at once")
      return
    }
    #expect(fault.kind == .cancelled)
    #expect(bench.tell(.cancel(1)) == [.cancel(0, 1)])
    #expect(bench.tell(.cancel(1)) == [])
    #expect(bench.tell(.cancel(99)) == [])
  }

  @Test func `After a crash each piece that was in flight runs alone`() {
    let bench = Bench.ready(1, 2, 3)
    _ = bench.submit(4)
    #expect(bench.tell(.ended(0, "exited with 1")) == [.crashed(0)])
    #expect(bench.after(.milliseconds(499)) == [])
    #expect(bench.after(.milliseconds(1)) == [.start(0)])
    #expect(bench.tell(.ready(0, window: nil)) == [.send(0, 1)])
    #expect(bench.tell(.answered(0, 1)) == [.send(0, 2)])
    #expect(bench.tell(.answered(0, 2)) == [.send(0, 3)])
    #expect(bench.tell(.answered(0, 3)) == [.send(0, 4)])
  }

  @Test func `Only what was alone at two crashes fails, and all others are unharmed`() {
    let bench = Bench.ready(1, 2)
    bench.tell(.ended(0, "exited with 1"))
    bench.after(.milliseconds(500))
    #expect(bench.tell(.ready(0, window: nil)) == [.send(0, 1)])
    #expect(bench.tell(.ended(0, "exited with 1")) == [.crashed(0)])
    bench.after(.seconds(1))
    #expect(bench.tell(.ready(0, window: nil)) == [.send(0, 2)])
    #expect(bench.tell(.answered(0, 2)) == [.send(0, 1)])
    let said = bench.tell(.ended(0, "exited with 1"))
    guard case .fail(1, let fault)? = said.last else {
      Issue.record("\(said)")
      return
    }
    #expect(fault.code == "plugin.crashed")
    #expect(fault.kind == .permanent)
  }

  @Test func `Pauses between starts double up to half a minute, and begin anew after a success`() {
    let bench = Bench { $0.crashes = 100 }
    _ = bench.submit(1)
    var pauses: [Interval] = []
    for _ in 0..<9 {
      bench.tell(.ended(0, "exited with 1"))
      let due = bench.machine.nextWake ?? bench.now
      pauses.append(Interval(nanoseconds: (due - bench.now).nanoseconds))
      bench.now = due
      #expect(bench.tell(.tick) == [.start(0)])
    }
    #expect(pauses.map(\.milliseconds) == [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000])
    bench.tell(.ready(0, window: nil))
    bench.tell(.answered(0, 1))
    _ = bench.submit(2)
    bench.tell(.ended(0, "exited with 1"))
    #expect(bench.machine.nextWake == bench.now + .milliseconds(500))
  }

  @Test func `Five crashes in a minute without anything finished are the end`() {
    let bench = Bench()
    _ = bench.submit(1)
    var last: [HostMachine.Action] = []
    for _ in 0..<5 {
      last = bench.tell(.ended(0, "exited with 1"))
      if let due = bench.machine.nextWake { bench.now = due }
      bench.tell(.tick)
    }
    guard case .fail(1, let fault)? = last.last else {
      Issue.record("\(last)")
      return
    }
    #expect(fault.code == "plugin.crash_loop")
    #expect(bench.after(.seconds(100)) == [])
  }

  @Test func `Noise is borne a hundred times and not more`() {
    let bench = Bench.ready(1)
    for _ in 0..<100 { #expect(bench.tell(.noise(0)) == []) }
    guard case .fail(1, let fault)? = bench.tell(.noise(0)).first else {
      Issue.record("the next must be the end")
      return
    }
    #expect(fault.code == "plugin.noise")
  }

  @Test func `A process without work is ended after a while, and started again for more`() {
    let bench = Bench.ready { $0.idleExit = .seconds(5) }
    #expect(bench.after(.seconds(4)) == [])
    #expect(bench.after(.seconds(1)) == [.drain(0)])
    #expect(bench.tell(.ended(0, "exited with 0")) == [])
    #expect(bench.submit(7) == [.start(0)])
  }

  @Test func `Draining lets work finish, closes, then asks, then kills`() {
    let bench = Bench.ready(1)
    #expect(bench.tell(.drain) == [])
    guard case .fail(2, _)? = bench.submit(2).first else {
      Issue.record("nothing new is taken")
      return
    }
    #expect(bench.tell(.answered(0, 1)) == [.drain(0)])
    #expect(bench.after(.seconds(10)) == [.terminate(0)])
    #expect(bench.after(.seconds(2)) == [.kill(0)])
    #expect(bench.tell(.ended(0, "was ended by signal 9")) == [.finished])
    #expect(Bench().tell(.drain) == [.finished])
  }

  @Test func `A process that takes too much memory is killed, and that is a crash`() {
    let bench = Bench.ready(1)
    #expect(bench.tell(.overMemory(0)) == [.kill(0)])
    #expect(bench.tell(.ended(0, "was ended by signal 9")) == [.crashed(0)])
  }

  @Test func `A configuration that is refused fails all work with that`() {
    let bench = Bench()
    _ = bench.submit(1, 2)
    let fault = Fault("config.plugin", .config, "no")
    let said = bench.tell(.refused(0, fault))
    #expect(said == [.fail(1, fault), .fail(2, fault), .drain(0)])
    #expect(bench.submit(3) == [.fail(3, fault)])
  }

  @Test func `However work comes and goes, the next look is never too late`() {
    var seed: UInt64 = 4
    func dice(_ sides: Int) -> Int {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(seed >> 33) % sides
    }
    let bench = Bench {
      $0.instances = 2
      $0.crashes = 1000
    }
    for id in 0..<3000 {
      bench.now = bench.now + .milliseconds(dice(400))
      let instances = bench.machine.instances.indices
      let (one, flying) = (dice(2), bench.machine.instances.map(\.inFlight))
      switch dice(10) {
      case 0...2: _ = bench.submit(id, budget: .milliseconds(100 + dice(3000)))
      case 3...6: if let work = flying[one].first { bench.tell(.answered(one, work)) }
      case 7: if let work = flying[one].last { bench.tell(dice(2) == 0 ? .cancel(work) : .withdrawn(one, work)) }
      case 8: bench.tell(.tick)
      default: if dice(5) == 0, bench.machine.instances[one].isLive { bench.tell(.ended(one, "exited with 1")) }
      }
      for number in instances
      where { if case .starting = bench.machine.instances[number].phase { true } else { false } }() {
        bench.tell(.ready(number, window: nil))
      }
      for case .terminate(let number) in bench.said { bench.tell(.ended(number, "was ended by signal 15")) }
    }
    #expect(bench.machine.ruin == nil)
  }

  @Test func `Work that could not be sent is over, and counts for nothing`() {
    let bench = Bench.ready(1, 2)
    #expect(bench.tell(.withdrawn(0, 1)) == [])
    #expect(bench.machine.instances[0].inFlight == [2])
    #expect(bench.submit(3) == [.send(0, 3)])
  }
}
