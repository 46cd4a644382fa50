internal import FlowBase

/// Puts the pieces of a template together, each value as its place demands.
struct TemplateWriter {
  private let style: Template.Style
  private let isSingle: Bool
  private var place = URLPlace.scheme
  private(set) var text = ""

  init(_ style: Template.Style, isSingle: Bool) {
    self.style = style
    self.isSingle = isSingle
  }

  mutating func literal(_ literal: String) {
    text += literal
    if style == .url { place.move(over: literal) }
  }

  mutating func value(_ value: Value, _ hole: TemplateHole) {
    switch style {
    case .plain: text += value.text
    case .path: text += TemplateWriter.segment(value.text, hole)
    case .url: literal(isSingle || hole.manner == .raw ? value.text : place.encode(value.text))
    }
  }

  private static func segment(_ text: String, _ hole: TemplateHole) -> String {
    if text.isEmpty { return hole.isWholeSegment ? "_" : "" }
    if hole.manner == .path { return FileName.safePath(text) }
    return FileName.segment(text, upTo: FileName.longest - hole.neighbours)
  }

  /// The pieces with values that are known already made part of the literal text, where their place is known too.
  static func joined(_ pieces: [TemplatePiece], _ style: Template.Style) -> [TemplatePiece] {
    var result: [TemplatePiece] = []
    var writer = TemplateWriter(style, isSingle: false)
    var isPlaceKnown = true
    func flush() {
      if !writer.text.isEmpty { result.append(.literal(writer.text)) }
      writer.text = ""
    }
    for piece in pieces {
      switch piece {
      case .literal(let text): writer.literal(text)
      case .hole(let hole):
        if let value = hole.root.constant, isPlaceKnown || style != .url {
          writer.value(value, hole)
        } else {
          flush()
          result.append(piece)
          // What is encoded never ends the segment or parameter that it stands in; all else may.
          if writer.place == .scheme || writer.place == .authority || hole.manner == .raw { isPlaceKnown = false }
        }
      }
    }
    flush()
    return result.isEmpty ? [.literal("")] : result
  }
}

/// Where in a URL the next character stands.
enum URLPlace {
  case scheme, authority, path, query, fragment

  /// Goes on behind a stretch of text.
  mutating func move(over text: String) {
    var slashes = 0
    for byte in text.utf8 {
      switch (self, byte) {
      case (.scheme, UInt8(ascii: "/")):
        slashes += 1
        if slashes == 2 { self = .authority }
      case (.authority, UInt8(ascii: "/")): self = .path
      case (.fragment, _): return
      case (_, UInt8(ascii: "#")): self = .fragment
      case (.query, _): break
      case (_, UInt8(ascii: "?")): self = .query
      case (.scheme, _): slashes = 0
      default: break
      }
    }
  }

  /// A value as it may stand at this place; the origin is taken as it is.
  func encode(_ value: String) -> String {
    switch self {
    case .scheme, .authority: value
    case .path: PercentEncoding.encode(value, allowing: .segment)
    case .query, .fragment: PercentEncoding.encode(value, allowing: .queryValue)
    }
  }
}
