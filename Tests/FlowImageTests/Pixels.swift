import FlowBase
import Testing

@testable import FlowImage

/// Pictures as plain numbers, and what jobs make of them.
enum Pixels {
  typealias Pixel = [UInt8]

  /// A picture of so many columns, given row by row.
  static func image(_ width: Int, _ pixels: [Pixel]) throws -> VipsImage {
    try VipsLibrary.require()
    let bands = pixels[0].count
    let block = PixelBlock(width: width, height: pixels.count / width, bands: bands, bytes: pixels.flatMap { $0 })
    return try VipsImage(block).marked(as: bands <= 2 ? .grey : .srgb)
  }

  /// A picture whose pixels follow from their places.
  static func painted(_ width: Int, _ height: Int, _ colour: (_ x: Int, _ y: Int) -> Pixel) throws -> VipsImage {
    try image(width, (0..<height).flatMap { y in (0..<width).map { x in colour(x, y) } })
  }

  /// A picture as a file without loss.
  static func png(_ image: VipsImage) throws -> [UInt8] { try file("png", image) }

  /// A picture as a file.
  static func file(_ format: String, _ image: VipsImage, _ values: [(String, VipsValue)] = []) throws -> [UInt8] {
    try Vips.bytes(format + "save_buffer", [("in", .image(image))] + values)
  }

  /// What operations make of a file, pixel by pixel, and the facts.
  static func made(
    _ bytes: [UInt8], _ operations: [PictureOperation], reading: ReadOptions = ReadOptions(),
    encoding change: (inout EncodeOptions) -> Void = { $0.format = .png }
  ) throws -> Result {
    var encoding = EncodeOptions()
    change(&encoding)
    let job = PictureJob(
      .bytes(bytes), reading: reading, wish: .pictures([PictureBranch(operations, encoding: encoding)]))
    switch PictureEngine.perform(job) {
    case .pictures(let pictures):
      let picture = try #require(pictures.first)
      return Result(picture: picture, block: try decode(picture.bytes))
    case .fault(let fault): throw fault
    default: throw Fault.internal("test", "another reply")
    }
  }

  /// All pixels of a file, just as they stand there.
  static func decode(_ bytes: [UInt8]) throws -> PixelBlock {
    try VipsLibrary.require()
    let format = try #require(PictureFormat(of: bytes))
    let pinned = PinnedBytes(bytes)
    var values: [(String, VipsValue)] = [("buffer", .bytes(pinned))]
    if format.isAnimated { values.append(("n", .int(-1))) }
    return try withExtendedLifetime(pinned) { try Vips.image(format.loader, values).pixels() }
  }

  struct Result {
    var picture: MadePicture
    var block: PixelBlock

    var size: [Int] { [block.width, block.height] }
    subscript(x: Int, y: Int) -> Pixel {
      let start = (y * block.width + x) * block.bands
      return Array(block.bytes[start..<start + block.bands])
    }
    /// All pixels, row by row.
    var pixels: [Pixel] {
      stride(from: 0, to: block.bytes.count, by: block.bands).map { Array(block.bytes[$0..<$0 + block.bands]) }
    }
  }

  /// The largest difference of any band of two pixels.
  static func difference(_ left: Pixel, _ right: Pixel) -> Int {
    zip(left, right).map { abs(Int($0) - Int($1)) }.max() ?? 0
  }
}
