public import FlowBase

/// What a worker answers.
public enum PictureReply: Sendable, Hashable {
  /// What the file says of itself.
  case facts(PictureFacts)
  /// The pictures, in the order of the branches.
  case pictures([MadePicture])
  /// A perceptual hash.
  case hash(UInt64)
  /// A cell's pixels.
  case cell(PixelBlock)
  /// The formats that can be encoded.
  case encoders(Set<PictureFormat>)
  /// Why it could not be done.
  case fault(Fault)
}

/// A picture as a file's bytes, and what is known of it.
public struct MadePicture: Sendable, Hashable {
  /// The file's bytes.
  public var bytes: [UInt8]
  /// What is known of it.
  public var facts: PictureFacts

  /// A picture.
  public init(bytes: [UInt8], facts: PictureFacts) {
    self.bytes = bytes
    self.facts = facts
  }
}

/// What is known of a picture.
public struct PictureFacts: Sendable, Hashable {
  /// Its format.
  public var format: PictureFormat
  /// Columns, as they stand in the file.
  public var width: Int
  /// Rows of one frame, as they stand in the file.
  public var height: Int
  /// Frames or pages.
  public var pages: Int
  /// Whether it has transparency.
  public var hasAlpha: Bool
  /// How it is to be turned to stand upright, 1 to 8.
  public var orientation: Int
  /// What its numbers mean: `srgb`, `b-w`, `cmyk`, `rgb16` and others.
  public var colourspace: String

  /// Facts.
  public init(
    format: PictureFormat, width: Int, height: Int, pages: Int = 1, hasAlpha: Bool, orientation: Int = 1,
    colourspace: String
  ) {
    self.format = format
    self.width = width
    self.height = height
    self.pages = pages
    self.hasAlpha = hasAlpha
    self.orientation = orientation
    self.colourspace = colourspace
  }
}

/// Plain pixels, row by row, eight bits a band.
public struct PixelBlock: Sendable, Hashable {
  /// Columns.
  public var width: Int
  /// Rows.
  public var height: Int
  /// Numbers a pixel: 1 grey, 2 grey and alpha, 3 red, green and blue, 4 with alpha.
  public var bands: Int
  /// The numbers.
  public var bytes: [UInt8]

  /// Pixels.
  public init(width: Int, height: Int, bands: Int, bytes: [UInt8]) {
    self.width = width
    self.height = height
    self.bands = bands
    self.bytes = bytes
  }
}
