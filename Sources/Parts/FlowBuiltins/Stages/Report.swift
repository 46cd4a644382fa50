internal import FlowBase
public import FlowParts

/// Writes a table of all results of a group or of the run.
public struct Report: Stage {
  /// The columns where none are named.
  static let usualColumns = ["source", "key", "url", "path", "media", "bytes", "sha256"]

  /// What is to be said of it.
  public static let part: StagePart = {
    var spec = PartSpec(
      name: "report", role: .stage, summary: "Writes a table with a row for each result.",
      fields: [
        FieldSpec("path", .path, required: true, "Where the table goes."),
        FieldSpec(
          "columns", .list(.string), phase: .load, default: "[\(usualColumns.joined(separator: ", "))]",
          "Fields of items, or `row.…`, `for.…` and `matrix.…`; those of files are the output's where there is one."),
        FieldSpec(
          "include", .choice(["ok", "all"]), phase: .load, default: "ok",
          "`all` adds failed, filtered and cancelled items, with `status` and `error`."),
        FieldSpec(
          "format", .choice(["csv", "jsonl"]), phase: .load, "The format; jsonl where the path ends so, else csv."),
      ], shorthand: "path", per: [.run, .group],
      example: "stages:\n  - fetch\n  - store\n  - report: { path: index.csv, columns: [key, url, sha256, path] }\n")
    spec.readsBeside = { $0.texts("columns").flatMap(ReportRow.reads) }
    return StagePart(spec) { Report() }
  }()

  /// Streams the results into a file and publishes it.
  public func gather(_ gathering: Gathering, in context: StageContext) async throws -> StageResult {
    let config = context.config
    let path = config.text("path") ?? "report.csv"
    let isFull = config.text("include") == "all"
    var columns = config.texts("columns")
    if columns.isEmpty { columns = Report.usualColumns }
    if isFull { columns += ["status", "error"].filter { !columns.contains($0) } }
    let isLines = config.text("format").map { $0 == "jsonl" } ?? path.hasSuffix(".jsonl")
    let table: any TableFormat = isLines ? LinesTable(columns: columns) : CommaTable(columns: columns)
    let file = try await Report.write(table, of: isFull ? gathering.everything() : gathering.members(), in: context)
    let options = PublishOptions(
      onExists: context.services.settings.onExists, owner: context.stage,
      media: isLines ? "application/x-ndjson" : "text/csv")
    return StageResult(outputs: [try await context.services.publish(.file(file), at: path, options: options)])
  }

  private static func write(
    _ table: any TableFormat, of source: any GatheringReader, in context: StageContext
  ) async throws -> HeldFile {
    let partial = try context.services.makePartial()
    do {
      var reader = source
      var buffer = table.head
      while true {
        let page = try await reader.next(upTo: 256)
        for row in page.flatMap(ReportRow.rows) { table.append(row, to: &buffer) }
        if buffer.count >= 64 * 1024 || page.isEmpty {
          try partial.write(contentsOf: buffer)
          buffer.removeAll(keepingCapacity: true)
        }
        if page.isEmpty { break }
        try Task.checkCancellation()
      }
      return try partial.finish()
    } catch {
      partial.abandon()
      throw error
    }
  }
}
