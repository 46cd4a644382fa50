internal import FlowBase

/// Brings whatever a file holds to sRGB or grey, eight bits a band.
enum Colours {
  static func display(_ image: VipsImage, keepsProfile: Bool) throws -> VipsImage {
    var image = image
    let profile = image.blob(VipsImage.profileField)
    let space = image.interpretation
    if keepsProfile, profile != nil, space != .cmyk {
      return try eightBits(image)
    }
    if space == .cmyk {
      image = try transformed(image, hasProfile: profile != nil, input: "cmyk")
    } else if let profile, !isPlain(profile), !isLab(space) {
      let wasGrey = image.isGrey
      image = try transformed(image, hasProfile: true, input: wasGrey ? nil : "srgb")
      if wasGrey, !image.isGrey { image = try greyAgain(image) }
    }
    image = try eightBits(image)
    if image.bands > 4 { image = try image.bands(0, 3) }
    // What the profile said has been done.
    return profile == nil ? image : try image.with(without: { $0 == VipsImage.profileField })
  }

  /// A broken profile counts as none: the colours are then taken as sRGB, or as common print colours.
  private static func transformed(_ image: VipsImage, hasProfile: Bool, input: String?) throws -> VipsImage {
    var values: [(String, VipsValue)] = [
      ("in", .image(image)), ("output-profile", .text("srgb")), ("embedded", .flag(hasProfile)), ("intent", .int(0)),
      ("depth", .int(8)),
    ]
    if let input { values.append(("input-profile", .text(input))) }
    do {
      return try Vips.image("icc_transform", values)
    } catch let failure as VipsFailure {
      guard hasProfile else { throw failure }
      guard input == "cmyk" else { return image }
      let bare = try image.with(without: { $0 == VipsImage.profileField })
      return try transformed(bare, hasProfile: false, input: input)
    }
  }

  private static func eightBits(_ image: VipsImage) throws -> VipsImage {
    switch image.interpretation {
    case .srgb, .grey, .rgb:
      if image.isBytes { return image.interpretation == .rgb ? try image.marked(as: .srgb) : image }
      return try image.colourspace(image.isGrey ? .grey : .srgb)
    case .grey16: return try image.colourspace(.grey)
    case .other(0) where image.isBytes: return try image.marked(as: image.isGrey ? .grey : .srgb)
    default: return try image.colourspace(image.isGrey ? .grey : .srgb)
    }
  }

  private static func greyAgain(_ image: VipsImage) throws -> VipsImage {
    let grey = try image.bands(0, 1).marked(as: .grey)
    return image.hasAlpha ? try grey.joined(bands: [try image.bands(image.bands - 1, 1)]) : grey
  }

  private static func isLab(_ space: Interpretation) -> Bool { space == .other(13) || space == .other(21) }

  /// Whether a profile is that of sRGB, by the name that it carries.
  static func isPlain(_ profile: [UInt8]) -> Bool {
    // The name stands in the first few hundred bytes, in one byte a letter or in two.
    let head = profile.prefix(4096).filter { $0 != 0 }
    return head.contains(text: "sRGB") && !head.contains(text: "Linear")
  }
}

extension Sequence where Element == UInt8 {
  fileprivate func contains(text: String) -> Bool {
    let wanted = Array(text.utf8)
    let bytes = Array(self)
    guard bytes.count >= wanted.count else { return false }
    return (0...bytes.count - wanted.count).contains { bytes[$0..<$0 + wanted.count].elementsEqual(wanted) }
  }
}
