internal import FlowImage

extension PictureJob {
  /// A small WebP of a picture's first frame, at most so wide and high.
  init(thumbnailOf input: Input, side: Int) {
    var reading = ReadOptions()
    reading.firstOnly = true
    var encoding = EncodeOptions()
    encoding.format = .webp
    encoding.quality = 75
    let resize = Resize(width: side, height: side)
    self.init(input, reading: reading, wish: .pictures([PictureBranch([.resize(resize)], encoding: encoding)]))
  }
}
