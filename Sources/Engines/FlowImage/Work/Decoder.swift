internal import FlowBase

/// Opens pictures within their limits, and brings them to sRGB, upright, eight bits a band.
struct Decoder {
  let source: PictureSource
  let options: ReadOptions

  /// What the file says of itself.
  func facts() throws -> PictureFacts { facts(of: try openWithinLimits(frames: 1)) }

  /// The file's own words, and every pixel decoded, so that what is broken shows.
  func checkedFacts() throws -> PictureFacts {
    let header = try openWithinLimits(frames: 1)
    let count = source.format.isAnimated && !options.firstOnly ? header.pages : 1
    let whole = count > 1 ? try openWithinLimits(frames: -1) : header
    try Vips.run("avg", ["in": .image(whole)])
    try checkEnd()
    return facts(of: header)
  }

  private func facts(of image: VipsImage) -> PictureFacts {
    PictureFacts(
      format: source.format, width: image.width, height: image.pageHeight, pages: image.pages,
      hasAlpha: image.hasAlpha, orientation: image.orientation, colourspace: image.interpretation.word)
  }

  /// Frames in memory or still in the file, upright and in sRGB.
  ///
  /// `shrink` says by how much all that is wanted is smaller than the picture, for formats that can decode to less.
  func frames(animated: Bool, keepsProfile: Bool, shrink: (PictureSize) -> Double) throws -> Frames {
    let header = try openWithinLimits(frames: 1)
    let orientation = options.turns ? header.orientation : 1
    let stored = PictureSize(header.width, header.pageHeight)
    let size = orientation >= 5 ? stored.turned : stored
    let isWhole = animated && source.format.isAnimated && !options.firstOnly && header.pages > 1
    if isWhole {
      var frames = try wholeAnimation(keepsProfile: keepsProfile)
      frames.size = size
      return frames
    }
    var image = try loaded(header, shrink: shrink(size))
    image = try Colours.display(image, keepsProfile: keepsProfile)
    if orientation > 1 {
      image = try Vips.image("autorot", ["in": .image(try image.inMemory())])
    }
    return Frames(images: [image], size: size)
  }

  private func wholeAnimation(keepsProfile: Bool) throws -> Frames {
    let roll = try openWithinLimits(frames: -1)
    let height = roll.pageHeight
    let whole = try Colours.display(roll, keepsProfile: keepsProfile).inMemory()
    guard height > 0, whole.height % height == 0 else {
      throw VipsFailure(words: "its frames have different sizes")
    }
    let images = try (0..<whole.height / height).map {
      try whole.crop(x: 0, y: $0 * height, width: whole.width, height: height)
    }
    return Frames(images: images, size: PictureSize(whole.width, height))
  }

  private func loaded(_ header: VipsImage, shrink: Double) throws -> VipsImage {
    // Half of the shrinking at least is left to the better of the two ways.
    switch source.format {
    case .jpeg:
      let factor = shrink >= 16 ? 8 : shrink >= 8 ? 4 : shrink >= 4 ? 2 : 1
      return factor == 1 ? header : try open(frames: 1, more: ("shrink", .int(factor)))
    case .webp where shrink > 2:
      return try open(frames: 1, more: ("scale", .double(2 / shrink)))
    default: return header
    }
  }

  /// Whether the file stops before its end; told after decoding, which may not have noticed.
  func checkEnd() throws(Fault) {
    guard options.strictness != .nothing, PictureEnd.isCut(source.bytes, source.format) else { return }
    throw Fault("image.truncated", .permanent, "the \(source.format.rawValue) ends too early")
  }

  // MARK: Opening

  private func openWithinLimits(frames: Int) throws -> VipsImage {
    let image = try open(frames: frames)
    let count = frames < 0 ? max(1, image.pages) : 1
    let pixels = image.width * image.pageHeight * count
    if pixels > options.pixels {
      throw Fault(
        "image.too_large", .permanent,
        "\(image.width) x \(image.pageHeight)\(count > 1 ? " in \(count) frames" : "") is \(pixels) pixels, at most "
          + "\(options.pixels) are allowed (`max_pixels`)")
    }
    let isAnimation = source.format.isAnimated && !options.firstOnly
    if isAnimation, image.pages > options.frames {
      throw Fault(
        "image.too_large", .permanent,
        "\(image.pages) frames, at most \(options.frames) are allowed (`max_frames`)")
    }
    let beside = image.fieldBytes
    if beside > options.metadata {
      throw Fault(
        "image.too_large", .permanent,
        "\(beside) bytes of metadata, at most \(options.metadata) are allowed (`max_metadata`)")
    }
    return image
  }

  private func open(frames: Int, more: (String, VipsValue)? = nil) throws -> VipsImage {
    let level =
      switch options.strictness {
      case .nothing: 0
      case .errors: 2
      case .warnings: 3
      }
    var values: [(String, VipsValue)] = [
      ("buffer", .bytes(source.bytes)), ("access", .int(1)), ("fail-on", .int(level)),
    ]
    if source.format.isAnimated { values.append(("n", .int(frames))) }
    if let more { values.append(more) }
    guard VipsLibrary.has(source.format.loader) else {
      throw Fault(
        "image.unsupported", .permanent,
        "libvips reads no \(source.format.rawValue) on this machine; \(EncoderPackages.hint(for: source.format))")
    }
    return try Vips.image(source.format.loader, values)
  }
}

/// Columns and rows.
struct PictureSize: Hashable {
  var width: Int
  var height: Int

  init(_ width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }

  var turned: PictureSize { PictureSize(height, width) }
}

/// The frames of a picture, mostly one, on their way through the operations.
struct Frames {
  var images: [VipsImage]
  /// The size that they have when decoded in full; before the first operation they may be smaller.
  var size: PictureSize

  var first: VipsImage { images[0] }

  /// Does the same to every frame.
  mutating func each(_ step: (VipsImage) throws -> VipsImage) throws { images = try images.map(step) }

  /// Makes the pixels, where they are still in the file, so that they can be read in any order.
  mutating func load() throws { try each { try $0.inMemory() } }
}
