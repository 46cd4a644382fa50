internal import CArchive
public import FlowBase

/// Something that an archive holds.
public struct ArchiveMember: Sendable, Hashable {
  /// What it is.
  public enum Kind: Sendable, Hashable { case file, folder, link, other }

  /// Its path, as the archive has it: it may lead anywhere.
  public var path: String
  /// What it is.
  public var kind: Kind
  /// How many bytes it says to hold.
  public var size: Int?

  /// A member.
  public init(path: String, kind: Kind, size: Int?) {
    self.path = path
    self.kind = kind
    self.size = size
  }
}

/// Goes over the members of an archive, one after the other: tar (also with gzip, bzip2, xz, zstd), zip and 7z.
///
/// Nothing is written by it, and no program is started; one thread at a time uses it, and it blocks.
@safe public final class ArchiveReader {
  private let handle: imgflow_archive_reader
  private let name: String

  /// What is wrong with this machine, in words; nil where archives can be read.
  ///
  /// The library is loaded when this, or a reader, is first asked for.
  public static var problem: String? {
    imgflow_archive_load() == 0
      ? nil : "archives need the library libarchive, which is not there: apt-get install libarchive13"
  }

  /// Opens an archive; `name` is for messages.
  public init(path: String, name: String) throws(Fault) {
    if let problem = ArchiveReader.problem { throw Fault("config.library", .config, problem) }
    guard let handle = unsafe imgflow_archive_make() else {
      throw .internal("archive", "there is no memory for an archive")
    }
    unsafe self.handle = handle
    self.name = name
    if unsafe imgflow_archive_open(handle, path, 1 << 16) != 0 { throw fault() }
  }

  deinit { unsafe imgflow_archive_close(handle) }

  /// The next member; nil behind the last.
  public func next() throws(Fault) -> ArchiveMember? {
    var found: imgflow_archive_entry?
    let code = unsafe imgflow_archive_next(handle, &found)
    if code == 1 { return nil }
    guard code == 0, let entry = unsafe found else { throw fault() }
    if unsafe imgflow_archive_is_encrypted(entry) != 0 {
      throw Fault("archive.unsupported", .permanent, "\(name) is encrypted; nobody here knows its password")
    }
    let size = unsafe imgflow_archive_size(entry)
    // A path in an unknown encoding: what is no UTF-8 becomes the sign for that.
    let path = unsafe imgflow_archive_path(entry).map { unsafe String(cString: $0) } ?? ""
    return ArchiveMember(path: path, kind: unsafe kind(of: entry), size: size < 0 ? nil : Int(size))
  }

  private func kind(of entry: imgflow_archive_entry) -> ArchiveMember.Kind {
    switch unsafe imgflow_archive_kind(entry) {
    case 0: .file
    case 1: .folder
    case 2: .link
    default: .other
    }
  }

  /// Reads the current member's bytes into a sink, at most so many, and says how many there were.
  ///
  /// More than that is a fault `archive.too_large`: what a member says of its size is no promise.
  public func read(into sink: any ByteSink, atMost limit: Int) throws(Fault) -> Int {
    var buffer = [UInt8](repeating: 0, count: 1 << 17)
    var count = 0
    while true {
      let length = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe imgflow_archive_read(handle, bytes.baseAddress, bytes.count)
      }
      if length == 0 { return count }
      if length < 0 { throw fault() }
      count += length
      if count > limit {
        throw Fault("archive.too_large", .permanent, "\(name) holds more bytes than `max_bytes` allows")
      }
      let result: Result<Void, Fault> = unsafe buffer.withUnsafeBytes { bytes in
        do throws(Fault) {
          try unsafe sink.write(UnsafeRawBufferPointer(rebasing: bytes[..<length]))
          return .success(())
        } catch { return .failure(error) }
      }
      try result.get()
    }
  }

  private func fault() -> Fault {
    let words = unsafe imgflow_archive_error(handle).map { unsafe String(cString: $0) } ?? "it cannot be read"
    return Fault("archive.corrupt", .permanent, "\(name) is no archive that can be unpacked: \(words)")
  }
}
