internal import FlowBase

/// The formats of picture files that can be read.
public enum PictureFormat: String, Sendable, Hashable, CaseIterable {
  case jpeg, png, webp, gif, tiff, heic, avif, jxl
  /// Read only where they are asked for by name, because they run code or read other files.
  case svg, pdf

  /// What may be read unless a stage says otherwise.
  public static let trusted: Set<PictureFormat> = [.jpeg, .png, .webp, .gif, .tiff, .heic, .avif, .jxl]

  /// The format that the first bytes show; nothing is read from names or from what a server says.
  public init?(of bytes: [UInt8]) {
    switch MediaType.sniff(Array(bytes.prefix(MediaType.prefixLength))) {
    case "image/jpeg": self = .jpeg
    case "image/png": self = .png
    case "image/webp": self = .webp
    case "image/gif": self = .gif
    case "image/tiff": self = .tiff
    case "image/heic": self = .heic
    case "image/avif": self = .avif
    case "image/jxl": self = .jxl
    case "image/svg+xml": self = .svg
    case "application/pdf": self = .pdf
    default: return nil
    }
  }

  /// Its media type.
  public var media: String {
    switch self {
    case .svg: "image/svg+xml"
    case .pdf: "application/pdf"
    default: "image/" + rawValue
    }
  }

  /// Whether its files can hold several frames that follow one another.
  public var isAnimated: Bool { self == .gif || self == .webp }
  /// Whether its files can hold transparency.
  public var hasAlpha: Bool { self != .jpeg }
  /// What a picture of this format is written as where no stage names a format.
  public var kept: PictureFormat {
    switch self {
    case .svg, .pdf: .png
    default: self
    }
  }
}
