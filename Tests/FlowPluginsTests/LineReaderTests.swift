@testable import FlowPlugins
import FlowBase
import Testing

/// What is a message, and what is noise.
@Suite struct LineReaderTests {
  private func read(_ parts: [String]) -> [String] {
    var reader = LineReader()
    return (parts.flatMap { reader.take(Array($0.utf8)) } + reader.finish()).map { line in
      switch line {
      case .noise(let text): "noise \(text.prefix(40))"
      case .message(.result(let id, _)): "result \(id)"
      case .message(.ready): "ready"
      case .message(.unknown(let type)): "unknown \(type)"
      case .message: "message"
      }
    }
  }

  @Test(arguments: [
    (["{\"t\":\"ready\",\"v\":1}\n"], ["ready"]),
    (["{\"t\":\"rea", "dy\",\"v\":1}\n{\"t\":\"result\",\"id\":3,", "\"status\":\"ok\"}\n"], ["ready", "result 3"]),
    (["\u{1E}{\"t\":\"ready\"}\n"], ["ready"]),
    (["loading…\u{1E}{\"t\":\"ready\"}\n"], ["noise loading…", "ready"]),
    (["hello\n\n{\"t\":\"ready\"}\r\n"], ["noise hello", "ready"]),
    (["{\"t\":\"later\",\"x\":1}\n"], ["unknown later"]),
    (["{\"no\":1}\n[1]\n3\nnull\n"], ["noise {\"no\":1}", "noise [1]", "noise 3", "noise null"]),
    (["{\"t\":\"result\",\"status\":\"ok\"}\n"], ["noise {\"t\":\"result\",\"status\":\"ok\"}"]),
    (["{\"t\":\"result\",\"id\":1,\"status\":\"ok\"}"], ["noise {\"t\":\"result\",\"id\":1,\"status\":\"ok\"}"]),
    (["{\"t\":\"ready\",\"w\":\"Grüße 🐈\"}\n"], ["ready"]),
  ])
  func `Lines are cut, and noise is told from messages`(parts: [String], lines: [String]) {
    #expect(read(parts) == lines)
  }

  @Test func `Bytes that come one by one make the same lines`() {
    let text = "x\u{1E}{\"t\":\"result\",\"id\":12,\"status\":\"ok\"}\n{\"t\":\"ready\"}\n"
    #expect(read(text.utf8.map { String(decoding: [$0], as: UTF8.self) }) == read([text]))
  }

  @Test func `A line of a mebibyte is taken, a longer one is noise once, and the next is a message again`() {
    let fitting = "{\"t\":\"result\",\"id\":1,\"status\":\"ok\",\"x\":\""
    let full = fitting + String(repeating: "x", count: (1 << 20) - fitting.utf8.count - 2) + "\"}"
    #expect(full.utf8.count == 1 << 20)
    #expect(read([full + "\n"]) == ["result 1"])
    let lines = read([String(repeating: "y", count: 3 << 20), "yyy\n{\"t\":\"ready\"}\n"])
    #expect(lines == ["noise a line of more than 1 MiB: yyyyyyyyyyyyy", "ready"])
  }
}
