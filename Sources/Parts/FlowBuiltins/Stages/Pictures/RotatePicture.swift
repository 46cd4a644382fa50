internal import FlowBase
internal import FlowImage
public import FlowParts

/// Turns pictures.
public struct RotatePicture: Stage {
  /// What is to be said of it.
  public static let part = StagePart(
    PartSpec(
      name: "rotate", role: .stage, summary: "Turns the picture clockwise, or upright as its orientation says.",
      fields: [
        FieldSpec(
          "degrees", .string, default: "auto",
          "`auto` turns the picture upright, as every stage for pictures does; a number turns it by so much more."),
        PictureKeys.background("What fills the corners that turn up empty."),
      ] + PictureKeys.writing + PictureKeys.reading, shorthand: "degrees", sets: PictureKeys.fields,
      fuses: DeferredPicture.kind, example: "stages:\n  - fetch\n  - rotate: 90\n"
    ).checked(by: RotatePicture.self)
  ) { RotatePicture() }

  /// Adds to what is done to the leg's picture.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    try await runOnPicture(leg, in: context)
  }
}

extension RotatePicture: PictureStage {
  static func operation(_ config: Config) throws(Fault) -> PictureOperation? {
    let text = config.text("degrees") ?? "auto"
    if text == "auto" { return nil }
    guard let degrees = Double(text), degrees.isFinite, abs(degrees) <= 36_000 else {
      throw Config.wrong("degrees", text, "`auto` or a number of degrees")
    }
    return .rotate(degrees: degrees, background: try config.colour("background") ?? .white)
  }
}
