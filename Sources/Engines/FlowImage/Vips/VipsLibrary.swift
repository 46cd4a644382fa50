internal import CVips
internal import FlowBase

/// libvips, loaded and set up on first use.
enum VipsLibrary {
  /// Loads the library, or says why it cannot be.
  static func require() throws(Fault) { try opened.get() }

  /// Whether there is an operation of this name.
  static func has(_ operation: String) -> Bool { unsafe imgflow_vips_has(operation) != 0 }

  private static let opened: Result<Void, Fault> = {
    var words: UnsafePointer<CChar>?
    guard unsafe imgflow_vips_open(&words) == 0 else {
      let reason = unsafe words.map { unsafe String(cString: $0) } ?? "unknown reason"
      return .failure(
        Fault(
          "image.unavailable", .config,
          "libvips cannot be loaded, install Debian's package libvips42: \(reason)"))
    }
    // Nothing is read but by the loaders that a picture's first bytes ask for.
    unsafe imgflow_vips_block("VipsForeignLoad", 1)
    for format in PictureFormat.trusted { allow(format, true) }
    unsafe imgflow_vips_block("VipsForeignLoadRaw", 0)
    return .success(())
  }()

  /// Lets the loader of a format run, or forbids it.
  static func allow(_ format: PictureFormat, _ isAllowed: Bool) {
    unsafe imgflow_vips_block(format.loaderClass, isAllowed ? 0 : 1)
  }
}

extension PictureFormat {
  fileprivate var loaderClass: String {
    switch self {
    case .jpeg: "VipsForeignLoadJpeg"
    case .png: "VipsForeignLoadPng"
    case .webp: "VipsForeignLoadWebp"
    case .gif: "VipsForeignLoadNsgif"
    case .tiff: "VipsForeignLoadTiff"
    case .heic, .avif: "VipsForeignLoadHeif"
    case .jxl: "VipsForeignLoadJxl"
    case .svg: "VipsForeignLoadSvg"
    case .pdf: "VipsForeignLoadPdf"
    }
  }

  /// The operation that reads it from memory.
  var loader: String {
    switch self {
    case .heic, .avif: "heifload_buffer"
    default: rawValue + "load_buffer"
    }
  }
}

/// What libvips says when it cannot do something.
struct VipsFailure: Error {
  var words: String

  /// Drops words that are left from before.
  static func forget() { imgflow_vips_clear_error() }

  /// Takes the words of what has just failed.
  static func take() -> VipsFailure {
    let words = unsafe imgflow_vips_error().map { unsafe String(cString: $0) } ?? ""
    imgflow_vips_clear_error()
    let lines = words.split(separator: "\n").map(String.init)
    // The last line is the consequence, the first the cause.
    return VipsFailure(words: lines.first ?? "unknown reason")
  }
}
