import FlowBase
import Testing

@testable import FlowImage

/// Files that are cut, broken, too large, or not what they seem: each costs itself and says why.
///
/// One after another: libvips keeps one text of errors for the process. A worker has one picture at a time; here two would
/// read of each other's.
@Suite(.serialized) struct HostileTests {
  static let formats = ["jpeg", "png", "webp", "gif", "tiff", "heif"]

  static func file(_ format: String) throws -> [UInt8] {
    let picture = try Pixels.painted(40, 30) { x, y in
      [UInt8(x * 6), UInt8(y * 8), UInt8((x * y * 7) & 255)]
    }
    return try Pixels.file(format, picture, format == "heif" ? [("compression", .int(4)), ("effort", .int(0))] : [])
  }

  static func reply(_ bytes: [UInt8], _ reading: ReadOptions = ReadOptions()) -> PictureReply {
    var encoding = EncodeOptions()
    encoding.format = .png
    let branch = PictureBranch([.resize(Resize(width: 10, height: nil))], encoding: encoding)
    return PictureEngine.perform(PictureJob(.bytes(bytes), reading: reading, wish: .pictures([branch])))
  }

  static func fault(_ bytes: [UInt8], _ reading: ReadOptions = ReadOptions()) -> Fault? {
    if case .fault(let fault) = reply(bytes, reading) { fault } else { nil }
  }

