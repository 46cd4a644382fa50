internal import FlowBase

// Operations that change size and shape.
extension Frames {
  mutating func resize(_ resize: Resize) throws {
    let plan = ResizePlan(resize, of: size)
    try each { try Frames.scale($0, to: plan.scaled, resize.kernel) }
    size = plan.scaled
    if plan.kept != size { try keep(plan.kept, resize.gravity) }
    if plan.canvas != size { try surround(plan.canvas, resize.gravity, resize.background) }
  }

  mutating func crop(_ crop: Crop) throws {
    try settleSize()
    var wanted: PictureSize
    switch crop.shape {
    case .size(let width, let height): wanted = PictureSize(width ?? size.width, height ?? size.height)
    case .aspect(let width, let height):
      let shape = width / height
      let isWide = Double(size.width) / Double(size.height) > shape
      wanted = PictureSize(
        isWide ? max(1, Int((Double(size.height) * shape).rounded())) : size.width,
        isWide ? size.height : max(1, Int((Double(size.width) / shape).rounded())))
    }
    guard let origin = crop.origin else {
      return try keep(PictureSize(min(wanted.width, size.width), min(wanted.height, size.height)), crop.gravity)
    }
    // What is asked for beyond the picture's edges is not there; all of it beyond is a mistake.
    wanted.width = min(wanted.width, size.width - origin.x)
    wanted.height = min(wanted.height, size.height - origin.y)
    guard wanted.width > 0, wanted.height > 0 else {
      throw Fault(
        "image.crop", .permanent,
        "the part at \(origin.x), \(origin.y) lies outside of the picture, which is \(size.width) x \(size.height)")
    }
    try each { try $0.crop(x: origin.x, y: origin.y, width: wanted.width, height: wanted.height) }
    size = wanted
  }

  mutating func rotate(degrees: Double, background: Colour) throws {
    try settleSize()
    let turn = degrees.truncatingRemainder(dividingBy: 360)
    let positive = turn < 0 ? turn + 360 : turn
    if positive == 0 { return }
    try load()
    if positive.truncatingRemainder(dividingBy: 90) == 0 {
      let angle = Int(positive / 90)
      try each { try Vips.image("rot", ["in": .image($0), "angle": .int(angle)]) }
    } else {
      try each { image in
        var image = background.isOpaque ? image : try image.withAlpha()
        if image.isGrey, background.numbers(bands: 3) != Array(repeating: Double(background.red), count: 3) {
          image = try image.inColour()
        }
        return try image.mixing { image in
          var ground = background.numbers(bands: image.bands)
          if image.hasAlpha, !background.isOpaque { ground = ground.map { _ in 0 } }
          return try Vips.image(
            "rotate", ["in": .image(image), "angle": .double(positive), "background": .numbers(ground)])
        }
      }
      try each { $0.isBytes ? $0 : try $0.roundedToBytes() }
    }
    size = PictureSize(first.width, first.height)
  }

  /// Makes the frames as large as they are said to be, where they were decoded to less.
  mutating func settleSize() throws {
    let size = size
    try each { try Frames.scale($0, to: size, .lanczos3) }
  }

  private static func scale(_ image: VipsImage, to size: PictureSize, _ kernel: Resize.Kernel) throws -> VipsImage {
    if image.width == size.width, image.height == size.height { return image }
    let across = Double(size.width) / Double(image.width)
    let down = Double(size.height) / Double(image.height)
    let scaled = try image.mixing {
      try Vips.image(
        "resize",
        ["in": .image($0), "scale": .double(across), "vscale": .double(down), "kernel": .int(kernel.number)])
    }
    if scaled.width == size.width, scaled.height == size.height { return scaled }
    // A size that does not divide evenly may come out one off.
    return try Vips.image(
      "embed",
      [
        "in": .image(scaled), "x": .int(0), "y": .int(0), "width": .int(size.width), "height": .int(size.height),
        "extend": .int(1),
      ])
  }

  private mutating func keep(_ part: PictureSize, _ gravity: Gravity) throws {
    if part == size { return }
    var left = gravity.offset(across: size.width, of: part.width)
    var top = gravity.offset(down: size.height, of: part.height)
    if gravity == .attention || gravity == .entropy {
      // The first frame decides for all, so that the picture stands still.
      try load()
      let chosen = try Vips.image(
        "smartcrop",
        [
          "input": .image(first), "width": .int(part.width), "height": .int(part.height),
          "interesting": .int(gravity == .attention ? 3 : 2),
        ])
      (left, top) = (-chosen.offset.x, -chosen.offset.y)
      left = min(max(0, left), size.width - part.width)
      top = min(max(0, top), size.height - part.height)
    }
    try each { try $0.crop(x: left, y: top, width: part.width, height: part.height) }
    size = part
  }

  private mutating func surround(_ canvas: PictureSize, _ gravity: Gravity, _ background: Colour) throws {
    let left = gravity.offset(across: canvas.width, of: size.width)
    let top = gravity.offset(down: canvas.height, of: size.height)
    try each { image in
      var image = background.isOpaque ? image : try image.withAlpha()
      if !(background.red == background.green && background.green == background.blue) { image = try image.inColour() }
      return try Vips.image(
        "embed",
        [
          "in": .image(image), "x": .int(left), "y": .int(top), "width": .int(canvas.width),
          "height": .int(canvas.height), "extend": .int(5),
          "background": .numbers(background.numbers(bands: image.bands)),
        ])
    }
    size = canvas
  }
}

extension Resize.Kernel {
  /// The number that libvips has for it.
  fileprivate var number: Int {
    switch self {
    case .nearest: 0
    case .linear: 1
    case .cubic: 2
    case .mitchell: 3
    case .lanczos2: 4
    case .lanczos3: 5
    }
  }
}
