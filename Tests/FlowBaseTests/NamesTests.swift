import FlowBase
import Testing

@Suite struct Names {
  @Test(arguments: [
    ("a.jpg", "a.jpg"), ("", "_"), (".", "_"), ("..", "_"), ("../../etc", "etc"), ("a/b\\c", "abc"),
    ("a\u{0}\n\u{7F}\u{85}b", "ab"),
    ("...hidden", "hidden"), ("a..b", "a..b"), ("é", "é"), ("/", "_"), ("a\u{202E}gpj", "agpj"), ("/.x", "x"),
    ("CON", "CON"), ("a.", "a."),
  ])
  func `become safe`(_ text: String, _ expected: String) {
    #expect(FileName.safe(text) == expected)
    #expect(FileName.safe(FileName.safe(text)) == FileName.safe(text))
  }

  @Test func `are cut on a character boundary`() {
    #expect(FileName.safe(String(repeating: "a", count: 300)).utf8.count == 255)
    #expect(FileName.safe(String(repeating: "é", count: 300)).utf8.count == 254)
    #expect(FileName.safe(String(repeating: "👨‍👩‍👧", count: 30)).utf8.count == 14 * 18)
    #expect(FileName.segment("abc", upTo: 2) == "ab")
    #expect(FileName.segment("") == "")
  }

  @Test(arguments: [
    ("a.tar.gz", "a.tar", "gz"), (".hidden", ".hidden", ""), ("plain", "plain", ""), ("a.", "a", ""),
    ("x.JPG", "x", "JPG"),
  ])
  func `come apart`(_ name: String, _ stem: String, _ ext: String) {
    #expect(FileName.stem(of: name) == stem)
    #expect(FileName.ext(of: name) == ext)
  }

  @Test(arguments: [
    ("a/b.jpg", "a/b.jpg"), ("./a//b/", "a/b"), ("a/./b", "a/b"), ("...", "..."), ("a/..b", "a/..b"), ("é/ü", "é/ü"),
  ])
  func `paths stay below their folder`(_ text: String, _ expected: String) throws {
    #expect(try RelativePath(parsing: text).text == expected)
  }

  @Test(arguments: [
    ("/a", "path.escapes"), ("..", "path.escapes"), ("a/../b", "path.escapes"), ("a/..", "path.escapes"),
    ("", "path.escapes"),
    (".", "path.escapes"), ("//", "path.escapes"), ("a\u{0}b", "path.invalid"),
    (String(repeating: "x", count: 256), "path.invalid"), (String(repeating: "abcdefgh/", count: 600), "path.invalid"),
  ])
  func `paths that leave it are refused`(_ text: String, _ code: String) {
    #expect(throws: Fault.self) { try RelativePath(parsing: text) }
    do {
      _ = try RelativePath(parsing: text)
    } catch {
      #expect(error.code == code)
    }
  }

  @Test func `twins by case and Unicode form are found`() throws {
    let one = try RelativePath(parsing: "Dir/CAFE\u{301}.jpg").foldedForCollision
    let other = try RelativePath(parsing: "dir/café.JPG").foldedForCollision
    #expect(Array(one.utf8) == Array(other.utf8))
  }
}
