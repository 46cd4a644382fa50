import FlowBase
import Testing

struct `Media types` {
  @Test(arguments: [
    ("\u{ff}\u{d8}\u{ff}\u{e0}", "image/jpeg"), ("\u{89}PNG\r\n\u{1a}\n", "image/png"), ("GIF89a..", "image/gif"),
    ("RIFF\0\0\0\0WEBPVP8 ", "image/webp"), ("RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
    ("\0\0\0\u{1c}ftypavif\0\0\0\0avifmif1miaf", "image/avif"), ("\0\0\0\u{18}ftypmif1\0\0\0\0avifmif1", "image/avif"),
    ("\0\0\0\u{18}ftypheic\0\0\0\0mif1heic", "image/heic"), ("\0\0\0\u{18}ftypisom\0\0\0\0isommp41", "video/mp4"),
    ("\u{ff}\n..", "image/jxl"), ("II*\0....", "image/tiff"), ("MM\0*....", "image/tiff"),
    ("BM\u{8a}\0\0\0\0\0\0\0\u{8a}\0\0\0\u{7c}\0\0\0\0\0\0\0\0\0\0\0", "image/bmp"),
    ("<svg xmlns='http://www.w3.org/2000/svg'>", "image/svg+xml"), ("<?xml version='1.0'?>\n<svg>", "image/svg+xml"),
    ("<!-- made by hand -->\n<svg>", "image/svg+xml"), ("<?xml version='1.0'?><rss>", "application/xml"),
    ("%PDF-1.7", "application/pdf"), ("  \n<!DOCTYPE HTML><html>", "text/html"), ("<html lang=en>", "text/html"),
    ("<HTML>", "text/html"), ("{\"a\": 1}", "application/json"), ("[1, 2]", "application/json"),
    ("PK\u{3}\u{4}....", "application/zip"), ("\u{1f}\u{8b}\u{8}", "application/gzip"),
  ])
  func `show in the first bytes`(text: String, type: String) {
    let bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    #expect(MediaType.sniff(bytes) == type)
  }

  @Test(arguments: ["", "hello", "BMW is a car and this is a text", "<unknown>", "[see below]", "{ braces }"])
  func `do not show in other bytes`(text: String) {
    #expect(MediaType.sniff(Array(text.utf8)) == nil)
  }

  @Test(arguments: [
    ("<html>", "image/jpeg", "text/html"), ("hello", "image/jpeg", "text/plain"), ("hello", "text/css", "text/css"),
    ("\u{1}\u{2}", "image/png", "application/octet-stream"), ("\u{1}", "image/x-thing; a=b", "image/x-thing"),
    ("PK\u{3}\u{4}", "application/epub+zip", "application/epub+zip"), ("PK\u{3}\u{4}", "image/png", "application/zip"),
    ("{\"a\":1}", "application/geo+json", "application/geo+json"), ("", "image/png", "application/octet-stream"),
    ("GIF89a", "IMAGE/PNG", "image/gif"), ("\u{1}\u{2}", "text/plain", "application/octet-stream"),
  ])
  func `are decided by the bytes first`(text: String, declared: String, type: String) {
    #expect(MediaType.decide(Array(text.utf8), declared: declared) == type)
  }

  @Test func `match patterns`() {
    #expect(MediaType.matches("image/png", "image/*") && MediaType.matches("image/png", "*"))
    #expect(MediaType.matches("image/jpeg", "image/jpg") && MediaType.matches("image/jpeg", "Image/JPEG"))
    #expect(!MediaType.matches("text/html", "image/*") && !MediaType.matches("image/png", "image/jpeg"))
  }
}
