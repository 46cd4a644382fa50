import ImgFlow

/// Says how long an item's bytes are, and leaves a frame around texts: a stage like those in the box.
struct Tint: Stage {
  static let part = StagePart(
    PartSpec(
      name: "acme.tint", role: .stage, summary: "Says how long the bytes are, and frames them.",
      fields: [
        FieldSpec("unit", .choice(["B", "kB"]), default: "B", "What is counted."),
        FieldSpec("frame", .string, "What stands before and behind the bytes; without it they stay as they are."),
      ], example: "")
  ) { Tint() }

  func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    guard case .file(let file)? = leg.content else { return StageResult(.drop(reason: "no bytes")) }
    let length = file.bytes / (context.config.text("unit") == "kB" ? 1000 : 1)
    var content: Content?
    if let frame = context.config.text("frame") {
      content = .bytes(Array(frame.utf8) + (try SmallFiles.read(file.path)) + Array(frame.utf8))
    }
    return StageResult(content: content, fields: ["length": .int(length)])
  }
}

await StageServer([Tint.part]).serve()
