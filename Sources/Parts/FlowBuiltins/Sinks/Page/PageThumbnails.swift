internal import FlowBase
internal import FlowImage

/// Pictures of the run in the size of a tile: each is made once, on demand, and kept on disk as long as the page.
final class PageThumbnails: Sendable {
  /// A small picture.
  struct Small: Sendable {
    var bytes: [UInt8]
    var media: String
  }

  private struct Place {
    var offset: Int
    var length: Int
    var media: String
  }

  private struct State {
    var file: Descriptor?
    var length = 0
    var places: [String: Place?] = [:]
  }

  /// The longest side; screens with twice the pixels show it sharp.
  static let side = 320
  /// A longer file is not looked at.
  private static let largest = 64_000_000

  /// The folder that the pictures' paths start from.
  private let folder: String
  private let scratch: String?
  private let workers: PictureWorkers
  private let state = Guarded(State())

  /// `folder` is the one of the results; nothing outside of it is ever read.
  init(folder: String, scratch: String?) {
    self.folder = folder
    self.scratch = scratch
    // One at a time: the run's own pictures come first.
    workers = PictureWorkers(count: 1)
  }

  /// The small form of a file of the run; nil where it is gone or no picture.
  func picture(_ path: String, _ digest: String) async -> Small? {
    let name = "\(digest) \(path)"
    if let known = state.withLock({ $0.places[name] }) { return known.flatMap(read) }
    let made = await make(path)
    return state.withLock { state in
      guard let made else {
        state.places[name] = .some(nil)
        return nil
      }
      // Where nothing can be kept, it is made again when it is asked for again.
      guard let file = file(&state) else { return made }
      if (try? file.write(made.bytes)) != nil {
        state.places[name] = Place(offset: state.length, length: made.bytes.count, media: made.media)
        state.length += made.bytes.count
      } else {
        state.file = nil
      }
      return made
    }
  }

  private func read(_ place: Place) -> Small? {
    guard let file = state.withLock({ $0.file }), let bytes = try? file.read(upTo: place.length, at: place.offset),
      bytes.count == place.length
    else { return nil }
    return Small(bytes: bytes, media: place.media)
  }

  private func file(_ state: inout State) -> Descriptor? {
    if let file = state.file { return file }
    let path = PathText.join(scratch ?? "/tmp", ".thumbs-\(ThisProcess.id)-\(Entropy.token(16))")
    guard let file = try? FileSystem.open(path, [.readWrite, .create, .exclusive], mode: 0o600) else { return nil }
    try? FileSystem.remove(path)
    state.file = file
    state.length = 0
    state.places = [:]
    return file
  }

  private func make(_ path: String) async -> Small? {
    guard let bytes = await original(path) else { return nil }
    let job = PictureJob(thumbnailOf: .bytes(bytes), side: Self.side)
    guard case .pictures(let made)? = try? await workers.perform(job), let small = made.first else { return nil }
    return Small(bytes: small.bytes, media: small.facts.format.media)
  }

  /// The bytes of a file below the folder of the results, without a link on the way.
  private func original(_ path: String) async -> [UInt8]? {
    let folder = folder
    return await withCheckedContinuation { continuation in
      WorkerThread.start("page-file") { continuation.resume(returning: Self.read(path, below: folder)) }
    }
  }

  static func read(_ path: String, below folder: String) -> [UInt8]? {
    guard (try? RelativePath(parsing: path)) != nil,
      let directory = try? FileSystem.open(folder, [.read, .directory])
    else { return nil }
    let file: Descriptor
    do throws(Errno) {
      file = try FileSystem.openBeneath(path, [.read, .nonBlocking], in: directory)
    } catch {
      // A kernel without the call: the path is followed to its end, and judged there.
      guard error == .noCall || error == .notPermitted, let real = try? PathText.real(PathText.join(folder, path)),
        let base = try? PathText.real(folder), real.hasPrefix(base + "/"),
        let opened = try? FileSystem.open(real, [.read, .noFollow, .nonBlocking])
      else { return nil }
      file = opened
    }
    guard let facts = try? file.facts(), facts.kind == .file, facts.size <= largest else { return nil }
    return try? file.readAll(limit: largest)
  }
}
