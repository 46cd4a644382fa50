internal import FlowBase
internal import FlowExpressions
internal import FlowImage
public import FlowParts

/// Drops pictures that are there already.
public struct Dedupe: Stage {
  /// What is to be said of it.
  public static let part = StagePart(
    PartSpec(
      name: "dedupe", role: .stage, summary: "Drops items whose bytes, or whose pictures, another item has already.",
      fields: [
        FieldSpec(
          "by", .choice(["sha256", "phash"]), phase: .load, default: "sha256",
          "`sha256` finds equal bytes, `phash` pictures that look alike."),
        FieldSpec(
          "distance", .integer(0...32), phase: .load, default: "5",
          "In how many of 64 bits the hashes of pictures that look alike may differ (phash)."),
      ], shorthand: "by", sets: { $0.text("by") == "phash" ? [ItemField("phash", .string)] : [] },
      example: "stages:\n  - fetch\n  - dedupe: { by: phash, distance: 4 }\n")
  ) { Dedupe() }

  private let seen = Guarded(SeenPictures())

  /// Lets the first of equal items pass; what is dropped names the item that it equals.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    let name = leg.item.name + leg.axes.map { " \($0.0)=\($0.1.text)" }.joined()
    guard context.config.text("by") == "phash" else {
      let content = try await leg.bytes(for: context)
      let digest = try await content.digest(.sha256, on: context.services.blocking)
      let equal = seen.withLock { $0.meet(digest: digest.hex, name) }
      return equal.map { StageResult(.drop(reason: "the same bytes as \($0)")) } ?? StageResult(content: content)
    }
    let origin = try await DeferredPicture.Origin.of(leg, stage: context.stage)
    let workers = try PictureWorkers.shared(by: context.services)
    guard case .hash(let hash) = try await workers.perform(PictureJob(origin.input, wish: .hash)) else {
      throw Fault.internal("picture", "a worker gave no hash")
    }
    return withExtendedLifetime(origin) {
      let distance = context.config.int("distance") ?? 5
      if let alike = seen.withLock({ $0.meet(hash: hash, within: distance, name) }) {
        return StageResult(.drop(reason: "looks like \(alike.name) (\(alike.distance) of 64 bits differ)"))
      }
      let digits = String(hash, radix: 16)
      return StageResult(
        fields: ["phash": .string(String(repeating: "0", count: 16 - digits.count) + digits)])
    }
  }
}

/// What has come by so far.
struct SeenPictures: Sendable {
  private var digests: [String: String] = [:]
  /// Hashes that are equal in one of nine parts at least are compared: two that differ in at most eight bits are equal
  /// in one of nine parts.
  private var hashes: [(hash: UInt64, name: String)] = []
  private var parts: [Int: [Int]] = [:]

  /// Who had these bytes before.
  ///
  /// The first takes the place; who comes again, in another try, meets nobody.
  mutating func meet(digest: String, _ name: String) -> String? {
    if let first = digests[digest] { return first == name ? nil : first }
    digests[digest] = name
    return nil
  }

  /// Who looks alike, the most alike one.
  mutating func meet(hash: UInt64, within distance: Int, _ name: String) -> (name: String, distance: Int)? {
    let candidates = distance <= 8 ? Set(SeenPictures.keys(of: hash).flatMap { parts[$0] ?? [] }) : Set(hashes.indices)
    let alike = candidates.map { (index: $0, distance: PerceptualHash.distance(hashes[$0].hash, hash)) }
      .filter { $0.distance <= distance }.min { ($0.distance, $0.index) < ($1.distance, $1.index) }
    if let alike { return hashes[alike.index].name == name ? nil : (hashes[alike.index].name, alike.distance) }
    for key in SeenPictures.keys(of: hash) { parts[key, default: []].append(hashes.count) }
    hashes.append((hash, name))
    return nil
  }

  /// Nine parts of seven bits, and the last of eight, each with its number.
  private static func keys(of hash: UInt64) -> [Int] {
    (0..<9).map { part in
      let bits = part == 8 ? hash >> 56 & 0xFF : hash >> UInt64(part * 7) & 0x7F
      return part << 8 | Int(bits)
    }
  }
}
