internal import FlowBase

/// Decides what a plugin's processes are told, and what becomes of the work that they are given: a pure value.
///
/// Work is known by its number. The caller starts processes, writes to them, and reports what is heard; the machine
/// never waits and never acts.
struct HostMachine: Sendable {
  /// What bounds the processes.
  struct Limits: Sendable, Hashable {
    var instances = 1
    var window = 8
    var start = Interval.seconds(10)
    var idleExit = Interval.seconds(300)
    /// From the cancellation of late work to SIGTERM.
    var grace = Interval.seconds(5)
    /// From SIGTERM to SIGKILL.
    var killAfter = Interval.seconds(2)
    /// From `drain` to SIGTERM.
    var drain = Interval.seconds(10)
    var shortestPause = Interval.milliseconds(500)
    var longestPause = Interval.seconds(30)
    /// So many crashes within `crashSpan`, without anything finished in between, are the end.
    var crashes = 5
    var crashSpan = Interval.seconds(60)
    /// So many lines of noise are borne.
    var noise = 100
  }

  /// What the caller reports.
  enum Event: Sendable {
    case submit(Int, budget: Interval)
    /// Nobody wants the work any more.
    case cancel(Int)
    case ready(Int, window: Int?)
    /// A process says that it cannot work at all.
    case refused(Int, Fault)
    /// A process has answered a piece of work.
    case answered(Int, Int)
    /// A process could not be told of a piece of work, which has failed.
    case withdrawn(Int, Int)
    case noise(Int)
    /// A process takes more memory than it may.
    case overMemory(Int)
    /// A process has ended, in these words.
    case ended(Int, String)
    case drain
    case tick
  }

  /// What the caller is to do.
  enum Action: Sendable, Hashable {
    /// Start a process and greet it.
    case start(Int)
    case send(Int, Int)
    case cancel(Int, Int)
    /// Say that nothing more comes, and close its input.
    case drain(Int)
    case terminate(Int)
    case kill(Int)
    /// Work is over without an answer.
    case fail(Int, Fault)
    /// A process has ended when it should not.
    case crashed(Int)
    /// Nothing is left: no process, no work.
    case finished
  }

  enum Phase: Sendable, Hashable {
    case off
    case starting(until: Instant)
    case ready
    /// It has been told that nothing more comes.
    case leaving(until: Instant)
    /// It has been sent SIGTERM; SIGKILL follows.
    case terminating(until: Instant)
    case killed
  }

  struct Instance: Sendable {
    var phase = Phase.off
    var window = 1
    var inFlight: [Int] = []
    /// Whether the work in flight runs alone, because it may be what crashed a process.
    var isAlone = false
    /// Whether its end is wanted, so that it counts as no crash.
    var isEndWanted = false
    var lastUse = Instant(nanoseconds: 0)
    var noise = 0

    var isLive: Bool { phase != .off }
  }

  struct Work: Sendable {
    var budget: Interval
    /// Where it runs; nil while it waits.
    var instance: Int?
    /// When it is late, or, once it has been cancelled, when patience ends.
    var due: Instant?
    var wasCancelled = false
    /// Whether it ran out of its budget.
    var isLate = false
    /// How many processes have crashed with nothing but it in flight.
    var crashes = 0
  }

  let name: String
  let limits: Limits
  var instances: [Instance]
  var works: [Int: Work] = [:]
  var queue: [Int] = []
  /// Work that was in flight in a crash: it runs alone, before anything else.
  var suspects: [Int] = []
  /// When the last crashes were, since something was finished.
  var crashTimes: [Instant] = []
  var pauses = 0
  var notBefore = Instant(nanoseconds: 0)
  /// Why nothing works any more.
  var ruin: Fault?
  var isDraining = false
  private var isFinished = false
  /// When the machine wants a `tick`, or a while before: to know it to the point would mean to look at all work in
  /// flight with each answer.
  private(set) var nextLook: Instant?

  /// A machine for an op, without a process.
  init(name: String, limits: Limits) {
    self.name = name
    self.limits = limits
    instances = Array(repeating: Instance(), count: max(1, limits.instances))
  }

