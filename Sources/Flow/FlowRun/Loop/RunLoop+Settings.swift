import FlowBase
import FlowEvents
import FlowGraph
import FlowParts
import FlowPlan

/// Limits that change while the run goes.
extension RunLoop {
  func set(_ request: ControlRequest) -> ControlAnswer {
    guard state != .done else { return .runIsOver }
    guard let setting = request.setting else {
      return ControlAnswer(
        isAccepted: false, message: "`set` takes KEY=VALUE; the keys are \(LiveSetting.keys)", state: state)
    }
    do throws(LiveSetting.Problem) {
      apply(try LiveSetting.parse(setting, scope: request.scope, stages: plan.stages.map(\.id)))
    } catch {
      return ControlAnswer(isAccepted: false, message: error.message, state: state)
    }
    let whose = request.scope == .run ? "" : " for \(request.scope.words)"
    return ControlAnswer(isAccepted: true, message: "\(setting.key) is \(setting.value) now\(whose)", state: state)
  }

  private func apply(_ setting: LiveSetting) {
    switch setting {
    case .connections(let count): setTotal(count)
    case .bandwidth(let limit): services.setBandwidth(limit)
    case .concurrency(let stage, let count):
      if stage == nil { setTotal(count) }
      for place in stage.map({ [$0] }) ?? Array(plan.stages.indices) {
        machine.set(concurrency: count, of: place, at: now, into: &actions)
      }
    case .interval(let stage, let interval):
      machine.set(interval: interval.nanoseconds, of: stage, at: now, into: &actions)
    case .host(let pattern, let change):
      hostTable = hostTable.changing(pattern, change)
      for (name, number) in hostNumbers {
        gate.set(hostTable.limits(of: name, defaultConnections: options.hostConnections), of: number)
      }
    }
  }

  /// Changes how many requests may be under way; nil is as many as turn out to help.
  private func setTotal(_ count: Int?) {
    let room = DescriptorLimit.roomForTransfers
    if count == nil, height == nil {
      height = Height(RunOptions.automaticConnections, ceiling: min(RunOptions.mostAutomaticConnections, room))
    } else if count != nil {
      height = nil
    }
    gate.set(total: min(count ?? height?.value ?? RunOptions.automaticConnections, room))
  }
}
