/// The sizes that a resize leads through: scaled, then cut or surrounded.
struct ResizePlan: Hashable {
  /// The size that all of the picture is scaled to.
  var scaled: PictureSize
  /// What of it is kept.
  var kept: PictureSize
  /// What is around it in the end.
  var canvas: PictureSize

  init(_ resize: Resize, of size: PictureSize) {
    let box = (width: resize.width, height: resize.height)
    guard let width = box.width, let height = box.height else {
      // One side is given, and the other follows, whatever the fit.
      var scale = 1.0
      if let width = box.width { scale = Double(width) / Double(size.width) }
      if let height = box.height { scale = Double(height) / Double(size.height) }
      if !resize.enlarges { scale = min(1, scale) }
      scaled = ResizePlan.scaled(size, by: scale)
      (kept, canvas) = (scaled, scaled)
      return
    }
    let across = Double(width) / Double(size.width)
    let down = Double(height) / Double(size.height)
    switch resize.fit {
    case .inside:
      scaled = ResizePlan.scaled(size, by: resize.enlarges ? min(across, down) : min(across, down, 1))
      (kept, canvas) = (scaled, scaled)
    case .contain:
      scaled = ResizePlan.scaled(size, by: resize.enlarges ? min(across, down) : min(across, down, 1))
      (kept, canvas) = (scaled, PictureSize(width, height))
    case .cover:
      let scale = max(across, down)
      scaled = ResizePlan.scaled(size, by: resize.enlarges ? scale : min(scale, 1))
      kept = PictureSize(min(width, scaled.width), min(height, scaled.height))
      canvas = kept
    case .fill:
      scaled = PictureSize(
        resize.enlarges ? width : min(width, size.width), resize.enlarges ? height : min(height, size.height))
      (kept, canvas) = (scaled, scaled)
    }
  }

  /// By how much the picture shrinks, the lesser of both directions.
  func shrink(of size: PictureSize) -> Double {
    min(Double(size.width) / Double(scaled.width), Double(size.height) / Double(scaled.height))
  }

  private static func scaled(_ size: PictureSize, by scale: Double) -> PictureSize {
    PictureSize(
      max(1, Int((Double(size.width) * scale).rounded())), max(1, Int((Double(size.height) * scale).rounded())))
  }
}
