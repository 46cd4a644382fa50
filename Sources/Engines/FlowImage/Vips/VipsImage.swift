internal import CVips
internal import FlowBase

/// An image of libvips: mostly a recipe, whose pixels are made when they are asked for.
@safe final class VipsImage {
  let handle: OpaquePointer

  /// Takes over a reference.
  init(_ handle: OpaquePointer) { unsafe self.handle = handle }

  deinit { unsafe imgflow_vips_image_free(handle) }

  /// An image from plain pixels, eight bits a band.
  convenience init(_ block: PixelBlock) throws {
    let handle = unsafe block.bytes.withUnsafeBytes {
      unsafe imgflow_vips_image_from_pixels(
        $0.baseAddress, $0.count, Int32(clamping: block.width), Int32(clamping: block.height), Int32(block.bands), 0)
    }
    guard let handle = unsafe handle else { throw VipsFailure.take() }
    unsafe self.init(handle)
  }

  /// A small table of numbers, such as a matrix of colours.
  convenience init(columns: Int, numbers: [Double]) throws {
    let handle = unsafe imgflow_vips_image_from_numbers(
      Int32(columns), Int32(numbers.count / columns), numbers, Int32(numbers.count))
    guard let handle = unsafe handle else { throw VipsFailure.take() }
    unsafe self.init(handle)
  }

  var width: Int { Int(unsafe imgflow_vips_image_width(handle)) }
  var height: Int { Int(unsafe imgflow_vips_image_height(handle)) }
  var bands: Int { Int(unsafe imgflow_vips_image_bands(handle)) }
  var format: Int { Int(unsafe imgflow_vips_image_format(handle)) }
  var interpretation: Interpretation { Interpretation(number: Int(unsafe imgflow_vips_image_interpretation(handle))) }
  var hasAlpha: Bool { unsafe imgflow_vips_image_has_alpha(handle) != 0 }
  var orientation: Int { Int(unsafe imgflow_vips_image_orientation(handle)) }
  var pages: Int { Int(unsafe imgflow_vips_image_pages(handle)) }
  var pageHeight: Int { Int(unsafe imgflow_vips_image_page_height(handle)) }
  /// Where its origin lies, as the operation that made it has said.
  var offset: (x: Int, y: Int) {
    (Int(unsafe imgflow_vips_image_x_offset(handle)), Int(unsafe imgflow_vips_image_y_offset(handle)))
  }

  /// Eight bits a band.
  var isBytes: Bool { format == 0 }
  /// Whether it has brightness only.
  var isGrey: Bool { bands <= 2 }

  /// The image with its pixels made, so that they can be read in any order.
  func inMemory() throws -> VipsImage {
    guard let copy = unsafe imgflow_vips_image_in_memory(handle) else { throw VipsFailure.take() }
    return unsafe VipsImage(copy)
  }

  /// All pixels.
  func pixels() throws -> PixelBlock {
    var size = 0
    guard let memory = unsafe imgflow_vips_image_pixels(handle, &size) else { throw VipsFailure.take() }
    defer { unsafe imgflow_vips_free(memory) }
    let bytes = unsafe Array(UnsafeRawBufferPointer(start: memory, count: size))
    return PixelBlock(width: width, height: height, bands: bands, bytes: bytes)
  }
}

// MARK: What stands beside the pixels

extension VipsImage {
  static let profileField = "icc-profile-data"

  func hasField(_ name: String) -> Bool { unsafe imgflow_vips_image_has_field(handle, name) != 0 }

  /// The names of all fields.
  var fieldNames: [String] {
    guard let list = unsafe imgflow_vips_image_fields(handle) else { return [] }
    defer { unsafe imgflow_vips_free_fields(list) }
    var names: [String] = []
    var place = 0
    while let name = unsafe list[place] {
      names.append(unsafe String(cString: name))
      place += 1
    }
    return names
  }

  /// A field's bytes.
  func blob(_ name: String) -> [UInt8]? {
    var bytes: UnsafeRawPointer?
    var count = 0
    guard hasField(name), unsafe imgflow_vips_image_get_blob(handle, name, &bytes, &count) == 0 else {
      imgflow_vips_clear_error()
      return nil
    }
    return unsafe bytes.map { unsafe Array(UnsafeRawBufferPointer(start: $0, count: count)) }
  }

  /// How many bytes the fields hold: blobs as they are, all else as text.
  var fieldBytes: Int {
    var total = 0
    for name in fieldNames {
      var bytes: UnsafeRawPointer?
      var count = 0
      var text: UnsafeMutablePointer<CChar>?
      if unsafe imgflow_vips_image_get_blob(handle, name, &bytes, &count) == 0 {
        total += count
      } else if unsafe imgflow_vips_image_get_text(handle, name, &text) == 0 {
        total += unsafe text.map { unsafe String(cString: $0).utf8.count } ?? 0
        unsafe imgflow_vips_free(text)
      }
      imgflow_vips_clear_error()
    }
    return total
  }

  /// A copy without some fields, and with some whole numbers set.
  func with(_ numbers: [String: Int] = [:], without removed: (String) -> Bool = { _ in false }) throws -> VipsImage {
    let copy = try Vips.image("copy", ["in": .image(self)])
    for name in copy.fieldNames where removed(name) { _ = unsafe imgflow_vips_image_remove_field(copy.handle, name) }
    for (name, number) in numbers { unsafe imgflow_vips_image_set_int(copy.handle, name, Int32(clamping: number)) }
    return copy
  }
}

/// What the numbers of an image mean.
enum Interpretation: Hashable {
  case srgb, rgb, grey, cmyk, rgb16, grey16
  case other(Int)

  init(number: Int) {
    switch number {
    case 22: self = .srgb
    case 17: self = .rgb
    case 1: self = .grey
    case 15: self = .cmyk
    case 25: self = .rgb16
    case 26: self = .grey16
    default: self = .other(number)
    }
  }

  /// The number that libvips has for it.
  var number: Int {
    switch self {
    case .srgb: 22
    case .rgb: 17
    case .grey: 1
    case .cmyk: 15
    case .rgb16: 25
    case .grey16: 26
    case .other(let number): number
    }
  }

  /// The word that people know it by.
  var word: String {
    switch self {
    case .srgb: "srgb"
    case .rgb: "rgb"
    case .grey: "b-w"
    case .cmyk: "cmyk"
    case .rgb16: "rgb16"
    case .grey16: "grey16"
    case .other(13): "lab"
    case .other(28): "scrgb"
    case .other: "other"
    }
  }
}
