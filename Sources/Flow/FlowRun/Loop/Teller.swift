import FlowBase
import FlowEvents
import FlowParts

/// Tells the listeners what happens, no more often than they want to hear it.
final class Teller {
  private let bus: EventBus
  private var runPace: RunProgressPace
  private var itemPace: ItemProgressPace
  /// What went wrong with the run itself, such as a list that is not there; the first of it.
  private(set) var troubles: [String] = []
  private static let mostTroubles = 8

  init(_ bus: EventBus, start: Instant) {
    self.bus = bus
    runPace = RunProgressPace(start: start)
    itemPace = ItemProgressPace()
  }

  /// Whether a required listener is so far behind that nothing new should start.
  var holdsRun: Bool { bus.holdsRun }

  func start(_ key: String, subject: ItemSubject, ratio: Double = 0, why: String? = nil) {
    bus.emit(.itemStart(Payload.ItemStart(key: key, ratio: ratio, why: why)), about: subject)
  }

  func end(_ end: Payload.ItemEnd, subject: ItemSubject) {
    itemPace.forget(subject.item)
    bus.emit(.itemEnd(end), about: subject)
  }

  func retry(attempt: Int, delay: Interval, error: EventError, subject: ItemSubject) {
    bus.emit(.itemRetry(Payload.ItemRetry(attempt: attempt, delay: delay, error: error)), about: subject)
  }

  func error(_ error: EventError, subject: ItemSubject) { bus.emit(.itemError(error), about: subject) }

  func output(_ fact: OutputFact, leg: Fields, subject: ItemSubject) {
    bus.emit(.output(Payload.Output(fact, leg: leg)), about: subject)
  }

  func output(_ output: Payload.Output) { bus.emit(.output(output)) }
  func sourceEnd(_ end: Payload.SourceEnd) { bus.emit(.sourceEnd(end)) }
  func stageStart(_ stage: String, op: String) { bus.emit(.stageStart(Payload.StageStart(stage: stage, op: op))) }
  func stageEnd(_ end: Payload.StageEnd) { bus.emit(.stageEnd(end)) }
  func barrierStart(_ start: Payload.BarrierStart) { bus.emit(.barrierStart(start)) }
  func barrierEnd(_ end: Payload.BarrierEnd) { bus.emit(.barrierEnd(end)) }
  func control(_ control: Payload.Control) { bus.emit(.control(control)) }
  func diagnostic(_ diagnostic: Diagnostic) { bus.emit(.diagnostic(Payload.DiagnosticFound(diagnostic))) }
  func tell(_ payload: Payload) { bus.emit(payload) }
  func state(from: RunState, to: RunState, by who: String) {
    bus.emit(.runState(Payload.RunStateMove(from: from, to: to, by: who)))
  }
  func runStart(_ start: Payload.RunStart) { bus.emit(.runStart(start)) }

  /// Whether single items' progress is told at all in a run of so many items.
  func tellsItemProgress(of items: Int) -> Bool { items <= ItemProgressPace.mostItems }

  /// How far an item's bytes have come.
  func progress(bytes: Int, size: Int?, subject: ItemSubject, at now: Instant, items: Int) {
    let ratio = size.map { $0 > 0 ? Double(bytes) / Double($0) : 1 }
    let paced = itemPace.pass(subject.item, attempt: subject.attempt ?? 1, ratio: ratio, items: items, at: now)
    guard paced.tell else { return }
    bus.emit(.itemProgress(Payload.ItemProgress(bytes: bytes, size: size, ratio: paced.ratio)), about: subject)
  }

  /// Tells how far the run is, if that is due.
  func tick(_ now: Instant, progress: @autoclosure () -> Payload.RunProgress) {
    guard now >= runPace.next else { return }
    var reading = progress()
    guard runPace.isDue(reading.items.ended, reading.bytesIn, reading.inFlight, at: now) else { return }
    let rates = runPace.take(reading.items.ended, reading.bytesIn, reading.inFlight, at: now)
    reading.itemsPerSecond = rates.items
    reading.bytesPerSecond = rates.bytes
    if let total = reading.items.total, rates.items > 0 {
      reading.eta = Interval(seconds: Double(max(0, total - reading.items.ended)) / rates.items)
    }
    bus.emit(.runProgress(reading))
  }

  /// When `tick` is worth calling next.
  var nextTick: Instant { runPace.next }

  func log(_ level: LogLevel, _ message: String) {
    if level == .error, troubles.count < Teller.mostTroubles, !troubles.contains(message) { troubles.append(message) }
    bus.emit(.log(Payload.LogLine(Payload.LogLine.Level(rawValue: level.rawValue) ?? .info, message)))
  }
}
