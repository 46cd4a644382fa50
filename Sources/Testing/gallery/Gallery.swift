import FlowBase
import FlowTesting

/// What the gallery serves: pictures that are painted when they are asked for, and lists of them.
final class Gallery: Sendable {
  /// The pictures of `/list.txt`.
  static let photos = [
    "harbour", "meadow", "alps", "lagoon", "canyon", "tundra", "orchard", "reef", "dawn", "delta", "mesa", "fjord",
    "prairie", "glacier", "cove", "heath", "ridge", "marsh", "steppe", "bay", "valley", "summit", "island", "dusk",
  ]
  /// The people of `/people.csv`.
  static let people: [(id: String, name: String, team: String)] = [
    ("p01", "Ada Larsen", "design"), ("p02", "Bruno Costa", "design"), ("p03", "Chiara Conti", "research"),
    ("p04", "Dmitri Orlov", "research"), ("p05", "Esther Mbeki", "research"), ("p06", "Farid Nouri", "field"),
    ("p07", "Greta Holm", "field"), ("p08", "Hana Sato", "design"), ("p09", "Ivo Novak", "field"),
    ("p10", "Júlia Pereira", "research"), ("p11", "Kofi Mensah", "design"), ("p12", "Lena Vogel", "field"),
  ]

  private let isSlow: Bool
  private let painted = Guarded<[String: [UInt8]]>([:])

  init(isSlow: Bool) { self.isSlow = isSlow }

  /// Answers one request.
  func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
    let root = "http://" + (request.header("Host") ?? "127.0.0.1")
    switch request.path {
    case "/":
      return .ok("photos: /list.txt, /photos/NAME.png\npeople: /people.csv\ncards: /cards/NAME.png\n")
    case "/list.txt":
      return .ok(Gallery.photos.map { "\(root)/photos/\($0).png\n" }.joined())
    case "/people.csv":
      let rows = Gallery.people.map { "\($0.id),\($0.name),\($0.team),\(root)/avatars/\($0.id).png\r\n" }
      return .ok("id,name,team,avatar\r\n" + rows.joined(), type: "text/csv; charset=utf-8")
    default:
      return picture(request)
    }
  }

  private func picture(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
    let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[2].hasSuffix(".png") else { return .status(404) }
    let name = String(parts[2].dropLast(4))
    let isName = (1...40).contains(name.utf8.count) && name.utf8.allSatisfy(Gallery.isNameByte)
    guard isName, let paint = Gallery.painters[String(parts[1])] else { return .status(404) }
    // Painted outside of the lock: two requests for one new picture may both paint it, and paint the same.
    let picture = painted.withLock { $0[request.path] } ?? paint(name)
    painted.withLock { if $0.count < 512 { $0[request.path] = picture } }
    let tag = "\"\(Digest.sha256(of: picture).hex.prefix(16))\""
    if request.header("If-None-Match") == tag { return .status(304).header("ETag", tag) }
    let response = LoopbackServer.Response.ok(picture, type: "image/png").header("ETag", tag)
    return isSlow ? response.dripping(1500, every: .milliseconds(60)) : response
  }

  private static let painters: [String: @Sendable (String) -> [UInt8]] = [
    "photos": { Painter.photo($0) }, "avatars": { Painter.avatar($0) }, "cards": { Painter.card($0) },
  ]

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || byte == UInt8(ascii: "-")
  }
}