  /// Whether a process has a piece of work in flight.
  func holds(_ instance: Int, _ work: Int) -> Bool { instances[instance].inFlight.contains(work) }
  /// The only work that a process has in flight.
  func only(_ instance: Int) -> Int? { instances[instance].inFlight.count == 1 ? instances[instance].inFlight[0] : nil }

  /// Takes in what has happened and says what to do about it.
  mutating func handle(_ event: Event, at now: Instant) -> [Action] {
    var actions: [Action] = []
    let isRoutine = isRoutine(event, now)
    switch event {
    case .submit(let id, let budget): submit(id, budget, &actions)
    case .cancel(let id): cancel(id, now, &actions)
    case .ready(let instance, let window): becameReady(instance, window, now)
    case .refused(let instance, let fault): fall(fault, from: instance, now, &actions)
    case .answered(let instance, let id): answered(instance, id, now)
    case .withdrawn(let instance, let id): remove(id, from: instance)
    case .noise(let instance): heardNoise(instance, now, &actions)
    case .overMemory(let instance): end(instance, .kill(instance), wanted: false, now, &actions)
    case .ended(let instance, let words): ended(instance, words, now, &actions)
    case .drain: isDraining = true
    case .tick: break
    }
    if !isRoutine { passTime(now, &actions) }
    settle(now, &actions)
    if !isRoutine || !isSteady { nextLook = nextWake }
    return actions
  }

  /// Whether nothing can be late, and nothing but work comes and goes.
  private func isRoutine(_ event: Event, _ now: Instant) -> Bool {
    guard let nextLook, now < nextLook else { return false }
    switch event {
    case .submit, .answered: return isSteady
    default: return false
    }
  }

  /// Whether each process that there is works on something.
  private var isSteady: Bool {
    var works = false
    for instance in instances {
      switch instance.phase {
      case .ready where !instance.inFlight.isEmpty: works = true
      case .off: continue
      default: return false
      }
    }
    return works
  }

  /// When the machine wants a `tick`, to the point.
  var nextWake: Instant? {
    var earliest: Instant?
    func consider(_ instant: Instant?) {
      if let instant, instant < earliest ?? Instant(nanoseconds: .max) { earliest = instant }
    }
    for instance in instances {
      switch instance.phase {
      case .starting(let until), .leaving(let until), .terminating(let until): consider(until)
      case .ready:
        for id in instance.inFlight { consider(works[id]?.due) }
        if instance.inFlight.isEmpty, queue.isEmpty, suspects.isEmpty { consider(instance.lastUse + limits.idleExit) }
      case .off, .killed: break
      }
    }
    if !(queue.isEmpty && suspects.isEmpty), ruin == nil, !instances.contains(where: \.isLive) { consider(notBefore) }
    return earliest
  }

  // MARK: Work

  private mutating func submit(_ id: Int, _ budget: Interval, _ actions: inout [Action]) {
    if let ruin { return actions.append(.fail(id, ruin)) }
    if isDraining { return actions.append(.fail(id, HostMachine.gone)) }
    works[id] = Work(budget: budget)
    queue.append(id)
  }

  private mutating func cancel(_ id: Int, _ now: Instant, _ actions: inout [Action]) {
    guard var work = works[id], !work.wasCancelled else { return }
    guard let instance = work.instance else {
      works[id] = nil
      queue.removeAll { $0 == id }
      suspects.removeAll { $0 == id }
      return actions.append(.fail(id, HostMachine.gone))
    }
    work.wasCancelled = true
    work.due = now + limits.grace
    works[id] = work
    actions.append(.cancel(instance, id))
  }

  private mutating func answered(_ instance: Int, _ id: Int, _ now: Instant) {
    guard remove(id, from: instance) else { return }
    instances[instance].lastUse = now
    crashTimes = []
    pauses = 0
  }

  @discardableResult private mutating func remove(_ id: Int, from instance: Int) -> Bool {
    guard let place = instances[instance].inFlight.firstIndex(of: id) else { return false }
    instances[instance].inFlight.remove(at: place)
    instances[instance].isAlone = false
    works[id] = nil
    return true
  }

  static let gone = Fault("cancelled.user", .cancelled, "cancelled")

  // MARK: Processes

