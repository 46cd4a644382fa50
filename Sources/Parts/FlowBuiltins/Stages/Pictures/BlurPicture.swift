internal import FlowBase
internal import FlowImage
public import FlowParts

/// Blurs pictures.
public struct BlurPicture: Stage {
  /// What is to be said of it.
  public static let part = StagePart(
    PartSpec(
      name: "blur", role: .stage, summary: "Blurs the picture.",
      fields: [
        FieldSpec("sigma", .number(0...500), default: "2", "How far pixels are spread."),
        PictureKeys.background("What shines through in formats without alpha."),
      ] + PictureKeys.writing + PictureKeys.reading, shorthand: "sigma", sets: PictureKeys.fields,
      fuses: DeferredPicture.kind, example: "stages:\n  - fetch\n  - blur: 4\n"
    ).checked(by: BlurPicture.self)
  ) { BlurPicture() }

  /// Adds to what is done to the leg's picture.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    try await runOnPicture(leg, in: context)
  }
}

extension BlurPicture: PictureStage {
  static func operation(_ config: Config) throws(Fault) -> PictureOperation? {
    .blur(sigma: config.double("sigma") ?? 2)
  }
}
