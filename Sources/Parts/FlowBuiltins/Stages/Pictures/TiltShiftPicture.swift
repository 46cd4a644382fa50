internal import FlowBase
internal import FlowImage
public import FlowParts

/// Makes pictures look like pictures of toys.
public struct TiltShiftPicture: Stage {
  /// What is to be said of it.
  public static let part = StagePart(
    PartSpec(
      name: "tilt_shift", role: .stage,
      summary: "Keeps a band of the picture sharp and blurs what lies outside, as if it showed a toy.",
      fields: [
        FieldSpec("center", .number(0...1), default: "0.5", "Where the band's middle lies: 0 top, 1 bottom."),
        FieldSpec("band", .number(0...1), default: "0.3", "How wide the band is, as a share of the picture."),
        FieldSpec("radius", .number(0...500), default: "8", "How far pixels are spread at most, in pixels."),
        FieldSpec("angle", .number(-360...360), default: "0", "By how many degrees the band is turned, clockwise."),
        FieldSpec("saturation", .number(0...5), default: "1.2", "How strong colours become; 1 leaves them."),
        PictureKeys.background("What shines through in formats without alpha."),
      ] + PictureKeys.writing + PictureKeys.reading, sets: PictureKeys.fields, fuses: DeferredPicture.kind,
      example: "stages:\n  - fetch\n  - tilt_shift: { center: 0.6, band: 0.25, radius: 10 }\n"
    ).checked(by: TiltShiftPicture.self)
  ) { TiltShiftPicture() }

  /// Adds to what is done to the leg's picture.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    try await runOnPicture(leg, in: context)
  }
}

extension TiltShiftPicture: PictureStage {
  static func operation(_ config: Config) throws(Fault) -> PictureOperation? {
    var shift = TiltShift()
    shift.centre = config.double("center") ?? shift.centre
    shift.band = config.double("band") ?? shift.band
    shift.radius = config.double("radius") ?? shift.radius
    shift.angle = config.double("angle") ?? shift.angle
    shift.saturation = config.double("saturation") ?? shift.saturation
    return .tiltShift(shift)
  }
}
