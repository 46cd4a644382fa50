extension WireWriter {
  mutating func put(_ operation: PictureOperation) {
    switch operation {
    case .resize(let resize):
      put("resize")
      put(optional: resize.width)
      put(optional: resize.height)
      put(resize.fit)
      put(resize.gravity)
      put(resize.enlarges)
      put(resize.background)
      put(resize.kernel)
    case .crop(let crop):
      put("crop")
      put(crop)
    case .rotate(let degrees, let background):
      put("rotate")
      put(degrees)
      put(background)
    case .monochrome(let colour, let intensity):
      put("monochrome")
      put(colour)
      put(intensity)
    case .tiltShift(let shift):
      put("tilt_shift")
      for number in [shift.centre, shift.band, shift.radius, shift.angle, shift.saturation] { put(number) }
    case .roundCorners(let radius):
      put("round_corners")
      switch radius {
      case .pixels(let length):
        put(true)
        put(length)
      case .share(let share):
        put(false)
        put(share)
      }
    case .blur(let sigma):
      put("blur")
      put(sigma)
    case .sharpen(let sigma):
      put("sharpen")
      put(sigma)
    }
  }

  private mutating func put(_ crop: Crop) {
    switch crop.shape {
    case .size(let width, let height):
      put(true)
      put(optional: width)
      put(optional: height)
    case .aspect(let width, let height):
      put(false)
      put(width)
      put(height)
    }
    put(crop.origin != nil)
    if let origin = crop.origin {
      put(origin.x)
      put(origin.y)
    }
    put(crop.gravity)
  }
}

extension WireReader {
  mutating func operation() throws(Garbled) -> PictureOperation {
    switch try text() {
    case "resize":
      var resize = Resize(width: try optionalInt(), height: try optionalInt())
      resize.fit = try word()
      resize.gravity = try word()
      resize.enlarges = try flag()
      resize.background = try colour()
      resize.kernel = try word()
      return .resize(resize)
    case "crop": return .crop(try crop())
    case "rotate": return .rotate(degrees: try double(), background: try colour())
    case "monochrome": return .monochrome(colour: try colour(), intensity: try double())
    case "tilt_shift":
      var shift = TiltShift()
      shift.centre = try double()
      shift.band = try double()
      shift.radius = try double()
      shift.angle = try double()
      shift.saturation = try double()
      return .tiltShift(shift)
    case "round_corners": return .roundCorners(try flag() ? .pixels(try double()) : .share(try double()))
    case "blur": return .blur(sigma: try double())
    case "sharpen": return .sharpen(sigma: try double())
    default: throw Garbled()
    }
  }

  private mutating func crop() throws(Garbled) -> Crop {
    let shape: Crop.Shape =
      try flag()
      ? .size(width: try optionalInt(), height: try optionalInt()) : .aspect(width: try double(), height: try double())
    let origin = try flag() ? Crop.Origin(x: try int(), y: try int()) : nil
    return Crop(shape, origin: origin, gravity: try word())
  }
}
