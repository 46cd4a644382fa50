internal import FlowBase
internal import FlowExpressions
internal import FlowImage
public import FlowParts

/// Reads what a picture says of itself.
public struct Probe: Stage {
  /// What is to be said of it.
  public static let part = StagePart(
    PartSpec(
      name: "probe", role: .stage,
      summary: "Reads a picture's header: media type, size, pages, transparency, orientation, colours.",
      fields: [
        FieldSpec(
          "full", .boolean, default: "false",
          "Whether every pixel is decoded as well, so that what is cut or broken fails the item.")
      ] + PictureKeys.reading.filter { $0.name != "auto" }, sets: PictureKeys.fields,
      input: .look,
      example: "stages:\n  - fetch\n  - probe\n  - filter: item.width >= 256\n")
  ) { Probe() }

  /// Sets the item's fields; its bytes stay as they are.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    let origin = try await DeferredPicture.Origin.of(leg, stage: context.stage)
    let workers = try PictureWorkers.shared(by: context.services)
    let job = PictureJob(
      try origin.input, reading: ReadOptions(context.config),
      wish: .facts(full: context.config.bool("full") ?? false))
    guard case .facts(let facts) = try await workers.perform(job) else {
      throw Fault.internal("picture", "a worker gave no facts")
    }
    return withExtendedLifetime(origin) { StageResult(fields: PictureKeys.fields(of: facts)) }
  }
}
