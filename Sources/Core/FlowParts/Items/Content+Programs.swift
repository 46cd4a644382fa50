public import FlowBase

/// Bytes on their way to a program and back.
extension RunServices {
  /// The path of a file with an item's bytes; what is in memory is written into the folder.
  public func file(of content: Content, in folder: String, named name: String) async throws(Fault) -> HeldFile {
    switch content {
    case .file(let file): return file
    case .bytes(let bytes):
      let path = PathText.join(folder, name)
      try SmallFiles.replace(path, bytes, mode: 0o600)
      return HeldFile(path: path, bytes: bytes.count, sha256: Digest.sha256(of: bytes), isTemporary: true) {
        try? FileSystem.remove($0)
      }
    case .deferred(let work):
      let made: Content
      do { made = try await work.realise() } catch { throw Fault(error) }
      if case .deferred = made { throw .internal("deferred", "deferred content gave deferred content") }
      return try await file(of: made, in: folder, named: name)
    }
  }

  /// Takes a file over that a program has written below a folder: no link is followed, and only regular files count.
  ///
  /// The bytes are copied while they are hashed: the program may still have the file open, and must not be able to
  /// change what has been hashed.
  public func takeOver(_ path: String, below folder: String) throws(Fault) -> (file: HeldFile, media: String?) {
    let directory = try naming("open", folder) { () throws(Errno) in
      try FileSystem.open(folder, [.read, .directory])
    }
    let file: Descriptor
    do throws(Errno) {
      file = try FileSystem.openBeneath(path, [.read, .nonBlocking], in: directory)
    } catch {
      switch error {
      case .loop, .crossDevice:
        throw Fault("path.escapes", .permanent, "`\(path)` leads out of the folder for outputs, or through a link")
      default: throw Fault("program.output", .permanent, "cannot open the output `\(path)`: \(error.words)")
      }
    }
    let facts = try naming("look at", path) { () throws(Errno) in try file.facts() }
    guard facts.kind == .file else {
      throw Fault("program.output", .permanent, "the output `\(path)` is no regular file")
    }
    let partial = try makePartial()
    do throws(Fault) {
      var media: String?
      var buffer = [UInt8](repeating: 0, count: 1 << 17)
      while true {
        let count = try naming("read", path) { () throws(Errno) in try file.read(into: &buffer) }
        if count == 0 { break }
        if partial.count == 0 { media = MediaType.decide(Array(buffer.prefix(min(count, 1024))), declared: nil) }
        try partial.write(contentsOf: count == buffer.count ? buffer : Array(buffer[..<count]))
      }
      return (try partial.finish(), media)
    } catch {
      partial.abandon()
      throw error
    }
  }
}
