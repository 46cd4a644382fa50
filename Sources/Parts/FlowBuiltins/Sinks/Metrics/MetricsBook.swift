internal import FlowBase
internal import FlowEvents

/// What a run has come to, as numbers that Prometheus reads.
struct MetricsBook {
  /// How often something took how long.
  struct Histogram {
    static let bounds: [Double] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
    var counts = [Int](repeating: 0, count: bounds.count)
    var count = 0
    var sum = 0.0

    mutating func add(_ seconds: Double) {
      count += 1
      sum += seconds
      if let place = Histogram.bounds.firstIndex(where: { seconds <= $0 }) { counts[place] += 1 }
    }
  }

  private var manifest = ""
  private var run = ""
  private var tool = ""
  private var start = WallTime(microseconds: 0)
  private var end: (time: WallTime, exit: Int)?
  private var expected: Int?
  private var items: [String: Int] = [:]
  private var retries: [String: Int] = [:]
  private var cached = 0
  private var bytesIn = 0
  private var bytesOut = 0
  private var filesOut = 0
  private var stages: [String: Histogram] = [:]
  private var inFlight: [String: Int] = [:]
  private var itemsInFlight = 0

  /// Takes note of an event.
  mutating func handle(_ event: Event) {
    switch event.payload {
    case .streamStart(let start):
      manifest = start.manifest ?? ""
      run = event.run
      tool = start.tool
      self.start = event.time
    case .runStart(let start):
      for stage in start.stages {
        stages[stage] = Histogram()
        inFlight[stage] = 0
      }
    case .runProgress(let progress):
      expected = progress.items.total
      bytesIn = progress.bytesIn
      itemsInFlight = progress.inFlight
      for stage in inFlight.keys { inFlight[stage] = progress.stages[stage] ?? 0 }
    case .itemRetry(let retry):
      retries[MetricsBook.labels(["stage": event.subject?.stage ?? "", "code": retry.error.fault.code]), default: 0] +=
        1
    case .itemEnd(let end):
      items[MetricsBook.labels(["status": end.status.rawValue, "code": end.error?.fault.code ?? ""]), default: 0] += 1
      if end.isCached { cached += 1 }
      for time in end.stages where !time.isCached { stages[time.stage, default: Histogram()].add(time.elapsed.seconds) }
    case .output(let output):
      bytesOut += output.bytes
      filesOut += 1
    case .runEnd(let end):
      expected = end.items.total
      bytesIn = end.bytesIn
      itemsInFlight = 0
      for stage in inFlight.keys { inFlight[stage] = 0 }
      self.end = (event.time, end.exit)
    default: break
    }
  }

  /// The numbers in the text format of Prometheus.
  var text: String {
    var page = Page()
    page.family("imgflow_run_info", "gauge", "What is run, by what; always 1.")
    page.sample("imgflow_run_info", MetricsBook.labels(["manifest": manifest, "run": run, "tool": tool]), "1")
    page.single("imgflow_run_active", "gauge", "Whether the run is under way.", end == nil ? "1" : "0")
    page.single("imgflow_run_start_time_seconds", "gauge", "When the run started, in Unix time.", start.seconds)
    if let end {
      page.single("imgflow_run_end_time_seconds", "gauge", "When the run ended, in Unix time.", end.time.seconds)
      page.single("imgflow_run_exit_code", "gauge", "The exit code of the run.", "\(end.exit)")
    }
    if let expected { page.single("imgflow_items_expected", "gauge", "All items of the run.", "\(expected)") }
    page.counters("imgflow_items_total", "Items that have ended, by what came of them.", items)
    page.single(
      "imgflow_items_cached_total", "counter", "Items among them that an earlier run had done.", "\(cached)")
    page.counters("imgflow_retries_total", "Tries that failed and were made again.", retries)
    page.single("imgflow_received_bytes_total", "counter", "Bytes received.", "\(bytesIn)")
    page.single("imgflow_written_bytes_total", "counter", "Bytes of the files that were written.", "\(bytesOut)")
    page.single("imgflow_written_files_total", "counter", "Files that were written.", "\(filesOut)")
    page.single("imgflow_items_in_flight", "gauge", "Items at work.", "\(itemsInFlight)")
    page.family("imgflow_stage_in_flight", "gauge", "Operations at work, by stage.")
    for (stage, count) in inFlight.sorted(by: { $0.key < $1.key }) {
      page.sample("imgflow_stage_in_flight", MetricsBook.labels(["stage": stage]), "\(count)")
    }
    page.family("imgflow_stage_seconds", "histogram", "What the stages took for an item.")
    for (stage, histogram) in stages.sorted(by: { $0.key < $1.key }) { page.add(histogram, stage) }
    return page.text
  }

  /// Labels with their values, in the order of their names.
  fileprivate static func labels(_ values: KeyValuePairs<String, String>) -> String {
    values.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(escaped($0.value))\"" }.joined(separator: ",")
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in TextWidth.printable(text) {
      if character == "\\" || character == "\"" { result.append("\\") }
      result.append(character)
    }
    return result
  }
}

/// A page of metrics in the making.
private struct Page {
  private(set) var text = ""

  mutating func family(_ name: String, _ type: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  mutating func sample(_ name: String, _ labels: String, _ value: String) {
    text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
  }

  mutating func single(_ name: String, _ type: String, _ help: String, _ value: String) {
    family(name, type, help)
    sample(name, "", value)
  }

  mutating func counters(_ name: String, _ help: String, _ counts: [String: Int]) {
    family(name, "counter", help)
    for (labels, count) in counts.sorted(by: { $0.key < $1.key }) { sample(name, labels, "\(count)") }
  }

  mutating func add(_ histogram: MetricsBook.Histogram, _ stage: String) {
    let name = "imgflow_stage_seconds"
    var total = 0
    for (bound, count) in zip(MetricsBook.Histogram.bounds, histogram.counts) {
      total += count
      sample("\(name)_bucket", MetricsBook.labels(["stage": stage, "le": Value.text(of: bound)]), "\(total)")
    }
    sample("\(name)_bucket", MetricsBook.labels(["stage": stage, "le": "+Inf"]), "\(histogram.count)")
    sample("\(name)_sum", MetricsBook.labels(["stage": stage]), Value.text(of: histogram.sum))
    sample("\(name)_count", MetricsBook.labels(["stage": stage]), "\(histogram.count)")
  }
}

extension WallTime {
  /// Seconds since 1970 with three digits behind the point.
  fileprivate var seconds: String { decimal(Double(microseconds) / 1e6, digits: 3) }
}
