import FlowBase
import FlowEvents
import FlowExpressions
import FlowGraph
import FlowParts
import FlowPlan

/// What is asked of the run, and what stops it.
extension RunLoop {
  func control(_ request: ControlRequest) -> ControlAnswer {
    let answer = answer(request)
    teller.control(
      Payload.Control(
        verb: request.isImmediate ? "\(request.verb.rawValue) --now" : request.verb.rawValue, scope: request.scope.text,
        by: request.by, isAccepted: answer.isAccepted, message: answer.message))
    perform()
    return answer
  }

  private func answer(_ request: ControlRequest) -> ControlAnswer {
    if request.verb == .set { return set(request) }
    // The run itself has nothing to do for that but to say how it is.
    if request.verb == .page { return ControlAnswer(isAccepted: true, message: "a page is opened", state: state) }
    return request.scope == .run ? move(request) : steer(request)
  }

  /// Answers what was asked while the loop was ending; called once nothing is posted any more.
  func refuseLateRequests() {
    var letters: [Letter] = []
    mailbox.take(into: &letters, until: clock.now())
    for letter in letters {
      switch letter {
      case .control(_, let reply): reply(.runIsOver)
      case .tell(let payload): teller.tell(payload)
      case .log(let level, let message): teller.log(level, message)
      default: break
      }
    }
  }

  private func move(_ request: ControlRequest) -> ControlAnswer {
    let move: RunState.Move =
      switch request.verb {
      case .pause: .pause
      case .resume: .resume
      case .drain: .drain
      case .cancel, .abort, .set, .page: .cancel
      }
    if request.verb == .pause, request.isImmediate, state == .paused {
      // What was left to run when the run was paused is stopped now.
      let count = suspend(.run)
      return ControlAnswer(isAccepted: true, message: "\(count) transfers were stopped, and go on later", state: state)
    }
    do {
      _ = try state.after(move)
    } catch {
      // A drain that is under way is no reason to refuse a second signal.
      return ControlAnswer(isAccepted: false, message: error.message, state: state)
    }
    switch request.verb {
    case .pause:
      enter(.paused, by: request.by)
      _ = pauses.pause(.run, at: now)
      tell(.pause)
      if request.isImmediate { suspend(.run) }
    case .resume:
      isPausedByOutage = false
      enter(.active, by: request.by)
      goOn(.run)
      if !isHeld { tell(.resume) }
    case .drain:
      stop(StopCause(by: request.by, code: cancelCode(request), signal: request.signal), .drain)
      if request.signal != nil { timers.add(.grace, due: (now + options.grace).nanoseconds) }
    case .cancel: stop(StopCause(by: request.by, code: cancelCode(request), signal: request.signal), .cancel)
    case .abort: stop(StopCause(by: request.by, code: cancelCode(request), signal: request.signal), .abort)
    case .set, .page: break
    }
    let words =
      switch request.verb {
      case .pause where request.isImmediate: "paused; transfers are stopped, and go on later with what they have"
      case .pause: "paused; what runs goes on, nothing new starts"
      case .resume: "resumed"
      case .drain: "draining; what has begun is finished"
      case .cancel, .abort, .set, .page: "cancelled"
      }
    return ControlAnswer(isAccepted: true, message: words, state: state)
  }

  private func cancelCode(_ request: ControlRequest) -> String {
    request.signal == nil ? "cancelled.user" : "cancelled.signal"
  }

  /// Stops the run for a cause; the first cause names the run's end, a harsher way overrides a gentler one.
  func stop(_ cause: StopCause, _ way: GraphMachine.Event) {
    if stopCause == nil || cause.signal != nil { stopCause = stopCause.map { $0.signal == nil ? cause : $0 } ?? cause }
    if state == .active || state == .paused { enter(.draining, by: cause.by) }
    if !waitingMade.isEmpty {
      hasCutSources = true
      waitingMade = Fifo()
    }
    if pauses.holds(.run) { goOn(.run) }
    if !waitingItems.isEmpty || feeds.contains(where: { !$0.hasEnded }) { hasCutSources = true }
    closeSources()
    interruptPasses()
    tell(way)
    // A run that ends waits for no part that was held back; nothing of that begins any more.
    for scope in pauses.parts { release(scope) }
  }

  func enter(_ next: RunState, by who: String) {
    guard next != state else { return }
    teller.state(from: state, to: next, by: who)
    state = next
  }

  /// Whether `stop_if` has become true.
  func judgeStop() {
    guard let condition = plan.stopIf, stopCause == nil, counts.ended > judgedItems else { return }
    judgedItems = counts.ended
    guard let isTrue = try? condition.isTrue(in: runScope), isTrue else { return }
    stop(StopCause(by: "stop_if", code: "cancelled.stop_if"), .cancel)
    perform()
  }

  /// Asks hosts for nothing more while half the room for temporary files is taken and something may give it back;
  /// lets the run drain where they take more than they may.
  ///
  /// Nobody waits for room for longer: what takes it may be waiting for a stage that waits for the rest.
  func judgeRoom() {
    guard let limit = plan.settings.temp, localFault == nil else { return }
    // What is on its way to its place makes room; what waits for nothing but more items does not.
    let isTight = store.temporaryBytes > limit / 2 && (stageCounts.contains { $0.running > 0 } || !ending.isEmpty)
    if isTight != gate.isShut { gate.isShut = isTight }
    guard store.temporaryBytes > limit else { return }
    let fault = Fault(
      "disk.budget", .local,
      "temporary files hold \(ByteCount(store.temporaryBytes).text), more than `limits.temp` of \(ByteCount(limit).text); "
        + "raise it, or let fewer items wait for a stage that needs them all")
    teller.log(.error, fault.message)
    errorCodes[fault.code, default: 0] += 1
    react(to: fault, stops: false)
    perform()
  }

  /// Starts nothing new while a required sink is behind.
  func followHold() {
    let holds = teller.holdsRun
    guard holds != isHeld else { return }
    isHeld = holds
    guard state == .active else { return }
    tell(holds ? .pause : .resume)
  }
}