  private mutating func becameReady(_ instance: Int, _ window: Int?, _ now: Instant) {
    guard case .starting = instances[instance].phase else { return }
    instances[instance].phase = .ready
    instances[instance].window = max(1, min(limits.window, window ?? limits.window))
    instances[instance].lastUse = now
  }

  private mutating func heardNoise(_ instance: Int, _ now: Instant, _ actions: inout [Action]) {
    instances[instance].noise += 1
    guard instances[instance].noise > limits.noise, ruin == nil else { return }
    fall(
      Fault(
        "plugin.noise", .permanent,
        "\(name) wrote more than \(limits.noise) lines to standard output that are no messages; "
          + "standard output belongs to the protocol, words go to standard error"),
      from: instance, now, &actions)
  }

  /// Nothing works any more: all work fails with the reason, and all processes are ended.
  private mutating func fall(_ fault: Fault, from instance: Int?, _ now: Instant, _ actions: inout [Action]) {
    guard ruin == nil else { return }
    ruin = fault
    for id in works.keys.sorted() { actions.append(.fail(id, fault)) }
    works = [:]
    queue = []
    suspects = []
    for number in instances.indices where instances[number].isLive {
      instances[number].inFlight = []
      end(number, .drain(number), wanted: true, now, &actions)
    }
  }

  /// Brings a process to its end: gently, by SIGTERM, or by SIGKILL; never more gently than before.
  private mutating func end(
    _ instance: Int, _ way: Action, wanted: Bool, _ now: Instant, _ actions: inout [Action]
  ) {
    if wanted { instances[instance].isEndWanted = true }
    switch (instances[instance].phase, way) {
    case (.off, _), (.killed, _), (.terminating, .terminate), (.terminating, .drain), (.leaving, .drain): return
    case (_, .drain): instances[instance].phase = .leaving(until: now + limits.drain)
    case (_, .terminate): instances[instance].phase = .terminating(until: now + limits.killAfter)
    default: instances[instance].phase = .killed
    }
    actions.append(way)
  }

  private mutating func ended(_ instance: Int, _ words: String, _ now: Instant, _ actions: inout [Action]) {
    let before = instances[instance]
    guard before.isLive else { return }
    instances[instance] = Instance()
    let isCrash = !before.isEndWanted
    if isCrash { actions.append(.crashed(instance)) }
    var left: [Int] = []
    for id in before.inFlight {
      guard let work = works[id] else { continue }
      if work.wasCancelled || work.isLate {
        works[id] = nil
        actions.append(.fail(id, work.wasCancelled && !work.isLate ? HostMachine.gone : late(work)))
      } else {
        works[id]?.instance = nil
        works[id]?.due = nil
        left.append(id)
      }
    }
    guard isCrash else {
      // Ended by us because of other work: what else was in flight is in no suspicion.
      queue.insert(contentsOf: left, at: 0)
      return
    }
    if left.count == 1, let id = left.first {
      works[id]?.crashes += 1
      if works[id]?.crashes ?? 0 >= 2 {
        works[id] = nil
        actions.append(
          .fail(id, Fault("plugin.crashed", .permanent, "\(name) \(words) while it worked on this item alone, twice")))
      } else {
        suspects.append(id)
      }
    } else {
      suspects += left
    }
    noteCrash(words, now, &actions)
  }

  private mutating func noteCrash(_ words: String, _ now: Instant, _ actions: inout [Action]) {
    crashTimes.append(now)
    crashTimes.removeAll { now - $0 > limits.crashSpan }
    if crashTimes.count >= limits.crashes {
      let fault = Fault(
        "plugin.crash_loop", .permanent,
        "\(name) crashed \(crashTimes.count) times without finishing an item; the last time it \(words)")
      return fall(fault, from: nil, now, &actions)
    }
    let pause = min(limits.longestPause.nanoseconds, limits.shortestPause.nanoseconds << min(pauses, 20))
    pauses += 1
    notBefore = now + Interval(nanoseconds: pause)
  }

  private func late(_ work: Work) -> Fault {
    Fault(
      "plugin.timeout", .permanent, "\(name) took longer than the \(work.budget.text) that it has for an item")
  }

  // MARK: Time

