public import FlowBase

/// The digests of outputs' bytes.
extension OutputTree {
  /// The SHA-256 of an output's bytes; nil if there is no such file.
  public func digest(_ path: String) throws(Fault) -> Digest? { try digests([path])[0].get() }

  /// The SHA-256 of the bytes of some outputs, each at its path's place; nil where there is no such file.
  ///
  /// A piece of each is read in turn, so that the processor's vectors take those of several at once.
  public func digests(_ paths: [String]) -> [Result<Digest?, Fault>] {
    digests(paths, atOnce: max(1, DigestStream.mostAtOnce))
  }

  func digests(_ paths: [String], atOnce most: Int) -> [Result<Digest?, Fault>] {
    var digests = [Result<Digest?, Fault>](repeating: .success(nil), count: paths.count)
    let most = min(most, paths.count)
    var open: [FileInPieces] = []
    var coming = paths.indices.makeIterator()
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: most * OutputTree.piece) { room in
      while true {
        while open.count < most, let place = coming.next() {
          do throws(Fault) {
            if let file = try FileInPieces(paths[place], at: place, in: self) { open.append(file) }
          } catch { digests[place] = .failure(error) }
        }
        if open.isEmpty { return }
        var pieces: [UnsafeRawBufferPointer] = unsafe []
        for (number, file) in open.enumerated() {
          let part = unsafe room[number * OutputTree.piece..<(number + 1) * OutputTree.piece]
          unsafe pieces.append(
            file.next(into: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: part))))
        }
        unsafe DigestStream.update(open.map(\.stream), pieces)
        for file in open where file.isThrough { digests[file.place] = file.digest }
        open.removeAll(where: \.isThrough)
      }
    }
    return digests
  }

  /// How much of a file is read at once where there are others: what all of them read stays in the processor's caches.
  private static let piece = 32 * 1024
}

/// A file that is read piece by piece for its digest.
private final class FileInPieces {
  /// Its place among the others.
  let place: Int
  let stream = DigestStream(.sha256)
  private(set) var isThrough = false
  private let path: String
  private let file: Descriptor
  /// How long it was when it was opened.
  private let size: Int
  private var count = 0
  private var fault: Fault?

  /// Opens an output; nil if there is no such file.
  init?(_ path: String, at place: Int, in tree: OutputTree) throws(Fault) {
    guard let file = try tree.read(path) else { return nil }
    let facts = try naming("read", tree.absolute(path)) { () throws(Errno) in try file.facts() }
    guard facts.kind == .file else { return nil }
    (self.place, self.path, self.file, size) = (place, tree.absolute(path), file, facts.size)
  }

  /// Reads on until the memory is full or the file at its end.
  func next(into room: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
    var taken = 0
    do throws(Errno) {
      while !isThrough, taken < room.count {
        let length = try unsafe file.read(into: UnsafeMutableRawBufferPointer(rebasing: room[taken...]))
        taken += length
        count += length
        isThrough = length == 0 || count == size
      }
    } catch {
      isThrough = true
      fault = error.fault("read", path)
    }
    return unsafe UnsafeRawBufferPointer(rebasing: room[..<taken])
  }

  /// The digest of all that was read, once it is through.
  var digest: Result<Digest?, Fault> { fault.map { .failure($0) } ?? .success(stream.finish()) }
}
