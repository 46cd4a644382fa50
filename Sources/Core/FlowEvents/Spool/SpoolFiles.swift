internal import FlowBase

/// The files of a spool, one behind the other: written at the end of the last, removed from the first on.
///
/// One thread at a time uses it; `unsynced` alone is handed out to another.
final class SpoolFiles {
  private struct Segment {
    var number: Int
    var size: Int
    /// The highest `seq` of its events.
    var last: Int
  }

  private let folder: String
  private let form: String
  private let segmentSize: Int
  private var segments: [Segment] = []
  private var writer: Descriptor?
  private var isSynced = true
  private var reader: Descriptor?
  /// Where the reader is: the file's number, the place in it behind `front`, and what was read and not taken.
  private var readNumber = 0
  private var readOffset = 0
  private var front: [UInt8] = []
  private var taken = 0
  /// Bytes that were passed over because their checksum did not fit.
  private(set) var damagedBytes = 0

  private static let chunk = 1 << 16

  /// New files in a folder, or those that are there.
  init(folder: String, form: String, segmentSize: Int) throws(Fault) {
    self.folder = folder
    self.form = form
    self.segmentSize = segmentSize
    do throws(Errno) {
      let listing = try DirectoryListing(of: folder)
      while let entry = try listing.next() {
        guard entry.name.hasSuffix(".seg"), let number = Int(entry.name.dropLast(4)) else { continue }
        let size = try FileSystem.facts(entry.name, in: listing.directory).size
        segments.append(Segment(number: number, size: size, last: -1))
      }
    } catch {
      throw SpoolFiles.fault(error, "read", folder)
    }
    segments.sort { $0.number < $1.number }
    rewind()
  }

  /// How many bytes the files have.
  var bytes: Int { segments.reduce(0) { $0 + $1.size } }

  /// The file that has been written to since this was asked last.
  func unsynced() -> Descriptor? {
    defer { isSynced = true }
    return isSynced ? nil : writer
  }

  // MARK: Writing

  /// Appends records at once; `last` is the highest `seq` of the events among them.
  func append(_ records: [UInt8], last: Int) throws(Fault) {
    do throws(Errno) {
      if writer == nil || segments.last.map({ $0.size + records.count > segmentSize }) == true { try begin() }
      try writer?.write(records)
    } catch {
      // What was written of it is damage that a reader would stop at: the next record begins a new file.
      writer = nil
      throw SpoolFiles.fault(error, "write", folder)
    }
    segments[segments.count - 1].size += records.count
    segments[segments.count - 1].last = max(segments[segments.count - 1].last, last)
    isSynced = false
  }

  private func begin() throws(Errno) {
    try writer?.syncData()
    let number = (segments.last?.number ?? 0) + 1
    var head: [UInt8] = []
    SpoolRecord(kind: .form, seq: 0, payload: Array(form.utf8)).append(to: &head)
    let file = try FileSystem.open(path(number), [.write, .create, .exclusive, .append], mode: 0o600)
    do { try file.write(head) } catch {
      // Or it would be in the way once there is room again.
      try? FileSystem.remove(path(number))
      throw error
    }
    writer = file
    segments.append(Segment(number: number, size: head.count, last: -1))
    if readNumber == 0 { readNumber = number }
  }

  /// Removes the files whose events are all done, but for the one that is written to.
  func removeDone(through seq: Int) {
    while segments.count > 1, let first = segments.first, first.last <= seq, first.number < readNumber {
      try? FileSystem.remove(path(first.number))
      segments.removeFirst()
    }
  }

  // MARK: Reading

  /// Begins to read from the first record again.
  func rewind() {
    readNumber = segments.first?.number ?? 0
    readOffset = 0
    reader = nil
    front = []
    taken = 0
  }

  /// The next record; nil where there is none yet.
  func next() throws(Fault) -> SpoolRecord? {
    while true {
      switch SpoolRecord.read(front, at: taken) {
      case .record(let record, let end):
        taken = end
        note(record)
        return record
      case .damaged:
        guard skip() else { return nil }
      case .short(let needs):
        if try fill(needs) { continue }
        // Only the last file may still grow; what is torn at the end of another was cut off by a crash.
        guard readNumber != segments.last?.number, skip() else { return nil }
      }
    }
  }

  /// Remembers which file an event is in, for those files that an earlier process has written.
  private func note(_ record: SpoolRecord) {
    guard record.kind == .event || record.kind == .passing,
      let place = segments.firstIndex(where: { $0.number == readNumber })
    else { return }
    segments[place].last = max(segments[place].last, record.seq)
  }

  /// Goes on with the next file.
  private func skip() -> Bool {
    guard let place = segments.firstIndex(where: { $0.number == readNumber }) else { return false }
    damagedBytes += max(0, segments[place].size - readOffset) + front.count - taken
    front = []
    taken = 0
    reader = nil
    guard segments.indices.contains(place + 1) else {
      readOffset = segments[place].size
      return false
    }
    readNumber = segments[place + 1].number
    readOffset = 0
    return true
  }

  private func fill(_ count: Int) throws(Fault) -> Bool {
    guard let segment = segments.first(where: { $0.number == readNumber }) else { return false }
    front.removeFirst(taken)
    taken = 0
    do throws(Errno) {
      if reader == nil { reader = try FileSystem.open(path(readNumber), .read) }
      let wanted = max(SpoolFiles.chunk, count - front.count)
      let piece = try reader?.read(upTo: min(wanted, max(0, segment.size - readOffset)), at: readOffset) ?? []
      readOffset += piece.count
      front.append(contentsOf: piece)
      return !piece.isEmpty
    } catch {
      throw SpoolFiles.fault(error, "read", folder)
    }
  }

  private func path(_ number: Int) -> String {
    let digits = String(number)
    return "\(folder)/\(String(repeating: "0", count: max(0, 6 - digits.count)))\(digits).seg"
  }

  static func fault(_ error: Errno, _ verb: String, _ path: String) -> Fault {
    error.fault("cannot \(verb) the spool in \(path)")
  }
}
