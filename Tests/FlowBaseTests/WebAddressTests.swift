import FlowBase
import Testing

@Suite struct WebAddresses {
  @Test(arguments: [
    ("HTTP://Example.COM", "http://example.com/", "http://example.com/"),
    ("https://example.com:443/a?b#c", "https://example.com/a?b", "https://example.com/a?b"),
    ("http://example.com:8080/", "http://example.com:8080/", "http://example.com:8080/"),
    ("http://example.com:/x", "http://example.com/x", "http://example.com/x"),
    ("http://u:p@h/x", "http://u:p@h/x", "http://h/x"), ("http://a@b@h/x", "http://a%40b@h/x", "http://h/x"),
    ("  https://h/a b/ü?q=ü x  ", "https://h/a%20b/%C3%BC?q=%C3%BC%20x", "https://h/a%20b/%C3%BC?q=%C3%BC%20x"),
    ("https://h/%7euser/%e4%2f/%41?%7e", "https://h/%7euser/%e4%2f/%41?%7e", "https://h/~user/%E4%2F/A?%7e"),
    ("https://h/50%/%zz", "https://h/50%25/%25zz", "https://h/50%25/%25zz"),
    ("https://bücher.example/", "https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
    ("https://BU\u{308}CHER.example/", "https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
    ("https://例え。テスト/", "https://xn--r8jz45g.xn--zckzah/", "https://xn--r8jz45g.xn--zckzah/"),
    ("https://faß.de", "https://xn--fa-hia.de/", "https://xn--fa-hia.de/"),
    ("https://xn--BCHER-KVA.example./", "https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
    ("http://[2001:DB8:0:0:0:0:0:1]:80/", "http://[2001:db8::1]/", "http://[2001:db8::1]/"),
    ("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::ffff:7f00:1]/"),
    ("http://h?q", "http://h/?q", "http://h/?q"), ("http://h#f", "http://h/", "http://h/"),
    ("http://h/a\\b", "http://h/a%5Cb", "http://h/a%5Cb"), ("http://a_b.c/", "http://a_b.c/", "http://a_b.c/"),
    ("http://%65xample.com/", "http://example.com/", "http://example.com/"),
  ])
  func `has one form for many spellings`(_ written: String, _ text: String, _ canonical: String) throws {
    let address = try WebAddress(parsing: written)
    #expect(address.text == text)
    #expect(address.canonical == canonical)
    #expect(try WebAddress(parsing: address.text).canonical == canonical)
  }

  @Test(arguments: [
    ("", "empty"), ("example.com/x", "begin with"), ("/x", "begin with"), ("ftp://h/x", "scheme is `ftp`"),
    ("file:///etc/passwd", "scheme is `file`"), ("data:image/png;base64,x", "scheme is `data`"),
    ("http:/h/x", "begin with"),
    ("localhost:80/x", "begin with"), ("http:///x", "no host"), ("http://:80/x", "no host"),
    ("http://h:99999/", "port"),
    ("http://h:0/", "port"), ("http://h:8o/", "port"), ("http://a b/", "character ` `"), ("http://h\\@evil/", "`\\`"),
    ("http://a..b/", "empty label"), ("http://h/\n", ""), ("http://h/a\nb", "line break"),
    ("http://h/\u{0}", "control"),
    ("http://[::1/", "IPv6"), ("http://[1::2::3]/", "IPv6"), ("http://[fe80::1%25eth0]/", "IPv6"),
    ("http://256.256.256.256/", "IPv4"), ("http://1.2.3.4.5/", "IPv4"), ("http://h%00/", "U+0000"),
    ("http://１２７.0.0.1/", "IPv4"),
    ("http://\(String(repeating: "a", count: 64)).com/", "longer than 63"), ("http://a\u{200B}b/", "character"),
  ])
  func `says what is wrong`(_ text: String, _ reason: String) throws {
    if reason.isEmpty {
      _ = try WebAddress(parsing: text)
      return
    }
    let fault = #expect(throws: Fault.self) { try WebAddress(parsing: text) }
    #expect(fault?.message.contains(reason) == true, "\(fault?.message ?? "")")
    #expect(fault?.code == (reason.contains("scheme is") ? "url.scheme" : "url.invalid"))
  }

  @Test(
    arguments: [
      ("127.0.0.1", "127.0.0.1"), ("127.1", "127.0.0.1"), ("2130706433", "127.0.0.1"), ("0x7f.1", "127.0.0.1"),
      ("0177.0.0.1", "127.0.0.1"), ("0x7F000001", "127.0.0.1"), ("[::1]", "::1"), ("[0:0:0:0:0:0:0:0]", "::"),
      ("127.0.0.1.", "127.0.0.1"), ("example.com", nil), ("1.example", nil), ("0xg", nil),
      ("dead.beef", nil), ("255.255.255.255", "255.255.255.255"), ("01.2.3.4", "1.2.3.4"), ("1.2.3", "1.2.0.3"),
      ("0.0.0.0", "0.0.0.0"),
    ] as [(String, String?)])
  func `sees through odd spellings of addresses`(_ host: String, _ expected: String?) throws {
    let address = try WebAddress(parsing: "http://\(host)/")
    #expect(address.literal?.text == expected)
  }

  /// RFC 3986, 5.4, as far as it stays on the web.
  @Test(arguments: [
    ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
    ("//g", "http://g/"),
    ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
    ("g;x?y#s", "http://a/b/c/g;x?y"),
    ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
    ("../g", "http://a/b/g"),
    ("../..", "http://a/"), ("../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
    ("g.", "http://a/b/c/g."),
    ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"),
    ("g?y/../x", "http://a/b/c/g?y/../x"), ("https://x/y", "https://x/y"), ("g h", "http://a/b/c/g%20h"),
  ])
  func `resolves references`(_ reference: String, _ expected: String) throws {
    #expect(try WebAddress(parsing: "http://a/b/c/d;p?q").resolving(reference).text == expected)
  }

  @Test func `refuses references to other schemes`() throws {
    let base = try WebAddress(parsing: "http://a/")
    #expect(throws: Fault.self) { try base.resolving("file:///etc/passwd") }
    #expect(throws: Fault.self) { try base.resolving("javascript:alert(1)") }
  }

  @Test func `knows its parts`() throws {
    let address = try WebAddress(parsing: "https://u:p@Example.com:8443/a/My%20File%2F..tar.GZ?x=1#frag")
    #expect(address.origin == "https://example.com:8443")
    #expect(address.hostAndPort == "example.com:8443")
    #expect(address.pathAndQuery == "/a/My%20File%2F..tar.GZ?x=1")
    #expect(address.fragment == "frag")
    #expect(address.fileName == "My File..tar.GZ")
    #expect(try WebAddress(parsing: "https://h").hostAndPort == "h:443")
    #expect(try WebAddress(parsing: "https://h/").fileName == "_")
    #expect(try WebAddress(parsing: "https://h/a/").fileName == "a")
    #expect(address.redacted == "https://***@example.com:8443/a/My%20File%2F..tar.GZ?x=1")
  }

  @Test func `keys are the same for equal addresses and differ between sources`() throws {
    let one = ItemKey.make(source: "urls", url: try WebAddress(parsing: "https://example.com/logo.png"))
    let other = ItemKey.make(source: "urls", url: try WebAddress(parsing: "HTTPS://u@EXAMPLE.com:443/%6cogo.png#x"))
    #expect(one == other)
    #expect(one == String(Digest.sha256(of: "urls\nhttps://example.com/logo.png").hex.prefix(16)))
    #expect(one != ItemKey.make(source: "other", text: "https://example.com/logo.png"))
  }

  @Test(arguments: [
    "http://127.0.0.1:18951/tiny/t000000.bin?0", "https://example.com/", "https://example.com/a/b/c.tar.gz",
    "https://cdn.a-b.example.com:8443/a//b/?q=[1]|2&x=/y", "http://h/?", "http://h/a/?", "http://h/.hidden",
    "http://h//",
    "http://h/..", "https://xn--bcher-kva.example/x", "http://h:80/x", "https://h:443/x", "http://h:443/x",
    "http://h:080/x", "http://h:/x", "http://h:0/x", "http://h:65536/x", "http://h:99999999999999999999/x", "http://h",
    "http://h?x", "http://h#x", "http://h/x#y", "http://u@h/x", "http://h/%41", "http://h/x?%41", "http://h/a b",
    " http://h/x", "http://h/x\n", "http://h/a\\b", "http://H/x", "HTTP://h/x", "ftp://h/x", "http:/h/x", "http//h/x",
    "https//h/x.y", "http://", "https://", "http:///x", "http://./x", "http://a..b/x", "http://a./x", "http://1/x",
    "http://1.2.3.4/x", "http://1.2.3/x", "http://1.2.3.256/x", "http://01.2.3.4/x", "http://0x7f.1/x", "http://0x7f/x",
    "http://1.2.3.4.5/x", "http://a.1/x", "http://a.0x1/x", "http://a.1b/x", "http://1.b/x", "http://[::1]/x",
    "http://ü/x", "http://h/ü", "http://a_b/x", "http://-/x", "http://h/x?`{}^", "http://h/\u{7F}", "", "x", "/x",
    "http://\(String(repeating: "a", count: 63))/x", "http://\(String(repeating: "a", count: 64))/x",
    "http://\(String(repeating: "a.", count: 126))b/x", "http://\(String(repeating: "a.", count: 127))b/x",
    "http://h/\(String(repeating: "n", count: 300))", "http://h/\(String(repeating: "n", count: 1 << 16))",
  ])
  func `what is plain is what the full rules leave as it is`(_ text: String) throws {
    guard let plain = PlainAddress(text) else { return }
    let full = try WebAddress(parsing: text)
    #expect(plain.canonical == full.canonical)
    #expect(plain.host == full.host)
    #expect(plain.fileName == full.fileName)
  }

  @Test(arguments: [
    ("http://127.0.0.1:18951/tiny/t000000.bin?0", "127.0.0.1", "t000000.bin"),
    ("https://example.com/", "example.com", "_"),
    ("https://cdn.a-b.example.com:8443/a//b/?q=[1]|2&x=/y", "cdn.a-b.example.com", "b"),
    ("http://h/.hidden", "h", "hidden"),
  ])
  func `common addresses are plain`(_ text: String, _ host: String, _ name: String) throws {
    let plain = try #require(PlainAddress(text))
    #expect(plain.canonical == text)
    #expect(plain.host == host)
    #expect(plain.fileName == name)
  }
}
