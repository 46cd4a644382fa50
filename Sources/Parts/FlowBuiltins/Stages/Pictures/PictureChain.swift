internal import FlowBase
internal import FlowImage
internal import FlowParts

/// A picture and what is still to be done to it: stages that follow one another lengthen the list, and the last has it
/// done in one pass.
struct DeferredPicture: DeferredContent {
  /// Where the picture's bytes are.
  enum Origin: Sendable {
    case file(HeldFile)
    case bytes([UInt8])
    /// A file of this machine that nobody has made.
    case path(String)
  }

  let origin: Origin
  let reading: ReadOptions
  var branch: PictureBranch
  /// How many legs are made of the same picture, this one included.
  var legs = 1
  let services: any RunServices

  var kind: String { DeferredPicture.kind }

  /// The origin's own name, and all that is done to it.
  var identity: String {
    let job = PictureJob(.bytes([]), reading: reading, wish: .pictures([branch]))
    return "\(origin.identity) \(Digest.sha256(of: job.identity).hex)"
  }

  /// The kind of stages that leave their work to one another.
  static let kind = "picture"
  /// Larger results go to a file.
  static let mostInMemory = 4 << 20

  func realise() async throws -> Content { try await make().content }

  /// Does the work.
  func make() async throws(Fault) -> (content: Content, facts: PictureFacts) {
    let workers = try PictureWorkers.shared(by: services)
    let picture: MadePicture
    if legs > 1 {
      let batches = try services.shared(PictureBatches.self) { PictureBatches() }
      picture = try await batches.make(
        branch, of: try origin.input, named: origin.place, reading, among: legs, by: workers)
    } else {
      let job = PictureJob(try origin.input, reading: reading, wish: .pictures([branch]))
      guard case .pictures(let pictures) = try await workers.perform(job), let made = pictures.first else {
        throw .internal("picture", "a worker gave no picture")
      }
      picture = made
    }
    for excess in branch.excesses(in: picture.facts) { services.log(.warn, excess) }
    // The file must be there until its picture has been read.
    return try withExtendedLifetime(origin) { () throws(Fault) in
      (try DeferredPicture.content(picture.bytes, services), picture.facts)
    }
  }

  private static func content(_ bytes: [UInt8], _ services: any RunServices) throws(Fault) -> Content {
    if bytes.count <= mostInMemory { return .bytes(bytes) }
    let partial = try services.makePartial()
    do throws(Fault) {
      try partial.write(contentsOf: bytes)
      return .file(try partial.finish())
    } catch {
      partial.abandon()
      throw error
    }
  }
}

extension DeferredPicture.Origin {
  /// The bytes of a leg; pictures that are still to be made are made.
  static func of(_ leg: Leg, stage: String) async throws -> DeferredPicture.Origin {
    switch leg.content {
    case .file(let file): return .file(file)
    case .bytes(let bytes): return .bytes(bytes)
    case .deferred(let work):
      switch try await work.realise() {
      case .file(let file): return .file(file)
      case .bytes(let bytes): return .bytes(bytes)
      case .deferred: throw Fault.internal("deferred", "deferred content gave deferred content")
      }
    case nil:
      if let path = leg.ownPath { return .path(path) }
      throw Fault(
        "content.missing", .permanent,
        "the item has no bytes yet: \(stage) stands behind no stage that gives them")
    }
  }

  /// Equal for equal bytes.
  var identity: String {
    switch self {
    case .file(let file): return file.sha256.hex
    case .bytes(let bytes): return Digest.sha256(of: bytes).hex
    case .path(let path):
      let facts = try? FileSystem.facts(path)
      return "\(path) \(facts?.size ?? 0) \(facts?.modified ?? 0) \(facts?.changed ?? 0)"
    }
  }

  /// What tells the bytes' place, or bytes that are in memory, from others: legs of one item have the same.
  var place: String {
    switch self {
    case .file(let file): file.writtenPath ?? identity
    case .bytes: identity
    case .path(let path): path
    }
  }

  var input: PictureJob.Input {
    get throws(Fault) {
      switch self {
      case .file(let file): try file.picture
      case .bytes(let bytes): .bytes(bytes)
      case .path(let path): .path(path)
      }
    }
  }
}

extension HeldFile {
  /// What a worker is given: the bytes themselves where they are in memory, else the path.
  var picture: PictureJob.Input {
    get throws(Fault) { if let bytes = memory { .bytes(bytes) } else { .path(try path) } }
  }
}

/// A stage that does one thing to a picture.
protocol PictureStage: Stage {
  /// What it does; nil where it only says how the picture is written.
  static func operation(_ config: Config) throws(Fault) -> PictureOperation?
}

extension PictureStage {
  /// Adds what it does to the picture, and has it done unless the next stage will.
  func runOnPicture(_ leg: Leg, in context: StageContext) async throws -> StageResult {
    var picture: DeferredPicture
    if case .deferred(let work) = leg.content, let known = work as? DeferredPicture {
      picture = known
    } else {
      picture = DeferredPicture(
        origin: try await .of(leg, stage: context.stage), reading: ReadOptions(context.config),
        branch: PictureBranch([]), services: context.services)
    }
    if let siblings = try context.siblings?() {
      picture.legs *= siblings.count
      if picture.branch.operations.isEmpty, picture.branch.beside.isEmpty {
        for config in siblings {
          if case .resize(let resize)? = try Self.operation(config) { picture.branch.beside.append(resize) }
        }
      }
    }
    if let operation = try Self.operation(context.config) { picture.branch.operations.append(operation) }
    try picture.branch.encoding.add(context.config)
    if context.isFused { return StageResult(content: .deferred(picture)) }
    let made = try await picture.make()
    return StageResult(content: made.content, fields: PictureKeys.fields(of: made.facts))
  }
}

extension PartSpec {
  /// The specification with a check of what types cannot say: colours, shapes, and what this machine can write.
  func checked<Kind: PictureStage>(by stage: Kind.Type) -> PartSpec {
    var spec = self
    spec.check = { config, _ in
      do throws(Fault) {
        if config.isConstant {
          _ = try stage.operation(config)
          var encoding = EncodeOptions()
          try encoding.add(config)
        }
        if let format = config.text("format").flatMap(PictureFormat.init(rawValue:)) {
          try PictureEncoders.require(format)
        }
        return []
      } catch {
        return [error.message]
      }
    }
    return spec
  }
}

extension PictureWorkers {
  /// The run's workers: as many as it may use cores, or one more than there are, and the memory shared among them.
  ///
  /// The one more has something to do while another waits for the run to hand it its next picture.
  static func shared(by services: any RunServices) throws(Fault) -> PictureWorkers {
    try services.shared(PictureWorkers.self) { () throws(Fault) in
      let count = services.settings.cpu ?? OwnProcess.processors + 1
      var limits = Limits()
      if let memory = services.settings.memory { limits.memory = max(256 << 20, memory / max(1, count)) }
      return PictureWorkers(count: count, limits: limits)
    }
  }
}
