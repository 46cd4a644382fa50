internal import FlowBase
internal import FlowParts
internal import FlowTransfer

/// A temporary file that a failed try has left, and what is known of the body that it is the beginning of.
struct UnfinishedFile: Sendable {
  var partial: any PartialWriter
  var record: ResumeRecord
  var bytes: Int

  /// A file for a first try; with the request's key, a later run can find what is left of it.
  init(_ partial: any PartialWriter, key: RequestKey? = nil) {
    self.init(partial, ResumeRecord(keep: key.map { UnfinishedFile.keeper(partial, $0) }), bytes: 0)
  }

  /// A file that an earlier run has left of the same request.
  init?(leftFor key: RequestKey, by services: any RunServices) {
    // Mostly nothing was left, and the name need not be made.
    guard services.hasUnfinished else { return nil }
    let name = UnfinishedFile.name(of: key)
    guard let left = services.takeUnfinished(where: { $0.hasPrefix(name + "\n") }) else { return nil }
    let keeper = UnfinishedFile.keeper(left.file, key)
    guard left.file.count > 0, let record = ResumeRecord(String(left.note.dropFirst(name.count + 1)), keep: keeper)
    else {
      left.file.abandon()
      return nil
    }
    self.init(left.file, record, bytes: left.file.count)
  }

  private static func keeper(_ partial: any PartialWriter, _ key: RequestKey) -> @Sendable (String) -> Void {
    // Where it cannot be noted, the next run fetches the whole.
    { note in try? partial.remember(UnfinishedFile.name(of: key) + "\n" + note) }
  }

  /// What stands for a request in a note: its key holds what is nobody's to read.
  private static func name(of key: RequestKey) -> String { Digest.sha256(of: key.text).hex }

  init(_ partial: any PartialWriter, _ record: ResumeRecord, bytes: Int) {
    self.partial = partial
    self.record = record
    self.bytes = bytes
  }

  /// Whether another try can go on with it.
  var canGoOn: Bool { partial.count > 0 && record.validator != nil }
}

/// The beginnings of bodies whose next try is still to come.
///
/// There are at most so many, the oldest go first: an item that is given up leaves its file here.
final class UnfinishedFiles: Sendable {
  private let files = Guarded<[(key: RequestKey, file: UnfinishedFile)]>([])
  private static let limit = 64

  deinit { leave() }

  /// Leaves all of them to a later run; some are written to a file only now.
  func leave() {
    let left = files.withLock { files in
      defer { files = [] }
      return files
    }
    for entry in left { entry.file.partial.leave() }
  }

  /// The beginning for a request, no longer kept here.
  func take(_ key: RequestKey) -> UnfinishedFile? {
    files.withLock { files in
      files.firstIndex { $0.key == key }.map { files.remove(at: $0).file }
    }
  }

  /// Keeps a beginning for the next try.
  func keep(_ file: UnfinishedFile, _ key: RequestKey) {
    let oldest = files.withLock { files -> UnfinishedFile? in
      files.append((key, file))
      return files.count > UnfinishedFiles.limit ? files.removeFirst().file : nil
    }
    oldest?.partial.abandon()
  }
}
