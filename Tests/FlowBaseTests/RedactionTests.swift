import FlowBase
import Testing

@Suite struct Redacting {
  @Test(arguments: [
    ("nothing here", "nothing here"), ("https://h/a?b=c&d=e", "https://h/a?b=c&d=e"), ("a@b.example", "a@b.example"),
    ("https://user:pw@h/x", "https://***@h/x"),
    ("see https://u@h/x, and ftp://a:b@c", "see https://***@h/x, and ftp://***@c"),
    ("https://h/?token=abc", "https://h/?token=***"),
    ("https://h/?a=1&X-Amz-Signature=ab%20c&b=2#f", "https://h/?a=1&X-Amz-Signature=***&b=2#f"),
    ("'https://h/?apiKey=x' failed", "'https://h/?apiKey=***' failed"),
    ("?APIKey=x&my.auth=y&keyboard=z", "?APIKey=***&my.auth=***&keyboard=z"),
    ("?access_token=x;sig=y", "?access_token=***"), ("?%74oken=x", "?%74oken=***"), ("?token=", "?token="),
    ("?tokens=1&authority=2", "?tokens=1&authority=2"),
    ("?client-secret=a=b", "?client-secret=***"), ("https://h/p@th?x=a@b", "https://h/p@th?x=a@b"),
    ("what? key=1", "what? key=1"),
  ])
  func `URLs lose what is secret`(_ text: String, _ expected: String) {
    #expect(Redaction.url(text) == expected)
    #expect(Redaction().redact(text) == expected)
    #expect(Redaction.url(expected) == expected)
  }

  @Test func `known secrets vanish, also percent-encoded and side by side`() {
    let redaction = Redaction(secrets: ["s3cret", "s3cret/longer", "é", ""])
    #expect(redaction.redact("a s3crets3cret/longer b") == "a ****** b")
    #expect(redaction.redact("x=s3cret%2Flonger") == "x=***")
    #expect(redaction.redact("%C3%A9 é") == "*** ***")
    #expect(redaction.redact("nothing") == "nothing")
    #expect(redaction.redact("s3cre") == "s3cre")
    #expect(redaction.redact("https://h/?token=s3cret&q=s3cret") == "https://h/?token=***&q=***")
  }
}
