internal import FlowBase
internal import FlowExpressions
internal import FlowImage
public import FlowParts

/// Drops pictures that are there already.
///
/// A look before it finds what each leg is known by, many at once. What is dropped is decided behind that, in an order
/// that does not depend on which was there first: in the order of the list, or, where the largest is to stay, when all
/// are known.
public struct Dedupe: Stage {
  /// What is to be said of it.
  public static let part: StagePart = {
    var spec = Dedupe.spec
    spec.look = { DedupeLook.part }
    spec.order = { $0.text("keep") == "largest" && $0.text("by") == "phash" ? .complete : .listed }
    return StagePart(spec) { Dedupe() }
  }()

  static let spec = PartSpec(
    name: "dedupe", role: .stage, version: 2,
    summary: "Drops items whose bytes, or whose pictures, another item has already.",
    fields: [
      FieldSpec(
        "by", .choice(["sha256", "phash"]), phase: .load, default: "sha256",
        "`sha256` finds equal bytes, `phash` pictures that look alike."),
      FieldSpec(
        "distance", .integer(0...32), phase: .load, default: "5",
        "In how many of 64 bits the hashes of pictures that look alike may differ (phash)."),
      FieldSpec(
        "keep", .choice(["first", "largest"]), phase: .load, default: "first",
        "Which of them stays: the first of the list, or the one with the most pixels (phash), which is known only when "
          + "all have come. What an earlier run has kept stays in any case."),
    ], shorthand: "by", sets: { [ItemField($0.text("by") == "phash" ? "phash" : "sha256", .string)] },
    input: .look, example: "stages:\n  - fetch\n  - dedupe: { by: phash, distance: 4, keep: largest }\n")

  /// Lets a leg pass, or drops it with the name of the one that it equals.
  public func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    guard let mark = DedupeMark(leg.fields, by: context.config) else { return StageResult() }
    let book = try DedupeBooks.book(of: context.stage, in: context)
    guard let twin = book.judge(DedupeBooks.name(of: leg), mark) else { return StageResult() }
    var result = StageResult(.drop(reason: twin.reason))
    result.standIn = StandIn(
      source: twin.name.source, key: twin.name.key, field: twin.mark.field, value: twin.mark.value)
    return result
  }
}

/// Finds what each leg is known by.
struct DedupeLook: Stage {
  static let part: StagePart = {
    var spec = Dedupe.spec
    spec.isRemembered = true
    return StagePart(spec) { DedupeLook() }
  }()

  func run(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    let book = try DedupeBooks.book(of: String(context.stage.dropLast(".look".count)), in: context)
    try await book.open(by: context)
    var leg = leg
    var result = StageResult()
    if case .deferred(let work)? = leg.content {
      leg.content = try await work.realise()
      result.content = leg.content
    }
    var size = 0
    if context.config.text("by") == "phash" {
      let origin = try await DeferredPicture.Origin.of(leg, stage: context.stage)
      let workers = try PictureWorkers.shared(by: context.services)
      guard case .hash(let hash) = try await workers.perform(PictureJob(try origin.input, wish: .hash)) else {
        throw Fault.internal("picture", "a worker gave no hash")
      }
      if context.config.text("keep") == "largest",
        case .facts(let facts) = try await workers.perform(PictureJob(try origin.input, wish: .facts(full: false)))
      {
        size = facts.width * facts.height
      }
      withExtendedLifetime(origin) { result.fields["phash"] = .string(DedupeMark.digits(of: hash)) }
    } else {
      let content = try await leg.bytes(for: context)
      result.fields["sha256"] = .string(try await content.digest(.sha256, on: context.services.blocking).hex)
    }
    if let mark = DedupeMark(result.fields, by: context.config) {
      book.note(DedupeBooks.name(of: leg), mark, size: size, index: leg.item.index)
    }
    return result
  }
}

extension DedupeMark {
  /// What a leg with these fields is known by; nil where nobody has looked at it.
  init?(_ fields: Fields, by config: Config) {
    if config.text("by") == "phash" {
      guard let hash = fields["phash"]?.asString.flatMap({ UInt64($0, radix: 16) }) else { return nil }
      self = .look(hash, within: config.int("distance") ?? 5)
    } else {
      guard let digest = fields["sha256"]?.asString else { return nil }
      self = .bytes(digest)
    }
  }

  /// The field that says it.
  var field: String {
    switch self {
    case .bytes: "sha256"
    case .look: "phash"
    }
  }

  /// As the field says it.
  var value: String {
    switch self {
    case .bytes(let digest): digest
    case .look(let hash, _): DedupeMark.digits(of: hash)
    }
  }

  static func digits(of hash: UInt64) -> String {
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// The books of all `dedupe` stages of a run.
private final class DedupeBooks: Sendable {
  private let books = Guarded<[String: DedupeBook]>([:])

  static func book(of stage: String, in context: StageContext) throws(Fault) -> DedupeBook {
    try context.services.shared(DedupeBooks.self) { DedupeBooks() }.books.withLock { books in
      if let book = books[stage] { return book }
      let book = DedupeBook(waitsForAll: Dedupe.part.spec.order(context.config) == .complete)
      books[stage] = book
      return book
    }
  }

  static func name(of leg: Leg) -> DedupeName {
    DedupeName(
      source: leg.item.source, key: leg.item.key, axes: leg.axes.map { " \($0.0)=\($0.1.text)" }.joined())
  }
}

extension DedupeBook {
  /// Takes in what earlier runs have kept; whoever comes second waits for it.
  fileprivate func open(by context: StageContext) async throws {
    try await opening { [services = context.services, stage = context.stage, config = context.config] in
      var reader = services.remembered(of: stage)
      while true {
        let page = try await reader.next(upTo: 512)
        if page.isEmpty { return }
        for member in page {
          guard let mark = DedupeMark(member.leg.fields, by: config) else { continue }
          self.recall(DedupeBooks.name(of: member.leg), mark)
        }
      }
    }
  }
}
