internal import FlowBase

/// A picture file's bytes, and what can be said of them without decoding.
struct PictureSource {
  let bytes: PinnedBytes
  let format: PictureFormat

  init(_ input: PictureJob.Input, loaders: Set<PictureFormat>) throws(Fault) {
    let content: [UInt8] =
      switch input {
      case .bytes(let bytes): bytes
      case .path(let path): try SmallFiles.read(path)
      }
    guard let format = PictureFormat(of: content) else { throw PictureSource.unknown(content) }
    guard PictureFormat.trusted.contains(format) || loaders.contains(format) else {
      throw Fault(
        "image.unsupported", .permanent,
        "\(format.rawValue) is not read unless `loaders: [\(format.rawValue)]` says so, since its files can do more "
          + "than show a picture")
    }
    self.format = format
    bytes = PinnedBytes(content)
  }

  private static func unknown(_ content: [UInt8]) -> Fault {
    if content.isEmpty { return Fault("image.corrupt", .permanent, "there are no bytes") }
    let media = MediaType.decide(Array(content.prefix(MediaType.prefixLength)), declared: nil)
    if let media, media.hasPrefix("image/") {
      return Fault("image.unsupported", .permanent, "\(media) is no format that is read here")
    }
    return Fault("image.corrupt", .permanent, "this is no picture but \(media ?? "something unknown")")
  }

  /// The fault that a failure of the library stands for.
  func fault(_ failure: VipsFailure) -> Fault {
    let words = failure.words.lowercased()
    if words.contains("out of memory") || words.contains("unable to allocate") {
      return Fault(
        "image.too_large", .permanent, "the picture needs more memory than a picture may: \(failure.words)")
    }
    if words.hasPrefix("vipsoperation: class") {
      return Fault("image.unavailable", .config, "libvips on this machine is made without a part: \(failure.words)")
    }
    let shortWords = ["premature end", "truncated", "end of file", "unexpected end", "not enough data", "read error"]
    if PictureEnd.isCut(bytes, format) || shortWords.contains(where: words.contains) {
      return Fault("image.truncated", .permanent, "the \(format.rawValue) ends too early: \(failure.words)")
    }
    return Fault("image.corrupt", .permanent, "the \(format.rawValue) cannot be decoded: \(failure.words)")
  }
}
