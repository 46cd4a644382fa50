import FlowBase
import Testing

@testable import FlowBuiltins

/// Names that leave no room for what comes behind them.
@Suite struct NameLengthTests {
  @Test func `A name that is as long as names can be is cut where an extension or a sidecar comes behind it`() {
    let long = String(repeating: "n", count: 255)
    #expect(Store.path("a/" + long, media: "image/jpeg") == "a/" + long.prefix(251) + ".jpg")
    #expect(Store.path(long, media: nil) == long)
    #expect(Store.path("short", media: "image/jpeg", room: 5) == "short.jpg")
    let named = String(repeating: "n", count: 250) + ".png"
    #expect(Store.path("b/" + named, media: "image/png") == "b/" + named)
    #expect(Store.path("b/" + named, media: "image/png", room: 5) == "b/" + named.prefix(246) + ".png")
    #expect(Store.path(long, media: "image/jpeg", room: 5).utf8.count == 250)
    #expect(Store.path(long, media: nil, room: 5) == String(long.prefix(250)))
    // Characters stay whole.
    let wide = String(repeating: "é", count: 127)
    #expect(Store.path(wide, media: "image/jpeg") == String(wide.prefix(125)) + ".jpg")
  }
}
