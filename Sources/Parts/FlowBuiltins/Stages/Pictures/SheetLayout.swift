internal import FlowBase
internal import FlowImage
internal import FlowParts

/// Where everything lies on a contact sheet.
struct SheetLayout: Sendable {
  let path: String
  let format: PictureFormat
  let columns: Int
  let cell: (width: Int, height: Int)
  let gap: Int
  let background: Colour
  let label: String?
  let labelHeight: Int

  init(_ config: Config, pictures: Int) throws(Fault) {
    path = config.text("path") ?? "sheet.jpg"
    format = try SheetLayout.format(of: path)
    cell = try SheetLayout.cell(config.text("cell") ?? "160")
    gap = config.int("gap") ?? 8
    background = try config.colour("background") ?? .white
    label = config.text("label")
    labelHeight = label == nil ? 0 : max(14, min(28, cell.height / 7))
    // About as high as wide.
    let even = Int(
      (Double(max(1, pictures) * (cell.height + labelHeight)) / Double(cell.width)).squareRoot().rounded(.up))
    columns = min(config.int("columns") ?? max(1, even), max(1, pictures))
    let rows = (max(1, pictures) + columns - 1) / columns
    let height = gap + rows * rowHeight
    if max(width, height) > format.longestSide {
      throw Fault(
        "image.too_large", .permanent,
        "the sheet would be \(width) x \(height), and \(format.rawValue) holds at most \(format.longestSide); name other "
          + "`columns`, a smaller `cell`, or png")
    }
  }

  /// How wide the sheet is.
  var width: Int { gap + columns * (cell.width + gap) }
  /// How high a row is, with the gap below it.
  var rowHeight: Int { cell.height + labelHeight + gap }

  static func format(of path: String) throws(Fault) -> PictureFormat {
    switch FileName.ext(of: PathText.name(of: path)).lowercased() {
    case "jpg", "jpeg": return .jpeg
    case "png": return .png
    case "webp": return .webp
    case "tif", "tiff": return .tiff
    case "avif": return .avif
    default: throw Config.wrong("path", path, "a name that ends in .jpg, .png, .webp, .avif or .tif")
    }
  }

  private static func cell(_ text: String) throws(Fault) -> (Int, Int) {
    let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
    guard (1...2).contains(sides.count), let width = sides[0], let height = sides[sides.count - 1],
      (8...4096).contains(width), (8...4096).contains(height)
    else { throw Config.wrong("cell", text, "pixels from 8 to 4096, such as `160` or `240x160`") }
    return (width, height)
  }
}

extension PictureFormat {
  /// How many columns or rows its files can have.
  fileprivate var longestSide: Int {
    switch self {
    case .jpeg: 65_500
    case .webp: 16_383
    case .avif, .heic: 16_384
    default: 1_000_000
    }
  }
}

/// Puts cells into rows and writes each row as soon as it is full.
struct SheetRows {
  let layout: SheetLayout
  let file: any PartialWriter
  private var row: [PixelBlock?] = []
  private var height = 0
  private var count = 0

  init(layout: SheetLayout, file: any PartialWriter) {
    self.layout = layout
    self.file = file
  }

  /// Puts a cell behind the others; an empty one where its picture could not be read.
  mutating func add(_ cell: PixelBlock?) throws(Fault) {
    if count == 0 { try blank(layout.gap) }
    count += 1
    row.append(cell)
    if row.count == layout.columns { try write() }
  }

  /// Writes the last row, and says how many lines of pixels there are; 0 where there was no cell.
  mutating func finish() throws(Fault) -> Int {
    if !row.isEmpty { try write() }
    return height
  }

  private var ground: [UInt8] { [layout.background.red, layout.background.green, layout.background.blue] }

  private mutating func blank(_ lines: Int) throws(Fault) {
    guard lines > 0 else { return }
    let line = Array(repeating: ground, count: layout.width).flatMap { $0 }
    for _ in 0..<lines { try file.write(contentsOf: line) }
    height += lines
  }

  private mutating func write() throws(Fault) {
    let empty = Array(repeating: ground, count: layout.width).flatMap { $0 }
    let lines = layout.cell.height + layout.labelHeight
    for line in 0..<lines {
      var pixels = empty
      for (column, cell) in row.enumerated() {
        guard let cell, cell.bands == 3, cell.width == layout.cell.width, line < cell.height else { continue }
        let target = (layout.gap + column * (layout.cell.width + layout.gap)) * 3
        let source = line * cell.width * 3
        pixels.replaceSubrange(target..<target + cell.width * 3, with: cell.bytes[source..<source + cell.width * 3])
      }
      try file.write(contentsOf: pixels)
    }
    height += lines
    row.removeAll(keepingCapacity: true)
    try blank(layout.gap)
  }
}