  private mutating func passTime(_ now: Instant, _ actions: inout [Action]) {
    for number in instances.indices {
      switch instances[number].phase {
      case .starting(let until) where until <= now:
        fall(
          Fault(
            "plugin.start", .permanent,
            "\(name) did not say within \(limits.start.text) that it is ready"), from: number, now, &actions)
        end(number, .terminate(number), wanted: true, now, &actions)
      case .leaving(let until) where until <= now:
        end(number, .terminate(number), wanted: true, now, &actions)
      case .terminating(let until) where until <= now:
        end(number, .kill(number), wanted: instances[number].isEndWanted, now, &actions)
      case .ready: lookAtWork(of: number, now, &actions)
      default: break
      }
    }
  }

  private mutating func lookAtWork(of number: Int, _ now: Instant, _ actions: inout [Action]) {
    for id in instances[number].inFlight {
      guard let due = works[id]?.due, due <= now else { continue }
      if works[id]?.wasCancelled == true {
        // Asked to stop and did not: the process has to go, for the sake of this one piece of work.
        return end(number, .terminate(number), wanted: true, now, &actions)
      }
      works[id]?.wasCancelled = true
      works[id]?.isLate = true
      works[id]?.due = now + limits.grace
      actions.append(.cancel(number, id))
    }
    if instances[number].inFlight.isEmpty, queue.isEmpty, suspects.isEmpty,
      instances[number].lastUse + limits.idleExit <= now
    {
      end(number, .drain(number), wanted: true, now, &actions)
    }
  }

  // MARK: What follows

  private mutating func settle(_ now: Instant, _ actions: inout [Action]) {
    if isDraining, ruin == nil {
      for number in instances.indices where instances[number].isLive && instances[number].inFlight.isEmpty {
        end(number, .drain(number), wanted: true, now, &actions)
      }
      for id in queue + suspects {
        works[id] = nil
        actions.append(.fail(id, HostMachine.gone))
      }
      queue = []
      suspects = []
    }
    assign(now, &actions)
    if isDraining, !isFinished, works.isEmpty, !instances.contains(where: \.isLive) {
      isFinished = true
      actions.append(.finished)
    }
  }

  /// Gives waiting work to processes that have room, and starts processes where there are too few.
  private mutating func assign(_ now: Instant, _ actions: inout [Action]) {
    while let id = suspects.first {
      guard
        let number = instances.indices.first(where: { instances[$0].phase == .ready && instances[$0].inFlight.isEmpty })
      else { break }
      suspects.removeFirst()
      instances[number].isAlone = true
      give(id, to: number, now, &actions)
    }
    // Nothing else begins while there are suspects, so that each can be alone.
    while suspects.isEmpty, !queue.isEmpty, let number = roomiest {
      give(queue.removeFirst(), to: number, now, &actions)
    }
    startMore(now, &actions)
  }

  /// The process with the most room; nil where none has any.
  private var roomiest: Int? {
    var best: Int?
    var room = 0
    for number in instances.indices where instances[number].phase == .ready && !instances[number].isAlone {
      let free = instances[number].window - instances[number].inFlight.count
      if free > room {
        best = number
        room = free
      }
    }
    return best
  }

  private mutating func give(_ id: Int, to number: Int, _ now: Instant, _ actions: inout [Action]) {
    instances[number].inFlight.append(id)
    instances[number].lastUse = now
    if var work = works[id] {
      let due = now + work.budget
      work.instance = number
      work.due = due
      works[id] = work
      if let look = nextLook, due < look { nextLook = due }
    }
    actions.append(.send(number, id))
  }

  private mutating func startMore(_ now: Instant, _ actions: inout [Action]) {
    guard ruin == nil, !isDraining, !(queue.isEmpty && suspects.isEmpty), now >= notBefore else { return }
    let isStarting = instances.contains { if case .starting = $0.phase { true } else { false } }
    guard !isStarting, let number = instances.firstIndex(where: { !$0.isLive }) else { return }
    // After a crash one process at a time tells whether it works again.
    if !suspects.isEmpty, instances.contains(where: \.isLive) { return }
    instances[number].phase = .starting(until: now + limits.start)
    actions.append(.start(number))
  }
}
