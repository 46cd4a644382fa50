import FlowBase
import Testing

@testable import FlowImage

struct WireTests {
  static let jobs: [PictureJob] = {
    var resize = Resize(width: 12, height: nil)
    resize.fit = .contain
    resize.gravity = .southeast
    resize.enlarges = true
    resize.background = Colour(red: 1, green: 2, blue: 3, alpha: 4)
    resize.kernel = .mitchell
    var shift = TiltShift()
    shift.angle = -12.5
    var encoding = EncodeOptions()
    encoding.format = .avif
    encoding.quality = 33
    encoding.lossless = true
    encoding.progressive = true
    encoding.strips = false
    encoding.keepsProfile = true
    encoding.chroma = .full
    encoding.effort = 9
    encoding.background = .black
    var reading = ReadOptions()
    reading.pixels = 7
    reading.loaders = [.svg, .pdf]
    reading.strictness = .nothing
    reading.turns = false
    reading.firstOnly = true
    let branches = [
      PictureBranch([
        .resize(resize), .crop(Crop(.size(width: 3, height: nil), origin: Crop.Origin(x: 1, y: 2))),
        .crop(Crop(.aspect(width: 16, height: 9), gravity: .entropy)), .rotate(degrees: 0.5, background: .white),
        .monochrome(colour: .black, intensity: 0.25), .tiltShift(shift), .roundCorners(.share(0.1)),
        .roundCorners(.pixels(4)), .blur(sigma: 1.5), .sharpen(sigma: 0.7),
      ]),
      PictureBranch([], encoding: encoding, beside: [resize, Resize(width: nil, height: 9)]),
    ]
    return [
      PictureJob(.path("/a b/c"), reading: reading, wish: .pictures(branches)),
      PictureJob(.bytes([1, 2, 3]), wish: .facts(full: true)), PictureJob(.bytes([]), wish: .hash),
      PictureJob(
        .path("x"), wish: .cell(SheetCell(width: 1, height: 2, background: .white, label: "é", labelHeight: 3))),
      PictureJob(.path("x"), wish: .encoders),
      PictureJob(.path("x"), wish: .sheet(PictureSheet(width: 3, height: 4), encoding)),
      PictureJob(.path("x"), wish: .mishap(.hang)),
    ]
  }()

  @Test(arguments: jobs)
  func `a job comes out of its message as it went in`(_ job: PictureJob) throws {
    #expect(try PictureJob(message: job.message.flatMap { $0 }) == job)
  }

  static let replies: [PictureReply] = [
    .facts(
      PictureFacts(
        format: .tiff, width: 3, height: 4, pages: 5, hasAlpha: true, orientation: 6, colourspace: "cmyk")),
    .pictures([
      MadePicture(
        bytes: [9, 8], facts: PictureFacts(format: .png, width: 1, height: 1, hasAlpha: false, colourspace: "b-w")),
      MadePicture(
        bytes: [], facts: PictureFacts(format: .gif, width: 1, height: 1, hasAlpha: false, colourspace: "srgb")),
    ]),
    .hash(.max), .cell(PixelBlock(width: 1, height: 1, bands: 3, bytes: [1, 2, 3])), .encoders([.jpeg, .avif]),
    .fault(Fault("image.corrupt", .permanent, "é")),
  ]

  @Test(arguments: replies)
  func `a reply comes out of its message as it went in`(_ reply: PictureReply) throws {
    #expect(try PictureReply(message: reply.message.flatMap { $0 }) == reply)
  }

  @Test func `a message that is cut anywhere is refused and not guessed at`() {
    for job in WireTests.jobs {
      let message = job.message.flatMap { $0 }
      for count in 0..<message.count {
        #expect(throws: WireReader.Garbled.self) { try PictureJob(message: Array(message.prefix(count))) }
      }
    }
    for reply in WireTests.replies {
      let message = reply.message.flatMap { $0 }
      for count in 0..<message.count {
        #expect(throws: WireReader.Garbled.self) { try PictureReply(message: Array(message.prefix(count))) }
      }
    }
  }

  @Test func `colours are read as the web writes them`() {
    #expect(Colour("#a6a6a6") == Colour(red: 166, green: 166, blue: 166))
    #expect(Colour("#F08") == Colour(red: 255, green: 0, blue: 136))
    #expect(Colour("#11223344") == Colour(red: 17, green: 34, blue: 51, alpha: 68))
    #expect(Colour("transparent")?.alpha == 0)
    for wrong in ["", "#", "#12", "#12345", "a6a6a6", "#gg0000", "#１２３"] { #expect(Colour(wrong) == nil) }
  }
}
