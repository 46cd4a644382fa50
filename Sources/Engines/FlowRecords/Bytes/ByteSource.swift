public import FlowBase

/// Where bytes come from, read once from the beginning to the end.
///
/// One thread at a time reads it; reading may block.
public protocol ByteSource: AnyObject {
  /// What messages call it: a path as the user wrote it, or "standard input".
  var name: String { get }
  /// Reads the next bytes, at most as many as the buffer takes; 0 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int
}

/// The ways to get at bytes.
public enum ByteSources {
  /// Opens a file, or standard input for `-`; what is gzipped is unpacked on the way, whatever its name is.
  ///
  /// `name` is what messages call it, if not by its path.
  public static func open(_ path: String, name: String? = nil) throws(Fault) -> any ByteSource {
    if path == "-" {
      return try unpacking(DescriptorSource(.standardInput, name: name ?? "standard input"))
    }
    let name = name ?? path
    let descriptor = try naming("read", name) { () throws(Errno) in try FileSystem.open(path, [.read]) }
    return try unpacking(DescriptorSource(descriptor, name: name))
  }

  /// Bytes that are there already; what is gzipped is unpacked.
  public static func memory(_ bytes: [UInt8], name: String = "memory") throws(Fault) -> any ByteSource {
    try unpacking(MemorySource(bytes, name: name))
  }

  /// The source itself, or what it holds if its first two bytes are those of gzip.
  static func unpacking(_ source: any ByteSource) throws(Fault) -> any ByteSource {
    var head: [UInt8] = []
    while head.count < 2 {
      var two: [UInt8] = [0, 0]
      let count = try source.fill(&two, upTo: 2 - head.count)
      if count == 0 { break }
      head.append(contentsOf: two[..<count])
    }
    let whole = PrefixedSource(head, source)
    return head == Gzip.magic ? GzipSource(whole) : whole
  }
}

extension ByteSource {
  /// Reads into the first elements of an array.
  func fill(_ buffer: inout [UInt8], upTo count: Int) throws(Fault) -> Int {
    let result = unsafe buffer.withUnsafeMutableBytes { bytes -> Result<Int, Fault> in
      do throws(Fault) {
        return try unsafe .success(read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])))
      } catch { return .failure(error) }
    }
    return try result.get()
  }
}

/// The bytes of an open file or stream.
private final class DescriptorSource: ByteSource {
  let name: String
  private let descriptor: Descriptor

  init(_ descriptor: Descriptor, name: String) {
    self.descriptor = descriptor
    self.name = name
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int {
    do throws(Errno) {
      return try unsafe descriptor.read(into: buffer)
    } catch {
      throw error.fault("read", name)
    }
  }
}

/// Bytes of this process.
private final class MemorySource: ByteSource {
  let name: String
  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8], name: String) {
    self.bytes = bytes
    self.name = name
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int {
    let count = min(buffer.count, bytes.count - place)
    unsafe buffer.copyBytes(from: bytes[place..<place + count])
    place += count
    return count
  }
}

/// Bytes that were read already, and then the rest.
private final class PrefixedSource: ByteSource {
  private var prefix: [UInt8]
  private let rest: any ByteSource
  var name: String { rest.name }

  init(_ prefix: [UInt8], _ rest: any ByteSource) {
    self.prefix = prefix
    self.rest = rest
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int {
    if prefix.isEmpty { return try unsafe rest.read(into: buffer) }
    let count = min(buffer.count, prefix.count)
    unsafe buffer.copyBytes(from: prefix[..<count])
    prefix.removeFirst(count)
    return count
  }
}
