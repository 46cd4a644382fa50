import FlowBase
import Testing

@Suite struct FileExtensionTests {
  @Test(arguments: [
    ("image/jpeg", "jpg"), ("image/svg+xml", "svg"), ("text/html; charset=utf-8", "html"), ("Image/PNG", "png"),
    ("image/webp ", "webp"), ("application/octet-stream", nil), ("x/y; z=1", nil), ("", nil),
  ])
  func `A media type has its usual extension, however it is written`(media: String, expected: String?) {
    #expect(FileExtension.usual(for: media) == expected)
  }
}
