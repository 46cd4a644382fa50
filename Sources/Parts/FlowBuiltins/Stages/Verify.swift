internal import FlowBase
internal import FlowExpressions
public import FlowParts

/// Holds an item's bytes against a size, digests and media types.
public struct Verify: Stage {
  /// What is to be said of it.
  public static let part = StagePart(
    PartSpec(
      name: "verify", role: .stage, summary: "Fails items whose bytes are not the expected ones.",
      fields: [
        FieldSpec("size", .byteCount, "How many bytes there must be."),
        FieldSpec("sha256", .string, "Their SHA-256, in hex or as `sha256-` and base64."),
        FieldSpec("sha512", .string, "Their SHA-512, in hex or as `sha512-` and base64."),
        FieldSpec("media", .list(.string), "Media types that they may have, such as `image/*`."),
      ], input: .look,
      example: "stages:\n  - fetch\n  - verify: { sha256: \"${row.sha256}\", media: image/png }\n")
  ) { Verify() }

  /// A stage.
  public init() {}

  /// Checks what its configuration names, and what the item's source expects where it names nothing.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    guard leg.content != nil || leg.ownPath != nil else {
      throw Fault("verify.nothing", .permanent, "there are no bytes to verify; a stage such as `fetch` comes first")
    }
    let content = try await leg.bytes(for: context)
    let pool = context.services.blocking
    try await ContentCheck(try expectation(leg, context.config)).check(content, on: pool)
    let wanted = context.config.texts("media")
    if !wanted.isEmpty {
      // The stage before has known the declared type as well; bytes alone do not show every type.
      let media = MediaType.decide(try await content.prefix(on: pool), declared: leg.fields["media"]?.asString)
      guard let media, wanted.contains(where: { MediaType.matches(media, $0) }) else {
        throw Fault(
          "media.unexpected", .permanent,
          "the bytes are \(media ?? "of no known type"), not \(wanted.joined(separator: " or "))")
      }
    }
    return StageResult(content: content)
  }

  private func expectation(_ leg: Leg, _ config: Config) throws(Fault) -> Expectation {
    var expected = Expectation()
    expected.size = config.int("size")
    expected.sha256 = try digest(.sha256, config)
    expected.sha512 = try digest(.sha512, config)
    guard expected == Expectation(), config.texts("media").isEmpty else { return expected }
    guard leg.item.expected != Expectation() else {
      throw Fault(
        "verify.nothing", .permanent,
        "nothing is known to verify the bytes by: give `verify` a size, a digest or a media type, or the item one")
    }
    return leg.item.expected
  }

  private func digest(_ algorithm: DigestAlgorithm, _ config: Config) throws(Fault) -> Digest? {
    guard let text = config.text(algorithm.rawValue), !text.isEmpty else { return nil }
    guard let digest = Digest(algorithm, parsing: text) else {
      throw Fault(
        "verify.expectation", .permanent,
        "`\(text.prefix(140))` is no \(algorithm.rawValue): \(algorithm.byteCount * 2) hex digits, or "
          + "`\(algorithm.rawValue)-` and base64, were expected")
    }
    return digest
  }
}
