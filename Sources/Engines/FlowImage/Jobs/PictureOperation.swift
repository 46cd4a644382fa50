/// One thing that is done to a picture.
public enum PictureOperation: Sendable, Hashable {
  /// Another size.
  case resize(Resize)
  /// A part of it.
  case crop(Crop)
  /// Turned clockwise by degrees; corners that turn up empty get the colour.
  case rotate(degrees: Double, background: Colour)
  /// One colour in all its shades.
  case monochrome(colour: Colour, intensity: Double)
  /// Sharp in a band and blurred outside.
  case tiltShift(TiltShift)
  /// Corners rounded off.
  case roundCorners(Radius)
  /// Blurred.
  case blur(sigma: Double)
  /// Sharpened.
  case sharpen(sigma: Double)
}

/// A length in pixels, or as a share of the shorter side.
public enum Radius: Sendable, Hashable {
  /// Pixels.
  case pixels(Double)
  /// 0 to 1; of the shorter side.
  case share(Double)
}

/// Which part of a picture is kept where not all of it is.
public enum Gravity: String, Sendable, Hashable, CaseIterable {
  case centre, north, northeast, east, southeast, south, southwest, west, northwest
  /// Where the eye looks first.
  case attention
  /// Where most is going on.
  case entropy

  /// Where a part of a length lies in the whole.
  func offset(across whole: Int, of part: Int) -> Int { Gravity.share(whole - part, columnShare) }
  /// Where a part of a height lies in the whole.
  func offset(down whole: Int, of part: Int) -> Int { Gravity.share(whole - part, rowShare) }

  private static func share(_ room: Int, _ halves: Int) -> Int { room * halves / 2 }

  private var columnShare: Int {
    switch self {
    case .west, .northwest, .southwest: 0
    case .east, .northeast, .southeast: 2
    default: 1
    }
  }

  private var rowShare: Int {
    switch self {
    case .north, .northeast, .northwest: 0
    case .south, .southeast, .southwest: 2
    default: 1
    }
  }
}

/// How a picture is resized.
public struct Resize: Sendable, Hashable {
  /// What happens where the box has another shape than the picture.
  public enum Fit: String, Sendable, Hashable, CaseIterable {
    /// All of the picture, at most as large as the box.
    case inside
    /// All of the box, and what juts out is cut off.
    case cover
    /// All of the picture, and the rest of the box in a colour.
    case contain
    /// Exactly the box, whatever that does to the shape.
    case fill
  }

  /// How pixels are made of others.
  public enum Kernel: String, Sendable, Hashable, CaseIterable {
    case nearest, linear, cubic, mitchell, lanczos2, lanczos3
  }

  /// The box's width; nil follows from the height.
  public var width: Int?
  /// The box's height; nil follows from the width.
  public var height: Int?
  /// How the picture fits the box.
  public var fit: Fit = .inside
  /// What stays, or where the picture lies in the box.
  public var gravity: Gravity = .centre
  /// Whether small pictures become larger.
  public var enlarges = false
  /// What fills the rest of the box.
  public var background: Colour = .white
  /// How pixels are made.
  public var kernel: Kernel = .lanczos3

  /// A size.
  public init(width: Int?, height: Int?) {
    self.width = width
    self.height = height
  }
}

/// Which part of a picture is kept.
public struct Crop: Sendable, Hashable {
  /// How the part is given.
  public enum Shape: Sendable, Hashable {
    /// In pixels; what is not said is the picture's own.
    case size(width: Int?, height: Int?)
    /// The largest part of this shape.
    case aspect(width: Double, height: Double)
  }

  /// How large it is.
  public var shape: Shape
  /// Where it lies, from the left and from the top; nil goes by gravity.
  public var origin: Origin?
  /// Where it lies unless that is said.
  public var gravity: Gravity = .centre

  /// A place in a picture.
  public struct Origin: Sendable, Hashable {
    /// Pixels from the left.
    public var x: Int
    /// Pixels from the top.
    public var y: Int
    /// A place.
    public init(x: Int, y: Int) {
      self.x = x
      self.y = y
    }
  }

  /// A part.
  public init(_ shape: Shape, origin: Origin? = nil, gravity: Gravity = .centre) {
    self.shape = shape
    self.origin = origin
    self.gravity = gravity
  }
}

/// A sharp band across a picture, as if it were of a toy.
public struct TiltShift: Sendable, Hashable {
  /// Where the band's middle lies, 0 at the top and 1 at the bottom.
  public var centre = 0.5
  /// How wide the band is, as a share of the picture.
  public var band = 0.3
  /// How far pixels are spread where the blur is greatest, in pixels.
  public var radius = 8.0
  /// By how many degrees the band is turned, clockwise.
  public var angle = 0.0
  /// How strong colours become: 1 leaves them.
  public var saturation = 1.2

  /// The usual band.
  public init() {}
}
