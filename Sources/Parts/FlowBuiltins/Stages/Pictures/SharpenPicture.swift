internal import FlowBase
internal import FlowImage
public import FlowParts

/// Sharpens pictures.
public struct SharpenPicture: Stage {
  /// What is to be said of it.
  public static let part = StagePart(
    PartSpec(
      name: "sharpen", role: .stage, summary: "Sharpens the picture.",
      fields: [
        FieldSpec("sigma", .number(0.000001...100), default: "0.8", "How wide the edges are that become sharper."),
        PictureKeys.background("What shines through in formats without alpha."),
      ] + PictureKeys.writing + PictureKeys.reading, shorthand: "sigma", sets: PictureKeys.fields,
      fuses: DeferredPicture.kind, example: "stages:\n  - fetch\n  - resize: { width: 512 }\n  - sharpen: 0.6\n"
    ).checked(by: SharpenPicture.self)
  ) { SharpenPicture() }

  /// Adds to what is done to the leg's picture.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    try await runOnPicture(leg, in: context)
  }
}

extension SharpenPicture: PictureStage {
  static func operation(_ config: Config) throws(Fault) -> PictureOperation? {
    .sharpen(sigma: config.double("sigma") ?? 0.8)
  }
}
