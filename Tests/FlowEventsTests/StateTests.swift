import FlowBase
import FlowEvents
import Testing

@Suite struct StateTests {
  @Test(arguments: RunState.allCases, RunState.Move.allCases)
  func `A run moves as its table says, and every other move is refused`(state: RunState, move: RunState.Move) {
    let table: [RunState: [RunState.Move: RunState]] = [
      .idle: [.start: .active],
      .active: [.pause: .paused, .drain: .draining, .cancel: .done, .finish: .done],
      .paused: [.resume: .active, .drain: .draining, .cancel: .done],
      .draining: [.cancel: .done, .finish: .done],
      .done: [.start: .active],
    ]
    if let next = table[state]?[move] {
      #expect((try? state.after(move)) == next)
    } else {
      #expect {
        try state.after(move)
      } throws: { error in
        let fault = Fault(error)
        return fault.code == "control.refused" && fault.message.contains(state.rawValue)
          && fault.message.contains("it can")
      }
    }
  }

  @Test(arguments: ItemState.allCases, ItemState.Move.allCases)
  func `An item moves as its table says, and every other move is refused`(state: ItemState, move: ItemState.Move) {
    let table: [ItemState: [ItemState.Move: ItemState]] = [
      .queued: [
        .run: .running, .wait: .waiting, .succeed: .ok, .filter: .filtered, .fail: .failed, .cancel: .cancelled,
      ],
      .running: [.wait: .waiting, .succeed: .ok, .filter: .filtered, .fail: .failed, .cancel: .cancelled],
      .waiting: [.run: .running, .fail: .failed, .cancel: .cancelled],
    ]
    if let next = table[state]?[move] {
      #expect((try? state.after(move)) == next)
    } else {
      #expect {
        try state.after(move)
      } throws: {
        Fault($0).code == "control.refused"
      }
    }
  }

  @Test func `An item that has ended moves no more`() {
    #expect(ItemStatus.allCases.map { ItemState($0).isFinal } == [true, true, true, true])
    #expect(ItemState.allCases.filter { !$0.isFinal } == [.queued, .running, .waiting])
  }
}
