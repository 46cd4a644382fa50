/// A colour in sRGB, with its opacity.
public struct Colour: Sendable, Hashable {
  /// Red, 0 to 255.
  public var red: UInt8
  /// Green, 0 to 255.
  public var green: UInt8
  /// Blue, 0 to 255.
  public var blue: UInt8
  /// Opacity, 0 to 255.
  public var alpha: UInt8

  /// A colour.
  public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
    (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
  }

  /// White.
  public static let white = Colour(red: 255, green: 255, blue: 255)
  /// Black.
  public static let black = Colour(red: 0, green: 0, blue: 0)
  /// Nothing at all.
  public static let transparent = Colour(red: 0, green: 0, blue: 0, alpha: 0)

  /// A colour as the web writes it: `#a6a6a6`, `#fff`, `#11223380`, or one of a few names.
  public init?(_ text: String) {
    let names: [String: Colour] = [
      "white": .white, "black": .black, "transparent": .transparent, "grey": Colour(red: 128, green: 128, blue: 128),
      "gray": Colour(red: 128, green: 128, blue: 128), "red": Colour(red: 255, green: 0, blue: 0),
      "green": Colour(red: 0, green: 128, blue: 0), "blue": Colour(red: 0, green: 0, blue: 255),
    ]
    if let named = names[text.lowercased()] {
      self = named
      return
    }
    guard text.hasPrefix("#") else { return nil }
    var digits: [UInt8] = []
    for character in text.dropFirst() {
      guard character.isASCII, let digit = character.hexDigitValue else { return nil }
      digits.append(UInt8(digit))
    }
    switch digits.count {
    case 3, 4: digits = digits.flatMap { [$0, $0] }
    case 6, 8: break
    default: return nil
    }
    let parts = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    self.init(red: parts[0], green: parts[1], blue: parts[2], alpha: parts.count == 4 ? parts[3] : 255)
  }

  /// Whether it lets nothing through.
  public var isOpaque: Bool { alpha == 255 }
}
