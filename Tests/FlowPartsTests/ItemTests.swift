import FlowBase
import FlowParts
import Testing

/// Copies of an item share what nobody has changed, and nothing else.
@Suite struct ItemTests {
  private static let item = Item(
    source: "s", key: "k", index: 1, url: "http://a.example/1", fields: ["name": "1"], row: ["a": 1], loop: ["n": 1],
    expected: Expectation(size: 1), mirrors: ["http://b.example/1"], headers: [Header("A", "1")], parent: "s/p")

  @Test(
    arguments: [
      { $0.source = "t" }, { $0.key = "l" }, { $0.index = 2 }, { $0.url = nil }, { $0.fields["name"] = "2" },
      { $0.row = [:] }, { $0.loop = [:] }, { $0.expected.size = 2 }, { $0.mirrors = [] }, { $0.headers = [] },
      { $0.parent = nil },
    ] as [@Sendable (inout Item) -> Void])
  func `a copy that is changed is another item, and the first stays as it was`(change: @Sendable (inout Item) -> Void) {
    var copy = Self.item
    #expect(copy == Self.item && copy.hashValue == Self.item.hashValue)
    change(&copy)
    #expect(copy != Self.item)
    #expect(Self.item.fields == ["name": "1"] && Self.item.name == "s/k" && Self.item.index == 1)
    #expect(copy.name == copy.source + "/" + copy.key)
    let again = copy
    #expect(again == copy)
  }

  @Test func `items with the same facts are equal, however they came about`() {
    var one = Self.item
    one.key = "other"
    one.key = "k"
    #expect(one == Self.item && one.hashValue == Self.item.hashValue)
  }
}
