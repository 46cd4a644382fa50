import FlowBase
import Testing

@testable import FlowRun

@Suite struct CursorTrailTests {
  /// A trail over pages of two items each, the first without a name, the others `p1`, `p2` and so on.
  private func trail(pages: Int) -> CursorTrail {
    var trail = CursorTrail()
    for page in 0..<pages {
      for number in 1...2 { _ = trail.came(page * 2 + number, cursor: page == 0 ? .null : .string("p\(page)")) }
    }
    return trail
  }

  @Test func `a source is asked again from its beginning until a whole page is done`() {
    var trail = trail(pages: 3)
    #expect(trail.place == nil)
    let moved = [1, 3, 2].map { trail.ended($0, isDone: true) }
    #expect(moved == [false, false, true])
    #expect(trail.place?.cursor == "p1" && trail.place?.before == 2)
  }

  @Test func `the oldest page with something unfinished counts, in whichever order items end`() {
    var trail = trail(pages: 4)
    let moved = [8, 7, 6, 5, 4, 3, 1, 2].map { trail.ended($0, isDone: true) }
    #expect(moved.filter(\.self).count == 1 && moved.last == true)
    // Of the last page more may come.
    #expect(trail.place?.cursor == "p3" && trail.place?.before == 6)
  }

  @Test func `a page with an item that failed is the last that counts`() {
    var trail = trail(pages: 4)
    _ = trail.ended(4, isDone: false)
    for index in [1, 2] { _ = trail.ended(index, isDone: true) }
    #expect(trail.place?.cursor == "p1" && trail.place?.before == 2)
    let moved = [3, 5, 6, 7, 8].map { trail.ended($0, isDone: true) } + [trail.came(9, cursor: "p4")]
    #expect(!moved.contains(true))
    #expect(trail.place?.cursor == "p1")
  }

  @Test func `a run that goes on from a cursor begins with it`() {
    var trail = CursorTrail()
    let isNew = trail.came(41, cursor: "p20")
    #expect(isNew && trail.place?.cursor == "p20" && trail.place?.before == 40)
  }

  @Test func `a source without cursors has no place to go on from`() {
    var trail = CursorTrail()
    for index in 1...5 { _ = trail.came(index, cursor: nil) }
    for index in 1...5 { _ = trail.ended(index, isDone: true) }
    #expect(trail.place == nil)
  }

  @Test func `thousands of pages that are done are forgotten`() {
    var trail = CursorTrail()
    for index in 1...10_000 {
      _ = trail.came(index, cursor: .int(index))
      _ = trail.ended(index, isDone: true)
    }
    #expect(trail.place?.cursor == 10_000 && trail.place?.before == 9_999)
  }
}
