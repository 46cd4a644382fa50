import FlowBase
import FlowEvents
import FlowExpressions
import FlowGraph
import FlowParts
import FlowPlan

/// What is asked of the run, and what stops it.
extension RunLoop {
  func control(_ request: ControlRequest) -> ControlAnswer {
    let answer = request.item.map { cancel(item: $0, request) } ?? move(request)
    teller.control(
      Payload.Control(
        verb: request.verb.rawValue, scope: request.item ?? "run", by: request.by, isAccepted: answer.isAccepted,
        message: answer.message))
    perform()
    return answer
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
      case .cancel, .abort: .cancel
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
      tell(.pause)
    case .resume:
      enter(.active, by: request.by)
      tell(.resume)
    case .drain:
      stop(StopCause(by: request.by, code: cancelCode(request), signal: request.signal), .drain)
      if request.signal != nil { timers.add(.grace, due: (now + options.grace).nanoseconds) }
    case .cancel: stop(StopCause(by: request.by, code: cancelCode(request), signal: request.signal), .cancel)
    case .abort: stop(StopCause(by: request.by, code: cancelCode(request), signal: request.signal), .abort)
    }
    let words =
      switch request.verb {
      case .pause: "paused; what runs goes on, nothing new starts"
      case .resume: "resumed"
      case .drain: "draining; what has begun is finished"
      case .cancel, .abort: "cancelled"
      }
    return ControlAnswer(isAccepted: true, message: words, state: state)
  }

  private func cancelCode(_ request: ControlRequest) -> String {
    request.signal == nil ? "cancelled.user" : "cancelled.signal"
  }

  private func cancel(item: String, _ request: ControlRequest) -> ControlAnswer {
    guard request.verb == .cancel else {
      return ControlAnswer(
        isAccepted: false, message: "a single item can be cancelled, not \(request.verb.rawValue)d", state: state)
    }
    let slot = slots.indices.first {
      slots[$0].ticket >= 0 && (slots[$0].item.name == item || slots[$0].item.key == item)
    }
    guard let slot else {
      return ControlAnswer(
        isAccepted: false, message: "no item `\(item)` is under way; `imgflow status` lists what is left",
        state: state)
    }
    slots[slot].cancelCode = "cancelled.user"
    tell(.cancelItem(slot: slot))
    return ControlAnswer(isAccepted: true, message: "cancelled \(slots[slot].item.name)", state: state)
  }

  /// Stops the run for a cause; the first cause names the run's end, a harsher way overrides a gentler one.
  func stop(_ cause: StopCause, _ way: GraphMachine.Event) {
    if stopCause == nil || cause.signal != nil { stopCause = stopCause.map { $0.signal == nil ? cause : $0 } ?? cause }
    if state == .active || state == .paused { enter(.draining, by: cause.by) }
    if !waitingMade.isEmpty {
      hasCutSources = true
      waitingMade = Queue()
    }
    if !waitingItems.isEmpty || feeds.contains(where: { !$0.hasEnded }) { hasCutSources = true }
    closeSources()
    interruptPasses()
    tell(way)
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

  /// Starts nothing new while a required sink is behind.
  func followHold() {
    let holds = teller.holdsRun
    guard holds != isHeld else { return }
    isHeld = holds
    guard state == .active else { return }
    tell(holds ? .pause : .resume)
  }
}
