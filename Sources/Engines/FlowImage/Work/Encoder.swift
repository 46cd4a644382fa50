internal import FlowBase

/// Writes pictures.
struct Encoder {
  let options: EncodeOptions
  /// The format of the file that the picture came from.
  let origin: PictureFormat

  /// What is written.
  var format: PictureFormat { (options.format ?? origin).kept }

  func encode(_ frames: Frames) throws -> MadePicture {
    guard VipsLibrary.has(format.saver) else {
      throw Fault(
        "image.encoder", .config,
        "libvips writes no \(format.rawValue) on this machine; \(EncoderPackages.hint(for: format))")
    }
    var frames = frames
    let background = options.background
    if !format.hasAlpha { try frames.each { try $0.flattened(on: background) } }
    var image = try joined(frames)
    if options.strips, options.keepsProfile { image = try image.with(without: isBeside) }
    let bytes = try Vips.bytes(format.saver, [("in", .image(image))] + arguments)
    let facts = PictureFacts(
      format: format, width: frames.size.width, height: frames.size.height, pages: frames.images.count,
      hasAlpha: image.hasAlpha, colourspace: image.interpretation.word)
    return MadePicture(bytes: bytes, facts: facts)
  }

  /// All frames below one another, as libvips wants them.
  private func joined(_ frames: Frames) throws -> VipsImage {
    guard frames.images.count > 1 else {
      return try frames.first.with(without: { ["page-height", "n-pages", "delay", "loop"].contains($0) })
    }
    let roll = try Vips.image("arrayjoin", ["in": .images(frames.images), "across": .int(1)])
    return try roll.with(["page-height": frames.size.height, "n-pages": frames.images.count])
  }

  /// Whether a field is about the picture and not needed to show it.
  private func isBeside(_ field: String) -> Bool {
    field.hasPrefix("exif-") || field.hasPrefix("png-comment-")
      || ["exif-data", "xmp-data", "iptc-data", "photoshop-data", "jpeg-thumbnail-data", "gif-comment"].contains(field)
  }

  /// What is left out whole is left out by the encoder; a profile that stays takes the other way.
  private var stripsAll: Bool { options.strips && !options.keepsProfile }

  private var arguments: [(String, VipsValue)] {
    var values: [(String, VipsValue)] = [("strip", .flag(stripsAll))]
    let chroma =
      switch options.chroma {
      case .automatic: 0
      case .quarter: 1
      case .full: 2
      }
    switch format {
    case .jpeg:
      values += [
        ("Q", .int(options.quality ?? PictureFormat.jpeg.usualQuality)), ("interlace", .flag(options.progressive)),
        ("subsample-mode", .int(chroma)), ("optimize-coding", .flag((options.effort ?? 0) > 0)),
      ]
    case .png: values += [("compression", .int(options.effort ?? 6)), ("interlace", .flag(options.progressive))]
    case .webp:
      values += [
        ("Q", .int(options.quality ?? PictureFormat.webp.usualQuality)), ("lossless", .flag(options.lossless)),
        ("effort", .int(options.effort.map { $0 * 6 / 9 } ?? 4)), ("smart-subsample", .flag(options.chroma == .full)),
      ]
    case .gif: values += [("effort", .int(options.effort.map { $0 + 1 } ?? 7))]
    case .tiff:
      if let quality = options.quality, !options.lossless {
        values += [("compression", .int(1)), ("Q", .int(quality))]
      } else {
        values += [("compression", .int(2)), ("predictor", .int(2))]
      }
    case .avif, .heic:
      values += [
        ("compression", .int(format == .avif ? 4 : 1)), ("Q", .int(options.quality ?? format.usualQuality)),
        ("lossless", .flag(options.lossless)), ("effort", .int(options.effort ?? 4)), ("subsample-mode", .int(chroma)),
      ]
    case .jxl:
      values += [
        ("Q", .int(options.quality ?? format.usualQuality)), ("lossless", .flag(options.lossless)),
        ("effort", .int(max(1, min(9, options.effort ?? 7)))),
      ]
    case .svg, .pdf: break
    }
    return values
  }
}

extension PictureFormat {
  /// The operation that writes it to memory.
  var saver: String {
    switch self {
    case .heic, .avif: "heifsave_buffer"
    default: rawValue + "save_buffer"
    }
  }

  /// The quality where none is named.
  var usualQuality: Int {
    switch self {
    case .jpeg: 85
    case .webp: 80
    case .avif, .heic: 60
    default: 80
    }
  }
}

/// Which of Debian's packages bring what libvips lacks.
public enum EncoderPackages {
  /// What to install for a format.
  public static func hint(for format: PictureFormat) -> String {
    switch format {
    case .avif: "install libheif1 and, where it is there, libheif-plugin-aomenc"
    case .heic: "install libheif1 and, where they are there, libheif-plugin-x265 and libheif-plugin-libde265"
    case .jxl: "install libvips42 with libjxl"
    case .svg: "install librsvg2-2"
    case .pdf: "install libpoppler-glib8"
    default: "install libvips42"
    }
  }
}
