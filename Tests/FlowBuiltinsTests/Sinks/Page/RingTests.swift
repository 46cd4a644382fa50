import FlowBase
import FlowEvents
import Testing

@testable import FlowBuiltins

/// The ring, move by move, without a browser.
@Suite struct RingTests {
  /// Gives gestures to a ring, and says what came of each.
  private func play(_ shown: Ring.Shown, _ gestures: Ring.Gesture...) -> [Ring.Action] {
    var ring = Ring(shown)
    return gestures.map { ring.handle($0) }
  }

  @Test func `a tap starts, pauses and resumes, once no second one can come`() {
    #expect(play(.idle, .press, .settle) == [.wait, .start])
    #expect(play(.active, .press, .settle) == [.wait, .pause])
    #expect(play(.paused, .press, .settle) == [.wait, .resume])
  }

  @Test func `a double tap cancels at once, wherever a run can be cancelled`() {
    for shown in [Ring.Shown.active, .paused, .draining] { #expect(play(shown, .press, .press) == [.wait, .cancel]) }
  }

  @Test func `where nothing can be cancelled, two taps are one`() {
    #expect(play(.idle, .press, .press) == [.wait, .start])
    #expect(play(.cancelled, .press, .press) == [.wait, .offerStart])
  }

  @Test func `Escape asks, and only a yes cancels`() {
    #expect(play(.active, .escape, .confirm) == [.offerCancel, .cancel])
    #expect(play(.paused, .escape, .dismiss, .confirm) == [.offerCancel, .withdraw, .nothing])
    #expect(play(.active, .escape, .escape) == [.offerCancel, .withdraw])
    #expect(play(.active, .press, .escape, .settle) == [.wait, .offerCancel, .nothing])
    for shown in [Ring.Shown.idle, .done, .cancelled] {
      #expect(play(shown, .escape, .confirm) == [.nothing, .nothing])
    }
  }

  @Test func `a tap on a run that is over asks, and a yes starts it again`() {
    for shown in [Ring.Shown.cancelled, .done] {
      #expect(play(shown, .press, .settle, .confirm) == [.wait, .offerStart, .start])
      #expect(play(shown, .press, .settle, .dismiss, .confirm) == [.wait, .offerStart, .withdraw, .nothing])
    }
  }

  @Test func `a single tap on a draining run does nothing`() {
    #expect(play(.draining, .press, .settle) == [.wait, .nothing])
  }

  @Test func `a question that the run has answered itself is taken back`() {
    var ring = Ring(.active)
    #expect(ring.handle(.escape) == .offerCancel)
    #expect(ring.become(.paused) == .nothing)
    #expect(ring.phase == .cancelling)
    #expect(ring.become(.done) == .withdraw)
    #expect(ring.handle(.confirm) == .nothing)
  }

  @Test func `a tap is meant for the run as it is when the tap settles`() {
    var ring = Ring(.active)
    #expect(ring.handle(.press) == .wait)
    #expect(ring.become(.paused) == .nothing)
    #expect(ring.handle(.settle) == .resume)
  }

  @Test func `whatever is done, the run's own table allows it`() {
    for shown in Ring.Shown.allCases {
      for phase in Ring.Phase.allCases {
        for gesture in Ring.Gesture.allCases {
          var ring = Ring(shown, phase)
          let move: RunState.Move? =
            switch ring.handle(gesture) {
            case .start, .offerStart: .start
            case .pause: .pause
            case .resume: .resume
            case .cancel, .offerCancel: .cancel
            case .nothing, .wait, .withdraw: nil
            }
          if let move { #expect(shown.state.moves.contains(move), "\(shown) \(phase) \(gesture)") }
        }
      }
    }
  }

  @Test func `the browser's table is this one, row by row`() throws {
    let table = try #require(try JSONReader.read(Array(Ring.table.utf8)).asMap)
    for shown in Ring.Shown.allCases {
      for phase in Ring.Phase.allCases {
        for gesture in Ring.Gesture.allCases {
          var ring = Ring(shown, phase)
          let action = ring.handle(gesture)
          let row = table[shown.rawValue]?.asMap?[phase.rawValue]?.asMap?[gesture.rawValue]?.asList?.map(\.text)
          #expect((row ?? [phase.rawValue, "nothing"]) == [ring.phase.rawValue, action.rawValue])
        }
      }
    }
    #expect(PageMarkup.script.contains("const RING = \(Ring.table);"))
  }
}
