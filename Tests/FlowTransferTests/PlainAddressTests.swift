import FlowBase
import Testing

@testable import FlowTransfer

/// Addresses that are taken apart without libcurl, held against what libcurl makes of them.
@Suite struct PlainAddressTests {
  private static let plain = [
    "http://127.0.0.1:8080/f00001", "https://example.com/a/b/c.jpg", "https://example.com/a?x=1&y=/b",
    "http://a-b.example.org:8443/~user/pic(1),2;v=3:4@5!$&'*+=_.png", "https://xn--bcher-kva.example/",
    "http://example.com:443/", "https://example.com:80/x", "http://255.255.255.255/", "http://1.example/x",
  ]

  @Test(arguments: plain)
  func `A plain address gives what libcurl gives`(_ text: String) throws {
    let fast = try #require(URLParts(plain: text))
    #expect(fast == (try URLParts.make(text, relativeTo: nil)))
  }

  @Test(arguments: [
    "HTTP://example.com/", "http://Example.com/", "http://example.com", "http://example.com?x",
    "http://example.com:80/",
    "https://example.com:443/", "http://example.com:080/", "http://example.com:0/", "http://example.com:70000/",
    "http://user@example.com/", "http://user:secret@example.com/", "http://0x7f000001/", "http://0x7f.1/",
    "http://127.1/", "http://2130706433/", "http://0177.0.0.1/", "http://127.0.0.256/", "http://127.0.0.1./",
    "http://example.com./", "http://a..b/", "http://.a/", "http://[::1]/", "http://exa_mple.com/",
    "http://bücher.example/",
    "http://example.com/a/../b", "http://example.com/./a", "http://example.com/.hidden", "http://example.com/a b",
    "http://example.com/%61", "http://example.com/a#b", "http://example.com/a\\b", "http://example.com/ä",
    "ftp://example.com/", "http:/example.com/", "http//example.com/", "", "http://", "https://:80/",
    "http://example.com:/",
    "http://example.0x1/", "http://1.2.3/", "http://1.2.3.4.5/", "http://example.com/a?",
  ])
  func `An address that needs any work is left to libcurl`(_ text: String) {
    #expect(URLParts(plain: text) == nil)
  }

  @Test func `Whatever is taken for plain, libcurl reads in the same way`() throws {
    var dice = SystemRandomNumberGenerator()
    let pieces = [
      "a", "b9", "example", ".", "..", "-", "/", "//", "?", "&", "=", ":", ":8080", ":80", "@", "%41", "0", "127",
      "0x7f",
      "1", "com", "~", "+", "'", "(", "x.png", "#", " ", "_", "A",
    ]
    var taken = 0
    for _ in 0..<5_000 {
      var text = ["http://", "https://"].randomElement(using: &dice) ?? ""
      for _ in 0..<Int.random(in: 1...8, using: &dice) { text += pieces.randomElement(using: &dice) ?? "" }
      guard let fast = URLParts(plain: text) else { continue }
      taken += 1
      #expect(fast == (try? URLParts.make(text, relativeTo: nil)), "\(text)")
    }
    #expect(taken > 5)
  }
}
