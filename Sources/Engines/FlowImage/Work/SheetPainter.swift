internal import FlowBase

/// Makes the cells of contact sheets.
enum SheetPainter {
  /// A picture in a cell, in red, green and blue, with its label below.
  static func cell(_ cell: SheetCell, _ decoder: Decoder) throws -> PixelBlock {
    var resize = Resize(width: cell.width, height: cell.height)
    resize.fit = .contain
    resize.background = cell.background
    var frames = try decoder.frames(animated: false, keepsProfile: false) { ResizePlan(resize, of: $0).shrink(of: $0) }
    try frames.each { try $0.flattened(on: cell.background) }
    try frames.resize(resize)
    var image = try frames.first.flattened(on: cell.background).inColour()
    if cell.labelHeight > 0 { image = try labelled(image, cell) }
    let pixels = try image.pixels()
    try decoder.checkEnd()
    return pixels
  }

  /// The whole sheet as a file's bytes, read and written row by row.
  static func sheet(_ sheet: PictureSheet, at path: String, _ encoding: EncodeOptions) throws -> MadePicture {
    try VipsLibrary.require()
    do {
      let raw = try Vips.image(
        "rawload",
        [
          "filename": .text(path), "width": .int(sheet.width), "height": .int(sheet.height), "bands": .int(3),
          "access": .int(1),
        ]
      ).marked(as: .srgb)
      let frames = Frames(images: [raw], size: PictureSize(sheet.width, sheet.height))
      return try Encoder(options: encoding, origin: .png).encode(frames)
    } catch let failure as VipsFailure {
      throw Fault("image.encoder", .permanent, "the sheet cannot be written: \(failure.words)")
    }
  }

  private static func labelled(_ image: VipsImage, _ cell: SheetCell) throws -> VipsImage {
    let ground = cell.background.numbers(bands: 3)
    let sheet = try Vips.image(
      "embed",
      [
        "in": .image(image), "x": .int(0), "y": .int(0), "width": .int(cell.width),
        "height": .int(cell.height + cell.labelHeight), "extend": .int(5), "background": .numbers(ground),
      ])
    guard let label = cell.label, let ink = try? text(label, cell) else { return sheet }
    // Dark on light, and the other way round.
    let isLight = 0.2126 * ground[0] + 0.7152 * ground[1] + 0.0722 * ground[2] > 140
    let tone = isLight ? 40.0 : 225.0
    let share = try Vips.image(
      "embed",
      [
        "in": .image(ink), "x": .int(max(0, (cell.width - ink.width) / 2)),
        "y": .int(cell.height + max(0, (cell.labelHeight - ink.height) / 2)), "width": .int(cell.width),
        "height": .int(cell.height + cell.labelHeight), "extend": .int(0),
      ]
    ).scaled(by: [1 / 255.0], plus: [0])
    let rest = try share.scaled(by: [-1], plus: [1])
    return try sheet.times(rest).plus(try share.scaled(by: [tone, tone, tone], plus: [0])).roundedToBytes()
      .marked(as: .srgb)
  }

  /// One line, as coverage from 0 to 255, cut where it is too wide.
  private static func text(_ label: String, _ cell: SheetCell) throws -> VipsImage {
    let size = max(6, cell.labelHeight * 55 / 100)
    let escaped = label.reduce(into: "") { text, character in
      switch character {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      default: if !character.isNewline { text.append(character) }
      }
    }
    let ink = try Vips.image("text", ["text": .text(escaped), "font": .text("sans \(size)px"), "dpi": .int(72)])
    let width = min(ink.width, cell.width)
    let height = min(ink.height, cell.labelHeight)
    return try ink.crop(x: 0, y: 0, width: width, height: height)
  }
}
