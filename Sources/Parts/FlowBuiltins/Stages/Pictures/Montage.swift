internal import FlowBase
internal import FlowImage
public import FlowParts

/// Lays the pictures of a group or of the run out on one sheet.
public struct Montage: Stage {
  /// What is to be said of it.
  public static let part: StagePart = {
    var spec = PartSpec(
      name: "montage", role: .stage, summary: "Lays all pictures of a group or of the run out on one sheet.",
      fields: [
        FieldSpec("path", .path, required: true, "Where the sheet goes; its extension says the format."),
        FieldSpec(
          "columns", .integer(1...10_000),
          "How many pictures lie beside one another; as many as below one another "
            + "unless named."),
        FieldSpec("cell", .string, default: "160", "A picture's place in pixels: `160`, or `240x160`."),
        FieldSpec("gap", .integer(0...1000), default: "8", "The room between pictures, in pixels."),
        FieldSpec("background", .string, default: "#ffffff", "The colour of the sheet."),
        FieldSpec("label", .string, "What stands below each picture, as a column of `report`: `key` or `row.name`."),
        FieldSpec("quality", .integer(0...100), "The quality of the sheet."),
      ], shorthand: "path", per: [.run, .group],
      example: "stages:\n  - fetch\n  - store\n  - montage: { path: sheet.jpg, columns: 6, cell: 160, label: key }\n")
    spec.gathersBytes = true
    spec.readsBeside = { $0.text("label").map(ReportRow.reads) ?? [] }
    spec.check = { config, _ in
      do throws(Fault) {
        if config.isConstant { _ = try SheetLayout(config, pictures: 1) }
        return []
      } catch {
        return [error.message]
      }
    }
    return StagePart(spec) { Montage() }
  }()

  /// Draws the sheet row by row, so that thousands of pictures take no more memory than a few.
  public func gather(_ gathering: Gathering, in context: StageContext) async throws -> StageResult {
    let layout = try SheetLayout(context.config, pictures: gathering.count)
    let workers = try PictureWorkers.shared(by: context.services)
    let partial = try context.services.makePartial()
    let raw: HeldFile
    var rows = 0
    do {
      var sheet = SheetRows(layout: layout, file: partial)
      var reader = gathering.members()
      let width = 2 * (context.services.settings.cpu ?? OwnProcess.processors)
      while true {
        let page = try await reader.next(upTo: width)
        if page.isEmpty { break }
        for cell in try await Montage.cells(of: page, layout, workers, context) { try sheet.add(cell) }
        try Task.checkCancellation()
      }
      rows = try sheet.finish()
      raw = try partial.finish()
    } catch {
      partial.abandon()
      throw error
    }
    guard rows > 0 else {
      throw Fault("image.empty", .permanent, "there is no picture to lay out: the stages before have stored none")
    }
    let bytes = try await Montage.encode(raw, PictureSheet(width: layout.width, height: rows), context, workers)
    let options = PublishOptions(
      onExists: context.services.settings.onExists, owner: context.stage, media: layout.format.media)
    var fact = try await context.services.publish(.bytes(bytes), at: layout.path, options: options)
    fact.width = layout.width
    fact.height = rows
    return StageResult(outputs: [fact])
  }

  private static func encode(
    _ raw: HeldFile, _ sheet: PictureSheet, _ context: StageContext, _ workers: PictureWorkers
  ) async throws -> [UInt8] {
    var encoding = EncodeOptions()
    encoding.format = try SheetLayout.format(of: context.config.text("path") ?? "")
    encoding.quality = context.config.int("quality").map { max(1, $0) }
    let job = PictureJob(.path(try raw.path), wish: .sheet(sheet, encoding))
    guard case .pictures(let made) = try await workers.perform(job), let picture = made.first else {
      throw Fault.internal("picture", "a worker gave no sheet")
    }
    return withExtendedLifetime(raw) { picture.bytes }
  }

  /// The cells of some members, made side by side, in their order.
  private static func cells(
    of members: [Gathering.Member], _ layout: SheetLayout, _ workers: PictureWorkers, _ context: StageContext
  ) async throws -> [PixelBlock?] {
    let folder = context.services.settings.outputFolder
    return try await withThrowingTaskGroup(of: (Int, PixelBlock?).self) { group in
      for (place, member) in members.enumerated() {
        guard let input = try member.picture(below: folder) else { continue }
        var cell = SheetCell(
          width: layout.cell.width, height: layout.cell.height, background: layout.background,
          labelHeight: layout.labelHeight)
        if let label = layout.label { cell.label = ReportRow(member: member, output: nil).value(of: label).text }
        let job = PictureJob(input, wish: .cell(cell))
        group.addTask {
          do throws(Fault) {
            guard case .cell(let block) = try await workers.perform(job) else { return (place, nil) }
            return (place, block)
          } catch {
            if error.kind == .cancelled || error.kind == .config { throw error }
            context.services.log(.warn, "\(member.leg.item.name): no place on the sheet: \(error.message)")
            return (place, nil)
          }
        }
      }
      var made: [Int: PixelBlock?] = [:]
      for try await (place, block) in group { made[place] = block }
      return made.sorted { $0.key < $1.key }.map(\.value)
    }
  }
}

extension Gathering.Member {
  /// Where this member's picture is: the file that it was stored as, or else what it still holds.
  fileprivate func picture(below folder: String) throws(Fault) -> PictureJob.Input? {
    if let output = outputs.first(where: { $0.media?.hasPrefix("image/") ?? false }) ?? outputs.first {
      return .path(PathText.join(folder, output.path))
    }
    switch leg.content {
    case .file(let file): return try file.picture
    case .bytes(let bytes): return .bytes(bytes)
    default: return leg.ownPath.map { .path($0) }
    }
  }
}
