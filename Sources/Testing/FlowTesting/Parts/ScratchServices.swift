public import FlowBase
public import FlowEvents
public import FlowParts

/// What a run does for its stages, done plainly in a folder of its own: for tests of single parts.
public final class ScratchServices: RunServices {
  private struct State {
    var shared: [ObjectIdentifier: any Sendable] = [:]
    var log: [String] = []
    var told: [Payload] = []
    var partials = 0
  }

  private let state = Guarded(State())

  /// Where temporary files and outputs go.
  public let place: TempPlace
  /// What the manifest would say.
  public let settings: RunSettings
  /// Two threads for work that blocks.
  public let blocking = BlockingPool(name: "scratch", threads: 2)

  /// Services over a new folder.
  public init(_ change: (inout RunSettings) -> Void = { _ in }) throws(Fault) {
    place = try TempPlace()
    var settings = RunSettings(name: "scratch", folder: place.path, outputFolder: place.file("out"))
    settings.allowsPrivate = true
    change(&settings)
    self.settings = settings
    let folders = [place.file("out"), place.file("tmp")]
    for folder in folders { try SmallFiles.makeFolder(folder) }
  }

  deinit { blocking.close() }

  /// The lines of the log so far.
  public var log: [String] { state.withLock { $0.log } }
  /// The names of temporary files that are still there.
  public var temporaryNames: [String] { (try? SmallFiles.names(in: place.file("tmp"))) ?? [] }

  /// Opens a new temporary file.
  public func makePartial() throws(Fault) -> any PartialWriter {
    let number = state.withLock { state in
      state.partials += 1
      return state.partials
    }
    return try ScratchPartial(place.file("tmp/\(number)"))
  }

  /// Writes the bytes below `out`; a temporary file is moved there, others are copied.
  public func publish(_ content: Content, at path: String, options: PublishOptions) async throws(Fault) -> OutputFact {
    let target = place.file("out/\(path)")
    if let slash = target.lastIndex(of: "/") { try SmallFiles.makeFolder(String(target[..<slash])) }
    switch content {
    case .file(let file):
      let source = try file.path
      if file.isTemporary {
        try naming("move", source) { () throws(Errno) in try FileSystem.rename(source, to: target) }
        file.becamePublished(at: target)
      } else {
        try SmallFiles.replace(target, try SmallFiles.read(source))
      }
      return OutputFact(path: path, bytes: file.bytes, sha256: file.sha256.hex, media: options.media)
    case .bytes(let bytes):
      try SmallFiles.replace(target, bytes)
      return OutputFact(
        path: path, bytes: bytes.count, sha256: Digest.sha256(of: bytes).hex, media: options.media)
    case .deferred(let deferred):
      let realised: Content
      do { realised = try await deferred.realise() } catch { throw Fault(error) }
      return try await publish(realised, at: path, options: options)
    }
  }

  /// The one object of its type.
  public func shared<Resource: Sendable>(
    _ type: Resource.Type, make: () throws(Fault) -> Resource
  ) throws(Fault) -> Resource {
    try state.withLock { state throws(Fault) in
      if let known = state.shared[ObjectIdentifier(type)] as? Resource { return known }
      let made = try make()
      state.shared[ObjectIdentifier(type)] = made
      return made
    }
  }

  /// What was told of programs so far.
  public var told: [Payload] { state.withLock { $0.told } }

  /// Makes a folder beside the outputs.
  public func makeScratch() throws(Fault) -> String {
    let number = state.withLock { state in
      state.partials += 1
      return state.partials
    }
    let path = place.file("tmp/\(number)")
    try SmallFiles.makeFolder(path)
    return path
  }

  /// Keeps what is told.
  public func tell(_ payload: Payload) { state.withLock { $0.told.append(payload) } }

  /// Keeps the line.
  public func log(_ level: LogLevel, _ message: String) { state.withLock { $0.log.append("\(level): \(message)") } }
}

/// A temporary file with its digest.
private final class ScratchPartial: DigestFile, PartialWriter, @unchecked Sendable {
  func finish() throws(Fault) -> HeldFile {
    HeldFile(path: path, bytes: count, sha256: takeDigest(), isTemporary: true) { try? FileSystem.remove($0) }
  }

  func abandon() { try? FileSystem.remove(path) }
}