  @Test(arguments: formats)
  func `a file that is cut anywhere fails, and nothing is made of it`(_ format: String) throws {
    let whole = try HostileTests.file(format)
    #expect(HostileTests.fault(whole) == nil)
    for count in stride(from: 0, to: whole.count, by: 10) {
      let fault = HostileTests.fault(Array(whole.prefix(count)))
      #expect(["image.truncated", "image.corrupt"].contains(fault?.code), "cut at \(count) of \(whole.count)")
      let job = PictureJob(.bytes(Array(whole.prefix(count))), wish: .facts(full: true))
      guard case .fault(let found) = PictureEngine.perform(job) else {
        Issue.record("`probe` with `full` took the first \(count) of \(whole.count) bytes")
        continue
      }
      #expect(["image.truncated", "image.corrupt"].contains(found.code))
    }
    let late = HostileTests.fault(Array(whole.prefix(whole.count * 9 / 10)))
    if format != "tiff" { #expect(late?.code == "image.truncated") }
  }

  @Test func `what can be decoded of a cut file is taken where that is asked for`() throws {
    var reading = ReadOptions()
    reading.strictness = .nothing
    for format in ["jpeg", "png"] {
      let whole = try HostileTests.file(format)
      guard case .pictures = HostileTests.reply(Array(whole.prefix(whole.count * 3 / 4)), reading) else {
        Issue.record("\(format) was not tolerated")
        return
      }
    }
  }

  @Test(arguments: formats)
  func `a bit that flips gives a picture or a fault that says so`(_ format: String) async throws {
    let workers = PictureWorkers(count: 2)
    let whole = try HostileTests.file(format)
    let branch = PictureBranch([.resize(Resize(width: 10, height: nil))])
    for number in 0..<150 {
      var bytes = whole
      bytes[number * 7919 % whole.count] ^= 1 << UInt8(number % 8)
      do throws(Fault) {
        _ = try await workers.perform(PictureJob(.bytes(bytes), wish: .pictures([branch])))
      } catch {
        #expect(error.code.hasPrefix("image.") && error.kind == .permanent, "\(error)")
      }
    }
    // Whatever happened, workers still do what is asked of them.
    let job = PictureJob(.bytes(whole), wish: .pictures([branch]))
    #expect(try await workers.perform(job) == PictureEngine.perform(job))
  }

  @Test func `more pixels than allowed are not decoded`() throws {
    // A header of fifty thousand columns and rows, and hardly anything behind it.
    let picture = try Pixels.png(try Pixels.image(1, [[0]]))
    var bomb = picture
    for (place, byte) in ([0, 0, 0xC3, 0x50, 0, 0, 0xC3, 0x50] as [UInt8]).enumerated() { bomb[16 + place] = byte }
    let crc = HostileTests.crc(Array(bomb[12..<29]))
    for place in 0..<4 { bomb[29 + place] = UInt8(crc >> UInt32(24 - place * 8) & 255) }
    let fault = HostileTests.fault(bomb)
    #expect(fault?.code == "image.too_large")
    #expect(fault?.message.contains("50000 x 50000") == true)
    var reading = ReadOptions()
    reading.pixels = 1199
    #expect(HostileTests.fault(try HostileTests.file("jpeg"), reading)?.code == "image.too_large")
    reading.pixels = 1200
    #expect(HostileTests.fault(try HostileTests.file("jpeg"), reading) == nil)
  }

  @Test func `more frames than allowed are not decoded`() throws {
    let roll = try Pixels.painted(8, 8 * 1001) { _, y in y / 8 % 2 == 0 ? [255, 0, 0] : [0, 0, 255] }
      .with(["page-height": 8, "n-pages": 1001])
    let fault = HostileTests.fault(try Pixels.file("gif", roll))
    #expect(fault?.code == "image.too_large")
    #expect(fault?.message.contains("1001 frames") == true)
    var reading = ReadOptions()
    reading.frames = 2
    #expect(HostileTests.fault(try ReadingTests.animation("webp"), reading)?.code == "image.too_large")
    reading.firstOnly = true
    #expect(HostileTests.fault(try ReadingTests.animation("webp"), reading) == nil)
    // All frames together count as pixels.
    reading = ReadOptions()
    reading.pixels = 40 * 30 * 3 - 1
    let animated = PictureJob(
      .bytes(try ReadingTests.animation("gif")), reading: reading, wish: .pictures([PictureBranch([])]))
    guard case .fault(let many) = PictureEngine.perform(animated) else {
      Issue.record("three frames were taken")
      return
    }
    #expect(many.code == "image.too_large")
  }

  @Test func `more metadata than allowed is not taken`() throws {
    let file = try Pixels.file(
      "jpeg", try ReadingTests.blockPicture().with(["orientation": 3]), [("strip", .flag(false))])
    var reading = ReadOptions()
    reading.metadata = 50
    let fault = HostileTests.fault(file, reading)
    #expect(fault?.code == "image.too_large" && fault?.message.contains("metadata") == true)
  }

  @Test func `what is no picture says what it is`() {
    let fault = HostileTests.fault(Array("<!doctype html><title>Not found</title>".utf8))
    #expect(fault?.code == "image.corrupt" && fault?.message.contains("text/html") == true)
    #expect(HostileTests.fault([])?.code == "image.corrupt")
  }

  @Test(arguments: [
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"><rect width=\"9\" height=\"9\"/></svg>",
    "%PDF-1.4\n1 0 obj\n", "push graphic-context\nimage over 0,0 0,0 'url(http://127.0.0.1/)'\npop graphic-context\n",
    "P6 1 1 255\n\u{1}\u{2}\u{3}", "8BPS\u{0}\u{1}", "SIMPLE  =                    T",
  ])
  func `loaders that do more than show a picture are closed`(_ text: String) {
    let fault = HostileTests.fault(Array(text.utf8))
    #expect(["image.unsupported", "image.corrupt"].contains(fault?.code))
  }

  @Test func `svg is read where it is named, and nothing else with it`() {
    let text =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"20\"><rect width=\"40\" height=\"20\"/></svg>"
    var reading = ReadOptions()
    reading.loaders = [.svg]
    #expect(HostileTests.fault(Array(text.utf8), reading) == nil)
    #expect(HostileTests.fault(Array("%PDF-1.4\n".utf8), reading)?.code == "image.unsupported")
    #expect(HostileTests.fault(Array(text.utf8))?.code == "image.unsupported")
  }

  @Test func `a file that is two things is read as what it begins with, and the rest stays behind`() throws {
    let jpeg = try HostileTests.file("jpeg")
    let both = jpeg + Array("PK\u{3}\u{4}<script>alert(1)</script>".utf8)
    guard case .pictures(let pictures) = HostileTests.reply(both) else {
      Issue.record("not read")
      return
    }
    #expect(!pictures[0].bytes.contains(sequence: Array("script".utf8)))
    let gif = Array("GIF89a".utf8) + Array("/*".utf8) + Array("*/=1;alert(1)".utf8)
    #expect(HostileTests.fault(gif)?.code.hasPrefix("image.") == true)
  }

  @Test func `names and announced types decide nothing`() throws {
    let place = try HostileTests.file("png")
    #expect(PictureFormat(of: place) == .png)
    #expect(PictureFormat(of: try HostileTests.file("heif")) == .avif)
    #expect(PictureFormat(of: Array("BM".utf8) + Array(repeating: 0, count: 60)) == nil)
  }

  @Test func `a mere warning fails only where that is asked for`() throws {
    // Bytes between two segments: every decoder skips them, and complains.
    var odd = try Pixels.file("jpeg", try ReadingTests.blockPicture())
    let scan = try #require((2..<odd.count - 1).first { odd[$0] == 0xFF && odd[$0 + 1] == 0xDA })
    odd.insert(contentsOf: [0, 0, 0], at: scan)
    #expect(HostileTests.fault(odd) == nil)
    var strict = ReadOptions()
    strict.strictness = .warnings
    #expect(HostileTests.fault(odd, strict)?.code == "image.corrupt")
  }

  /// The checksum of PNG.
  static func crc(_ bytes: [UInt8]) -> UInt32 {
    var value: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
      value ^= UInt32(byte)
      for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }
    return ~value
  }
}
