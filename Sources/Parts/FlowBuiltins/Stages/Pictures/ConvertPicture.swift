internal import FlowBase
internal import FlowImage
public import FlowParts

/// Writes pictures in another format.
public struct ConvertPicture: Stage {
  /// What is to be said of it.
  public static let part = StagePart(
    PartSpec(
      name: "convert", role: .stage, summary: "Writes the picture in another format, or in its own one anew.",
      fields: PictureKeys.writing + [
        FieldSpec("lossless", .boolean, default: "false", "Whether every pixel stays as it is (webp, avif)."),
        FieldSpec("progressive", .boolean, default: "false", "Whether it shows coarsely first (jpeg, png)."),
        FieldSpec("strip", .boolean, default: "true", "Whether metadata is left out, places and cameras included."),
        FieldSpec(
          "icc", .choice(["srgb", "keep"]), default: "srgb",
          "`srgb` brings the colours to sRGB; `keep` leaves them, and the profile in the file."),
        FieldSpec(
          "chroma", .choice(["auto", "4:2:0", "4:4:4", "420", "444"]), default: "auto",
          "How densely colours are kept (jpeg, webp, avif)."),
        FieldSpec("effort", .integer(0...9), "How long the encoder tries, from 0 to 9."),
        PictureKeys.background("What shines through in formats without alpha."),
      ] + PictureKeys.reading, shorthand: "format", sets: PictureKeys.fields, fuses: DeferredPicture.kind,
      example: "stages:\n  - fetch\n  - convert: { format: webp, quality: 82 }\n"
    ).checked(by: ConvertPicture.self)
  ) { ConvertPicture() }

  /// Adds to what is done to the leg's picture.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    try await runOnPicture(leg, in: context)
  }
}

extension ConvertPicture: PictureStage {
  static func operation(_ config: Config) throws(Fault) -> PictureOperation? {
    nil
  }
}
