internal import FlowBase
internal import FlowExpressions
internal import FlowImage
internal import FlowParts

/// The keys that stages for pictures share, and what they mean to a worker.
enum PictureKeys {
  /// How the picture is read; counts for the first of several such stages that run as one.
  static let reading = [
    FieldSpec("auto", .boolean, default: "true", "Whether the picture is turned upright as its orientation says."),
    FieldSpec(
      "pages", .choice(["all", "first"]), default: "all", "Whether all frames of an animation are kept, or the first."),
    FieldSpec(
      "max_pixels", .integer(1...1 << 40), default: "100000000", "More pixels fail the item before they are decoded."),
    FieldSpec("max_frames", .integer(1...1 << 20), default: "1000", "More frames fail the item."),
    FieldSpec("max_metadata", .byteCount, default: "16MB", "More bytes beside the pixels fail the item."),
    FieldSpec(
      "loaders", .list(.choice(["svg", "pdf"])),
      "Formats that are read beside the usual ones; their files can do more than show a picture."),
    FieldSpec("strict", .boolean, default: "false", "Whether a mere warning of the decoder fails the item."),
    FieldSpec("tolerate", .choice(["truncated"]), "Takes what can be decoded of files that are cut or broken."),
  ]

  /// How the result is written.
  static let writing = [
    FieldSpec("format", .choice(formats), "The format of the result; that of the file unless named."),
    FieldSpec("quality", .integer(0...100), "The quality of the result; what is usual for the format unless named."),
  ]

  static let formats = ["jpeg", "png", "webp", "avif", "gif", "tiff"]

  static func background(_ meaning: String) -> FieldSpec {
    FieldSpec("background", .string, meaning + " White unless named.")
  }

  /// What is known of a picture that a stage has looked at or made.
  static let fields: @Sendable (Config) -> [ItemField] = { _ in
    [
      ItemField("media", .string), ItemField("width", .integer), ItemField("height", .integer),
      ItemField("pages", .integer), ItemField("has_alpha", .bool), ItemField("orientation", .integer),
      ItemField("colourspace", .string),
    ]
  }

  static func fields(of facts: PictureFacts) -> Fields {
    [
      "media": .string(facts.format.media), "width": .int(facts.width), "height": .int(facts.height),
      "pages": .int(facts.pages), "has_alpha": .bool(facts.hasAlpha), "orientation": .int(facts.orientation),
      "colourspace": .string(facts.colourspace),
    ]
  }
}

extension ReadOptions {
  init(_ config: Config) {
    self.init()
    turns = config.bool("auto") ?? turns
    firstOnly = config.text("pages") == "first"
    pixels = config.int("max_pixels") ?? pixels
    frames = config.int("max_frames") ?? frames
    metadata = config.int("max_metadata") ?? metadata
    loaders = Set(config.texts("loaders").compactMap(PictureFormat.init(rawValue:)))
    if config.bool("strict") == true { strictness = .warnings }
    if config.text("tolerate") == "truncated" { strictness = .nothing }
  }
}

extension EncodeOptions {
  /// What a stage says is laid over what the stages before have said.
  mutating func add(_ config: Config) throws(Fault) {
    if let format = config.text("format").flatMap(PictureFormat.init(rawValue:)) {
      // A quality that was meant for another format says nothing about this one.
      if let before = self.format, before != format { quality = nil }
      self.format = format
    }
    // No encoder has less than 1.
    quality = config.int("quality").map { max(1, $0) } ?? quality
    lossless = config.bool("lossless") ?? lossless
    progressive = config.bool("progressive") ?? progressive
    strips = config.bool("strip") ?? strips
    if let icc = config.text("icc") { keepsProfile = icc == "keep" }
    effort = config.int("effort") ?? effort
    switch config.text("chroma") {
    case "4:4:4", "444": chroma = .full
    case "4:2:0", "420": chroma = .quarter
    case "auto": chroma = .automatic
    default: break
    }
    if config["background"] != nil { background = try config.colour("background") ?? background }
  }
}

extension Config {
  /// A colour as the web writes it.
  func colour(_ name: String) throws(Fault) -> Colour? {
    guard let text = text(name) else { return nil }
    guard let colour = Colour(text) else { throw Config.wrong(name, text, "a colour such as `#a6a6a6`") }
    return colour
  }

  static func wrong(_ name: String, _ text: String, _ expected: String) -> Fault {
    Fault("config.value", .config, "`\(name)` is `\(text.prefix(80))`, expected \(expected)")
  }
}
