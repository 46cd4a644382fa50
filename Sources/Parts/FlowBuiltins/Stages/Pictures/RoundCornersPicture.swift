internal import FlowBase
internal import FlowImage
public import FlowParts

/// Rounds the corners of pictures off.
public struct RoundCornersPicture: Stage {
  /// What is to be said of it.
  public static let part = StagePart(
    PartSpec(
      name: "round_corners", role: .stage, summary: "Rounds the corners of the picture off.",
      fields: [
        FieldSpec("radius", .string, default: "5%", "In pixels, or in percent of the shorter side; `50%` is round."),
        PictureKeys.background("What the corners show in formats without alpha."),
      ] + PictureKeys.writing + PictureKeys.reading, shorthand: "radius", sets: PictureKeys.fields,
      fuses: DeferredPicture.kind,
      example: "stages:\n  - fetch\n  - round_corners: { radius: 10%, format: png }\n"
    ).checked(by: RoundCornersPicture.self)
  ) { RoundCornersPicture() }

  /// Adds to what is done to the leg's picture.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    try await runOnPicture(leg, in: context)
  }
}

extension RoundCornersPicture: PictureStage {
  static func operation(_ config: Config) throws(Fault) -> PictureOperation? {
    let text = config.text("radius") ?? "5%"
    let isShare = text.hasSuffix("%")
    guard let number = Double(isShare ? String(text.dropLast()) : text), number.isFinite, number >= 0 else {
      throw Config.wrong("radius", text, "pixels such as `12`, or a share such as `10%`")
    }
    return .roundCorners(isShare ? .share(number / 100) : .pixels(number))
  }
}
