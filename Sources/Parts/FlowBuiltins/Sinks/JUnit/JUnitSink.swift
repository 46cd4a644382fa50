internal import FlowBase
public import FlowEvents
public import FlowParts

/// Writes one test case an item, in the form of JUnit.
public final class JUnitSink: Sink {
  private struct Counts {
    var tests = 0
    var failures = 0
    var skipped = 0
    var errors = 0
    var elapsed = Interval.zero
    var manifest: String?
  }

  private let path: String
  private let counts = Guarded(Counts())
  private let file = Guarded<Descriptor?>(nil)

  /// The file's head is written last, over as many spaces.
  private static let headLength = 400

  /// What is to be said of it.
  public static let part = SinkPart(
    PartSpec(
      name: "junit", role: .sink, summary: "Writes one test case an item, in the form of JUnit.",
      fields: [
        FieldSpec("to", .string, phase: .load, required: true, "The file; it is replaced at the end of the run.")
      ],
      shorthand: "to", example: "sinks:\n  - junit: { to: report.xml }\n")
  ) { (config, context) throws(Fault) in
    JUnitSink(path: PathText.absolute(config.text("to") ?? "junit.xml", from: context.folder))
  }

  init(path: String) { self.path = path }

  private var aside: String { "\(path).part" }

  /// Opens a file aside.
  public func open() async throws {
    try SmallFiles.makeFolder(PathText.parent(of: path))
    let made = try naming("write", aside) { () throws(Errno) in
      let file = try FileSystem.open(aside, [.write, .create, .truncate])
      try file.write([UInt8](repeating: UInt8(ascii: " "), count: JUnitSink.headLength) + [0x0A])
      return file
    }
    file.withLock { $0 = made }
  }

  /// Appends the test case of an item that has ended.
  public func render(_ event: Event, into buffer: inout [UInt8]) {
    let text = counts.withLock { counts -> String? in
      counts.elapsed = event.elapsed
      switch event.payload {
      case .streamStart(let start):
        counts.manifest = start.manifest
        return nil
      case .itemEnd(let end): return event.subject.map { JUnitSink.testCase($0, end, &counts) }
      case .barrierEnd(let end): return JUnitSink.testCase(end, &counts)
      case .diagnostic(let found):
        guard found.diagnostic.severity == .error else { return nil }
        counts.tests += 1
        counts.errors += 1
        return JUnitSink.element(
          "manifest", found.diagnostic.line, nil, "error", found.diagnostic.code, found.diagnostic.message)
      default: return nil
      }
    }
    if let text { buffer.append(contentsOf: text.utf8) }
  }

  /// Writes test cases.
  public func deliver(_ bytes: [UInt8]) async throws {
    guard let file = file.withLock({ $0 }) else { return }
    try naming("write", aside) { () throws(Errno) in try file.write(bytes) }
  }

  /// Writes the head, now that all is counted, and gives the file its name.
  public func close() async throws {
    let counts = counts.withLock { $0 }
    let file = file.withLock { $0.take() }
    let totals =
      "tests=\"\(counts.tests)\" failures=\"\(counts.failures)\" errors=\"\(counts.errors)\""
      + " skipped=\"\(counts.skipped)\" time=\"\(JUnitSink.seconds(counts.elapsed))\""
    let name = XMLText.attribute(TextWidth.cut(counts.manifest ?? "imgflow", to: 60))
    var head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"imgflow\" \(totals)>\n"
    head += "<testsuite name=\"\(name)\" \(totals)"
    let room = JUnitSink.headLength - 1 - head.utf8.count
    // A name of many escapes may be too long; a suite without one is valid too.
    if room < 0 {
      head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites \(totals)>\n<testsuite name=\"imgflow\" \(totals)"
    }
    head += String(repeating: " ", count: max(0, JUnitSink.headLength - 1 - head.utf8.count)) + ">"
    let aside = aside
    try naming("write", path) { () throws(Errno) in
      try file?.write("</testsuite>\n</testsuites>\n")
      try file?.seek(to: 0)
      try file?.write(head)
      try FileSystem.rename(aside, to: path)
    }
  }

  private static func testCase(_ item: ItemSubject, _ end: Payload.ItemEnd, _ counts: inout Counts) -> String {
    counts.tests += 1
    let name = item.item.hasPrefix(item.source + "/") ? String(item.item.dropFirst(item.source.count + 1)) : item.item
    let time = end.stages.reduce(Interval.zero) { $0 + $1.elapsed }
    switch end.status {
    case .ok: return element(item.source, name, time)
    case .filtered:
      counts.skipped += 1
      return element(item.source, name, time, "skipped", nil, end.reason ?? "filtered")
    case .cancelled:
      counts.skipped += 1
      return element(item.source, name, time, "skipped", nil, "cancelled" + (end.reason.map { ": \($0)" } ?? ""))
    case .failed:
      counts.failures += 1
      let url = item.url.map { " (\($0))" } ?? ""
      return element(
        item.source, name, time, "failure", end.error?.fault.code, (end.error?.fault.message ?? "failed") + url)
    }
  }

  private static func testCase(_ end: Payload.BarrierEnd, _ counts: inout Counts) -> String {
    counts.tests += 1
    let name = end.barrier.group ?? "run"
    guard let error = end.error else { return element(end.barrier.stage, name, nil) }
    counts.failures += 1
    return element(end.barrier.stage, name, nil, "failure", error.fault.code, error.fault.message)
  }

  private static func element(
    _ group: String, _ name: String, _ time: Interval?, _ child: String? = nil, _ type: String? = nil,
    _ message: String = ""
  ) -> String {
    var text = "<testcase classname=\"\(XMLText.attribute(group))\" name=\"\(XMLText.attribute(name))\""
    text += " time=\"\(seconds(time ?? .zero))\""
    guard let child else { return text + "/>\n" }
    let type = type.map { " type=\"\(XMLText.attribute($0))\"" } ?? ""
    return text + "><\(child)\(type) message=\"\(XMLText.attribute(message))\"/></testcase>\n"
  }

  private static func seconds(_ span: Interval) -> String { decimal(span.seconds, digits: 3) }
}
