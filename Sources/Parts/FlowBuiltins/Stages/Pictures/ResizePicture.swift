internal import FlowBase
internal import FlowImage
public import FlowParts

/// Makes pictures smaller or larger.
public struct ResizePicture: Stage {
  /// What is to be said of it.
  public static let part = StagePart(
    PartSpec(
      name: "resize", role: .stage, summary: "Makes the picture smaller, or larger where that is asked for.",
      fields: [
        FieldSpec("width", .integer(1...100_000), "The width in pixels; follows from the height unless named."),
        FieldSpec("height", .integer(1...100_000), "The height in pixels; follows from the width unless named."),
        FieldSpec(
          "fit", .choice(Resize.Fit.allCases.map(\.rawValue)), default: "inside",
          "`inside` the box, `cover` it and cut off the rest, `contain` and fill up with `background`, or `fill` it."),
        FieldSpec(
          "gravity", .choice(Gravity.allCases.map(\.rawValue)), default: "centre",
          "Which part `cover` keeps, and where `contain` puts the picture."),
        FieldSpec("enlarge", .boolean, default: "false", "Whether small pictures become larger."),
        PictureKeys.background("What `contain` fills up with, and what shines through in formats without alpha."),
        FieldSpec(
          "kernel", .choice(Resize.Kernel.allCases.map(\.rawValue)), default: "lanczos3", "How pixels are computed."),
      ] + PictureKeys.writing + PictureKeys.reading, sets: PictureKeys.fields, fuses: DeferredPicture.kind,
      example: "stages:\n  - fetch\n  - resize: { width: 256, height: 256, fit: cover, format: webp }\n"
    ).checked(by: ResizePicture.self)
  ) { ResizePicture() }

  /// Adds to what is done to the leg's picture.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    try await runOnPicture(leg, in: context)
  }
}

extension ResizePicture: PictureStage {
  static func operation(_ config: Config) throws(Fault) -> PictureOperation? {
    guard config.int("width") != nil || config.int("height") != nil else {
      throw Fault("config.value", .config, "`resize` needs a `width`, a `height` or both")
    }
    var resize = Resize(width: config.int("width"), height: config.int("height"))
    resize.fit = config.text("fit").flatMap(Resize.Fit.init(rawValue:)) ?? resize.fit
    resize.gravity = config.text("gravity").flatMap(Gravity.init(rawValue:)) ?? resize.gravity
    resize.enlarges = config.bool("enlarge") ?? resize.enlarges
    resize.background = try config.colour("background") ?? resize.background
    resize.kernel = config.text("kernel").flatMap(Resize.Kernel.init(rawValue:)) ?? resize.kernel
    return .resize(resize)
  }
}
