internal import FlowBase

/// The way that most pictures take: a JPEG made smaller and written as a JPEG, without libvips.
///
/// It takes only what it is sure to do as the common way would; whatever is odd or broken goes there.
enum JPEGPath {
  /// The pictures that this way leads to, in the order of the branches; the others go the common way.
  ///
  /// Which way a branch goes depends on nothing but itself.
  static func pictures(of job: PictureJob, _ source: PictureSource) -> [MadePicture?] {
    guard source.format == .jpeg, case .pictures(let branches) = job.wish, TurboCodec.isThere,
      branches.contains(where: { Step($0) != nil }), let header = JPEGHeader(source.bytes),
      isPlain(header, job.reading)
    else { return [] }
    let orientation = job.reading.turns ? header.orientation : 1
    let stored = PictureSize(header.width, header.height)
    let size = orientation >= 5 ? stored.turned : stored
    var decoded: [Int: PixelBlock?] = [:]
    return branches.map { branch -> MadePicture? in
      guard let step = Step(branch) else { return nil }
      let shrink = ([step.resize] + branch.beside).map { ResizePlan($0, of: size).shrink(of: size) }.min() ?? 1
      let plan = ResizePlan(step.resize, of: size)
      // Below this, the means of areas are not as good as what the common way does.
      guard plan.shrink(of: size) >= 2 else { return nil }
      // Half of the shrinking at least is left to the means.
      let eighths = shrink >= 16 ? 1 : shrink >= 8 ? 2 : shrink >= 4 ? 4 : 8
      if decoded[eighths] == nil {
        decoded[eighths] = .some(TurboCodec.decode(source.bytes, header, eighths: eighths))
      }
      guard let block = decoded[eighths] ?? nil else { return nil }
      return step.make(block, plan, orientation)
    }
  }

  private static func isPlain(_ header: JPEGHeader, _ reading: ReadOptions) -> Bool {
    (header.components == 1 || header.components == 3) && header.width * header.height <= reading.pixels
      && header.metadata <= reading.metadata && reading.strictness != .nothing
      && header.profile.map(Colours.isPlain) ?? true
  }

  /// A branch that this way can do.
  private struct Step {
    let resize: Resize
    let encoding: EncodeOptions

    init?(_ branch: PictureBranch) {
      guard branch.operations.count == 1, case .resize(let resize) = branch.operations[0] else { return nil }
      let encoding = branch.encoding
      guard encoding.format == nil || encoding.format == .jpeg, encoding.strips, !encoding.keepsProfile,
        encoding.effort ?? 0 == 0, resize.kernel == .lanczos3, resize.gravity != .attention,
        resize.gravity != .entropy, resize.background.isOpaque
      else { return nil }
      self.resize = resize
      self.encoding = encoding
    }

    func make(_ decoded: PixelBlock, _ plan: ResizePlan, _ orientation: Int) -> MadePicture? {
      let scaled = orientation >= 5 ? plan.scaled.turned : plan.scaled
      guard scaled.width <= decoded.width, scaled.height <= decoded.height else { return nil }
      var block = AreaReducer.reduce(decoded, to: scaled).upright(orientation)
      block = block.cut(
        x: resize.gravity.offset(across: block.width, of: plan.kept.width),
        y: resize.gravity.offset(down: block.height, of: plan.kept.height), plan.kept)
      if plan.canvas != plan.kept {
        let colour = resize.background
        guard block.bands == 3 || colour.red == colour.green && colour.green == colour.blue else { return nil }
        block = block.surrounded(
          by: block.bands == 3 ? [colour.red, colour.green, colour.blue] : [colour.red],
          x: resize.gravity.offset(across: plan.canvas.width, of: block.width),
          y: resize.gravity.offset(down: plan.canvas.height, of: block.height), plan.canvas)
      }
      let quality = encoding.quality ?? PictureFormat.jpeg.usualQuality
      // As libvips decides it: at high qualities all colours are kept.
      let isFull = encoding.chroma == .full || encoding.chroma == .automatic && quality >= 90
      guard
        let bytes = TurboCodec.encode(block, quality: quality, isFull: isFull, isProgressive: encoding.progressive)
      else { return nil }
      return MadePicture(
        bytes: bytes,
        facts: PictureFacts(
          format: .jpeg, width: block.width, height: block.height, hasAlpha: false,
          colourspace: block.bands == 1 ? "b-w" : "srgb"))
    }
  }
}

extension [MadePicture?] {
  /// All of them, where none is missing.
  var whole: [MadePicture]? {
    let made = compactMap(\.self)
    return isEmpty || made.count < count ? nil : made
  }
}
