import FlowBase
import Testing

@testable import FlowBuiltins

/// What is known of an origin is used for the next address only where that has the same one.
@Suite struct LastOriginTests {
  @Test(arguments: [
    ("http://a.example/1", "http://a.example/2", true), ("http://a.example:81/1", "http://a.example:81/", true),
    ("http://a.example/1", "https://a.example/1", false), ("http://a.example/1", "http://a.example.b/1", false),
    ("http://a.example/1", "http://a.example", false), ("http://a.example:81/1", "http://a.example:8/1", false),
    // Here the authority stands behind the third slash.
    ("http:///a.example/1", "http:///b.example/1", false),
    ("http://u@a.example/1", "http://u@b.example/1", false), ("http://é.example/1", "http://é.example/2", true),
  ])
  func `two addresses with the same bytes before their third slash are asked about once`(
    first: String, second: String, isSame: Bool
  ) {
    let origins = LastOrigin<String>()
    #expect(origins.of(first) { "first" } == "first")
    #expect(origins.of(second) { "second" } == (isSame ? "first" : "second"))
  }

  @Test func `what was not found is looked for again`() {
    let origins = LastOrigin<String>()
    #expect(origins.of("http://a.example/1") { nil } == nil)
    #expect(origins.of("http://a.example/1") { "now" } == "now")
  }
}
