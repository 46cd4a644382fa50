internal import FlowBase
public import FlowEvents
public import FlowParts

/// Writes a report of the run as one page that opens without a network.
public final class HTMLSink: Sink {
  private let path: String
  private let context: SinkContext
  private let book = Guarded(ReportBook())

  /// What is to be said of it.
  public static let part = SinkPart(
    PartSpec(
      name: "html", role: .sink,
      summary: "Writes a report of the run as one page: totals, throughput, failures, and a sample of the pictures.",
      fields: [
        FieldSpec("to", .string, phase: .load, required: true, "The file; it is replaced at the end of the run.")
      ],
      shorthand: "to", example: "sinks:\n  - html: { to: report.html }\n")
  ) { (config, context) throws(Fault) in
    HTMLSink(path: PathText.absolute(config.text("to") ?? "report.html", from: context.folder), context)
  }

  init(path: String, _ context: SinkContext) {
    self.path = path
    self.context = context
  }

  /// Takes note of the event.
  public func render(_ event: Event, into buffer: inout [UInt8]) { book.withLock { $0.handle(event) } }

  /// Makes the folder.
  public func open() async throws { try SmallFiles.makeFolder(PathText.parent(of: path)) }

  /// Nothing: the page is written at the end.
  public func deliver(_ bytes: [UInt8]) async throws {}

  /// Writes the page.
  public func close() async throws {
    let book = book.withLock { $0 }
    let name = context.settings.name.isEmpty ? book.start?.manifest ?? "run" : context.settings.name
    let sample = book.pictures.elements
    let thumbnails = sample.isEmpty ? [] : await Thumbnails(folder: context.settings.outputFolder).make(sample)
    let page = ReportPage(book: book, title: name, thumbnails: thumbnails)
    let (path, text) = (path, page.text)
    try naming("write", path) { () throws(Errno) in try FileSystem.replace(path, with: Array(text.utf8), mode: 0o644) }
  }
}
