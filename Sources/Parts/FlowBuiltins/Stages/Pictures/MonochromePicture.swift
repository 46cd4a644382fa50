internal import FlowBase
internal import FlowImage
public import FlowParts

/// Draws pictures in the shades of one colour.
public struct MonochromePicture: Stage {
  /// What is to be said of it.
  public static let part = StagePart(
    PartSpec(
      name: "monochrome", role: .stage, summary: "Draws the picture in the shades of one colour.",
      fields: [
        FieldSpec("color", .string, default: "#a6a6a6", "The colour that white becomes."),
        FieldSpec(
          "intensity", .number(0...1), default: "1.0", "How much of it: 0 leaves the picture, 1 leaves only shades."),
        PictureKeys.background("What shines through in formats without alpha."),
      ] + PictureKeys.writing + PictureKeys.reading, shorthand: "color", sets: PictureKeys.fields,
      fuses: DeferredPicture.kind,
      example: "stages:\n  - fetch\n  - monochrome: { color: \"#a6a6a6\", intensity: 1.0 }\n"
    ).checked(by: MonochromePicture.self)
  ) { MonochromePicture() }

  /// Adds to what is done to the leg's picture.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    try await runOnPicture(leg, in: context)
  }
}

extension MonochromePicture: PictureStage {
  static func operation(_ config: Config) throws(Fault) -> PictureOperation? {
    let colour = try config.colour("color") ?? Colour(red: 0xA6, green: 0xA6, blue: 0xA6)
    return .monochrome(colour: colour, intensity: config.double("intensity") ?? 1)
  }
}
