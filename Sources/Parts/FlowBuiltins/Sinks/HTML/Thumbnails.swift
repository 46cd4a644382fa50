internal import FlowBase
internal import FlowImage

/// A picture of the run in the size in which a page shows it.
struct Thumbnail: Sendable {
  var picture: ReportBook.Picture
  var bytes: [UInt8]
  var media: String
}

/// Makes pictures small enough to stand in a page.
struct Thumbnails: Sendable {
  /// The folder that the pictures' paths start from.
  let folder: String
  let workers: PictureWorkers

  /// The longest side; screens with twice the pixels show it sharp.
  private static let side = 256
  /// A picture that cannot be made smaller stands there as it is, if it is no longer than this.
  private static let longest = 60_000
  /// A longer file is not looked at.
  private static let largest = 100_000_000

  init(folder: String, workers: PictureWorkers = PictureWorkers(count: 2)) {
    self.folder = folder
    self.workers = workers
  }

  /// The small forms, in order; what is gone or no picture is left out.
  func make(_ pictures: [ReportBook.Picture]) async -> [Thumbnail] {
    await withTaskGroup(of: (Int, Thumbnail?).self) { group in
      for (place, picture) in pictures.enumerated() { group.addTask { (place, await make(picture)) } }
      var made = [Thumbnail?](repeating: nil, count: pictures.count)
      for await (place, thumbnail) in group { made[place] = thumbnail }
      return made.compactMap(\.self)
    }
  }

  private func make(_ picture: ReportBook.Picture) async -> Thumbnail? {
    guard picture.bytes <= Thumbnails.largest else { return nil }
    let path = PathText.join(folder, picture.path)
    let job = PictureJob(thumbnailOf: .path(path), side: Thumbnails.side)
    if case .pictures(let made)? = try? await workers.perform(job), let small = made.first {
      return Thumbnail(picture: picture, bytes: small.bytes, media: small.facts.format.media)
    }
    guard picture.bytes <= Thumbnails.longest,
      let bytes = try? FileSystem.read(path, limit: Thumbnails.longest + 1), bytes.count <= Thumbnails.longest
    else { return nil }
    return Thumbnail(picture: picture, bytes: bytes, media: picture.media)
  }
}
