internal import FlowBase
public import FlowParts

/// Writes a small text as a file of its own, such as a caption beside a picture.
public struct Write: Stage {
  /// What is to be said of it.
  public static let part = StagePart(
    PartSpec(
      name: "write", role: .stage, summary: "Writes a small text as a file below `output.dir`.",
      fields: [
        FieldSpec("path", .path, required: true, "Where the file goes."),
        FieldSpec("text", .string, required: true, "What stands in it."),
      ], per: [.leg, .item, .group, .run], input: .look,
      example: "stages:\n  - write: { path: \"${item.stem}.txt\", text: \"${row.caption}\" }\n")
  ) { Write() }

  /// Publishes the text; the leg goes on with its own bytes.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    StageResult(outputs: [try await Write.publish(context, owner: leg.item.name)])
  }

  /// Publishes the text for a group or the run.
  public func gather(_ gathering: Gathering, in context: StageContext) async throws -> StageResult {
    StageResult(outputs: [try await Write.publish(context, owner: context.stage)])
  }

  private static func publish(_ context: StageContext, owner: String) async throws(Fault) -> OutputFact {
    let options = PublishOptions(onExists: context.services.settings.onExists, owner: owner, media: "text/plain")
    let text = context.config.text("text") ?? ""
    return try await context.services.publish(
      .bytes(Array(text.utf8)), at: context.config.text("path") ?? "", options: options)
  }
}
