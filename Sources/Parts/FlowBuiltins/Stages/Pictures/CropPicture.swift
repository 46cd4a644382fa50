internal import FlowBase
internal import FlowImage
public import FlowParts

/// Keeps a part of pictures.
public struct CropPicture: Stage {
  /// What is to be said of it.
  public static let part = StagePart(
    PartSpec(
      name: "crop", role: .stage, summary: "Keeps a part of the picture.",
      fields: [
        FieldSpec("width", .integer(1...100_000), "How wide the part is; the picture's own width unless named."),
        FieldSpec("height", .integer(1...100_000), "How high the part is; the picture's own height unless named."),
        FieldSpec("x", .integer(0...100_000), "Where it begins from the left; by gravity unless named."),
        FieldSpec("y", .integer(0...100_000), "Where it begins from the top; by gravity unless named."),
        FieldSpec("aspect", .string, "The largest part of this shape, such as `16:9`, in place of a size."),
        FieldSpec(
          "gravity", .choice(Gravity.allCases.map(\.rawValue)), default: "centre",
          "Which part is kept where `x` and `y` do not say it."),
        PictureKeys.background("What shines through in formats without alpha."),
      ] + PictureKeys.writing + PictureKeys.reading, shorthand: "aspect", sets: PictureKeys.fields,
      fuses: DeferredPicture.kind, example: "stages:\n  - fetch\n  - crop: { aspect: \"16:9\", gravity: attention }\n"
    ).checked(by: CropPicture.self)
  ) { CropPicture() }

  /// Adds to what is done to the leg's picture.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    try await runOnPicture(leg, in: context)
  }
}

extension CropPicture: PictureStage {
  static func operation(_ config: Config) throws(Fault) -> PictureOperation? {
    let shape: Crop.Shape
    let (width, height) = (config.int("width"), config.int("height"))
    let origin =
      config.int("x") == nil && config.int("y") == nil
      ? nil : Crop.Origin(x: config.int("x") ?? 0, y: config.int("y") ?? 0)
    if let text = config.text("aspect") {
      guard width == nil, height == nil else {
        throw Fault("config.value", .config, "`crop` takes either `aspect` or `width` and `height`")
      }
      let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Double($0) }
      guard (1...2).contains(parts.count), let across = parts[0], let down = parts.count == 2 ? parts[1] : 1,
        across > 0, down > 0, across.isFinite, down.isFinite
      else { throw Config.wrong("aspect", text, "a shape such as `16:9` or `1.5`") }
      shape = .aspect(width: across, height: down)
    } else {
      guard width != nil || height != nil || origin != nil else {
        throw Fault("config.value", .config, "`crop` needs a size or an `aspect`")
      }
      shape = .size(width: width, height: height)
    }
    let gravity = config.text("gravity").flatMap(Gravity.init(rawValue:)) ?? .centre
    return .crop(Crop(shape, origin: origin, gravity: gravity))
  }
}
