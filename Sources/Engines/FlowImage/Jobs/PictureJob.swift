/// Work for one worker: a picture, how it is read, and what is to be made of it.
public struct PictureJob: Sendable, Hashable {
  /// Where the bytes are.
  public enum Input: Sendable, Hashable {
    /// In a file.
    case path(String)
    /// Here.
    case bytes([UInt8])
  }

  /// What is wanted.
  public enum Wish: Sendable, Hashable {
    /// What the file says of itself; with `full` every pixel is decoded as well.
    case facts(full: Bool)
    /// Pictures, all made from one decoding.
    case pictures([PictureBranch])
    /// A perceptual hash: similar pictures have similar ones.
    case hash
    /// A small picture in plain pixels, for a sheet.
    case cell(SheetCell)
    /// A picture of plain pixels that lie in a file, row by row, in red, green and blue.
    case sheet(PictureSheet, EncodeOptions)
    /// What this machine can encode.
    case encoders
    /// Nothing but an end, a wait or a blow-up: proves what holds where a decoder does the same.
    case mishap(Mishap)
  }

  /// What a worker can be made to do to itself.
  public enum Mishap: String, Sendable, Hashable, CaseIterable {
    case crash, hang, memory
  }

  /// Where the bytes are.
  public var input: Input
  /// How they are read.
  public var reading: ReadOptions
  /// What is wanted.
  public var wish: Wish

  /// A job.
  public init(_ input: Input, reading: ReadOptions = ReadOptions(), wish: Wish) {
    self.input = input
    self.reading = reading
    self.wish = wish
  }
}

/// One of the pictures that are made of a decoded one.
public struct PictureBranch: Sendable, Hashable {
  /// What is done, in order.
  public var operations: [PictureOperation]
  /// How the result is written.
  public var encoding: EncodeOptions
  /// The sizes that are made of the same picture as well, now or in another job.
  ///
  /// The picture is decoded large enough for all of them, so that a branch gives the same bytes whether the others are
  /// made together with it or not.
  public var beside: [Resize] = []

  /// A branch.
  public init(
    _ operations: [PictureOperation], encoding: EncodeOptions = EncodeOptions(), beside: [Resize] = []
  ) {
    self.operations = operations
    self.encoding = encoding
    self.beside = beside
  }
}

/// How large a picture of plain pixels is.
public struct PictureSheet: Sendable, Hashable {
  /// Columns.
  public var width: Int
  /// Rows.
  public var height: Int

  /// A size.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }
}

/// A cell of a contact sheet.
public struct SheetCell: Sendable, Hashable {
  /// Its width, without the label.
  public var width: Int
  /// Its height, without the label.
  public var height: Int
  /// What lies around a picture of another shape.
  public var background: Colour
  /// A line of text below the picture.
  public var label: String?
  /// How high the line is.
  public var labelHeight: Int

  /// A cell.
  public init(width: Int, height: Int, background: Colour, label: String? = nil, labelHeight: Int = 0) {
    self.width = width
    self.height = height
    self.background = background
    self.label = label
    self.labelHeight = labelHeight
  }
}

/// How a picture is read, and how large it may be.
public struct ReadOptions: Sendable, Hashable {
  /// What ends the reading.
  public enum Strictness: String, Sendable, Hashable, CaseIterable {
    /// Nothing that the decoder can go on after.
    case nothing
    /// Broken and cut files.
    case errors
    /// Whatever the decoder complains of.
    case warnings
  }

  /// The most pixels, all frames that are read together.
  public var pixels = 100_000_000
  /// The most frames.
  public var frames = 1000
  /// The most bytes of what stands beside the pixels.
  public var metadata = 16_000_000
  /// Formats that are read beside the trusted ones.
  public var loaders: Set<PictureFormat> = []
  /// What ends the reading.
  public var strictness = Strictness.errors
  /// Whether the picture is turned as its orientation says.
  public var turns = true
  /// Whether only the first frame is read.
  public var firstOnly = false

  /// The usual ones.
  public init() {}
}

/// How a picture is written.
public struct EncodeOptions: Sendable, Hashable {
  /// How densely colours are kept, beside brightness.
  public enum Chroma: String, Sendable, Hashable, CaseIterable {
    /// As the format's encoder sees fit for the quality.
    case automatic
    /// One for each pixel.
    case full
    /// One for four pixels.
    case quarter
  }

  /// The format; nil keeps that of the file.
  public var format: PictureFormat?
  /// 1 to 100; nil is the format's usual one.
  public var quality: Int?
  /// Whether every pixel comes back as it was.
  public var lossless = false
  /// Whether it shows coarsely first.
  public var progressive = false
  /// Whether what stands beside the pixels is left out.
  public var strips = true
  /// Whether the colours stay in the file's own profile, which then comes along.
  public var keepsProfile = false
  /// How densely colours are kept.
  public var chroma = Chroma.automatic
  /// 0 to 9: how long the encoder tries.
  public var effort: Int?
  /// What shines through in formats without transparency.
  public var background = Colour.white

  /// The usual ones.
  public init() {}
}
