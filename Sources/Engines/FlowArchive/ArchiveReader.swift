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
  private let handle: OpaquePointer
  private let name: String

  /// Opens an archive; `name` is for messages.
  public init(path: String, name: String) throws(Fault) {
    guard let handle = unsafe archive_read_new() else {
      throw .internal("archive", "there is no memory for an archive")
    }
    unsafe self.handle = handle
    self.name = name
    // No filter that would start a program, and no format that is none of an archive.
    _ = unsafe [
      archive_read_support_filter_gzip(handle), archive_read_support_filter_bzip2(handle),
      archive_read_support_filter_xz(handle), archive_read_support_filter_lzma(handle),
      archive_read_support_filter_zstd(handle), archive_read_support_format_tar(handle),
      archive_read_support_format_gnutar(handle),
      // Not the one that reads zip files from the front: it takes one that was cut off for a whole one.
      archive_read_support_format_zip_seekable(handle),
      archive_read_support_format_7zip(handle),
    ]
    if unsafe archive_read_open_filename(handle, path, 1 << 16) != ARCHIVE_OK { throw fault() }
  }

  deinit { unsafe archive_read_free(handle) }

  /// The next member; nil behind the last.
  public func next() throws(Fault) -> ArchiveMember? {
    var entry: OpaquePointer?
    var code = ARCHIVE_RETRY
    for _ in 0..<10 where code == ARCHIVE_RETRY { code = unsafe archive_read_next_header(handle, &entry) }
    if code == ARCHIVE_EOF { return nil }
    guard code == ARCHIVE_OK || code == ARCHIVE_WARN, let entry = unsafe entry else { throw fault() }
    if unsafe archive_entry_is_data_encrypted(entry) != 0 {
      throw Fault("archive.unsupported", .permanent, "\(name) is encrypted; nobody here knows its password")
    }
    let isSized = unsafe archive_entry_size_is_set(entry) != 0
    return ArchiveMember(
      path: unsafe path(of: entry), kind: unsafe kind(of: entry),
      size: isSized ? Int(unsafe archive_entry_size(entry)) : nil)
  }

  private func path(of entry: OpaquePointer) -> String {
    if let text = unsafe archive_entry_pathname_utf8(entry) { return unsafe String(cString: text) }
    // Bytes of an unknown encoding: what is no UTF-8 becomes the sign for that.
    return unsafe archive_entry_pathname(entry).map { unsafe String(cString: $0) } ?? ""
  }

  private func kind(of entry: OpaquePointer) -> ArchiveMember.Kind {
    let isTwin = unsafe archive_entry_hardlink(entry) != nil
    if isTwin { return .link }
    let type = UInt32(unsafe archive_entry_filetype(entry))
    if type == imgflow_archive_file { return .file }
    if type == imgflow_archive_folder { return .folder }
    return type == imgflow_archive_link ? .link : .other
  }

  /// Reads the current member's bytes into a sink, at most so many, and says how many there were.
  ///
  /// More than that is a fault `archive.too_large`: what a member says of its size is no promise.
  public func read(into sink: any ByteSink, atMost limit: Int) throws(Fault) -> Int {
    var buffer = [UInt8](repeating: 0, count: 1 << 17)
    var count = 0
    while true {
      let length = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe archive_read_data(handle, bytes.baseAddress, bytes.count)
      }
      if length == 0 { return count }
      if length == Int(ARCHIVE_RETRY) { continue }
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
    let words = unsafe archive_error_string(handle).map { unsafe String(cString: $0) } ?? "it cannot be read"
    return Fault("archive.corrupt", .permanent, "\(name) is no archive that can be unpacked: \(words)")
  }
}
