/// Paints pictures for a gallery: the same name gives the same picture, byte for byte.
public enum Painter {
  /// A photo-like picture as PNG, 480 by 320.
  public static func photo(_ name: String) -> [UInt8] { PNG.encode(scene(name, width: 480, height: 320)) }

  /// A portrait as PNG, 256 by 256.
  public static func avatar(_ name: String) -> [UInt8] {
    var chance = Chance("avatar " + name)
    return PNG.encode(Avatars.draw(&chance, size: 256))
  }

  /// A card as PNG, 300 by 420.
  public static func card(_ name: String) -> [UInt8] { PNG.encode(Cards.draw(name, width: 300, height: 420)) }

  /// A picture of any size; the name decides what it shows.
  static func scene(_ name: String, width: Int, height: Int) -> Canvas {
    var chance = Chance(name)
    return switch chance.below(6) {
    case 0: Landscapes.mountains(&chance, width: width, height: height)
    case 1: Landscapes.dunes(&chance, width: width, height: height)
    case 2: Landscapes.sea(&chance, width: width, height: height)
    case 3: Landscapes.night(&chance, width: width, height: height)
    case 4: Patterns.ribbons(&chance, width: width, height: height)
    default: Patterns.glass(&chance, width: width, height: height)
    }
  }
}
