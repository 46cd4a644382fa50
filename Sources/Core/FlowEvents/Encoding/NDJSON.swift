public import FlowBase

/// Events as lines of JSON: the form in which they leave the program.
public enum NDJSON {
  /// Appends an event's line, its line feed included.
  public static func append(_ event: Event, to buffer: inout [UInt8]) {
    var writer = JSONWriter()
    writer.event(event)
    writer.verbatim(0x0A)
    writer.append(to: &buffer)
  }

  /// An event's line, without the line feed.
  public static func line(_ event: Event) -> String {
    var writer = JSONWriter()
    writer.event(event)
    return writer.text
  }
}

extension JSONWriter {
  /// An event as one object.
  public mutating func event(_ event: Event) {
    beginObject()
    key("imgflow")
    int(1)
    key("seq")
    int(event.seq)
    key("type")
    string(event.type.rawValue)
    key("time")
    time(event.time)
    key("ms")
    milliseconds(nanoseconds: event.elapsed.nanoseconds)
    key("run")
    string(event.run)
    if let subject = event.subject { keys(of: subject) }
    key("data")
    beginObject()
    data(of: event.payload)
    endObject()
    endObject()
  }

  private mutating func keys(of subject: ItemSubject) {
    key("item")
    string(subject.item)
    key("index")
    int(subject.index)
    key("total")
    optional(subject.total)
    key("url")
    optional(subject.url)
    key("source")
    string(subject.source)
    if let parent = subject.parent {
      key("parent")
      string(parent)
    }
    if let stage = subject.stage {
      key("stage")
      string(stage)
    }
    if let attempt = subject.attempt {
      key("attempt")
      int(attempt)
    }
  }

  private mutating func data(of payload: Payload) {
    switch payload {
    case .streamStart(let start): data(of: start)
    case .runStart(let start): data(of: start)
    case .runState(let move): data(of: move)
    case .runProgress(let progress): data(of: progress)
    case .runEnd(let end): data(of: end)
    case .sourceEnd(let end): data(of: end)
    case .stageStart(let start): data(of: start)
    case .stageEnd(let end): data(of: end)
    case .barrierStart(let start): data(of: start)
    case .barrierEnd(let end): data(of: end)
    case .itemStart(let start): data(of: start)
    case .itemProgress(let progress): data(of: progress)
    case .itemRetry(let retry): data(of: retry)
    case .itemError(let failure):
      key("error")
      error(failure)
    case .itemEnd(let end): data(of: end)
    case .pluginStart(let start): data(of: start)
    case .pluginCrash(let crash): data(of: crash)
    case .pluginNoise(let noise): data(of: noise)
    case .output(let output): data(of: output)
    case .sinkError(let failure): data(of: failure)
    case .sinkDropped(let dropped): data(of: dropped)
    case .control(let control): data(of: control)
    case .log(let line): data(of: line)
    case .diagnostic(let found): diagnostic(found.diagnostic)
    }
  }

  // MARK: Shared

  mutating func optional(_ number: Int?) {
    if let number { int(number) } else { null() }
  }

  mutating func optional(_ number: Double?) {
    if let number { double(number) } else { null() }
  }

  mutating func optional(_ text: String?) {
    if let text { string(text) } else { null() }
  }

  mutating func strings(_ texts: [String]) {
    beginArray()
    for text in texts { string(text) }
    endArray()
  }

  /// A failure as an object; null for none.
  public mutating func error(_ error: EventError?) {
    guard let error else { return null() }
    let fault = error.fault
    beginObject()
    key("code")
    string(fault.code)
    key("class")
    string(fault.kind.rawValue)
    key("message")
    string(fault.message)
    key("retryable")
    bool(fault.kind.isRetryable)
    key("http_status")
    optional(fault.httpStatus)
    key("host")
    optional(fault.host)
    key("attempt")
    optional(error.attempt)
    endObject()
  }

  /// A diagnostic's keys, within an object that is open.
  public mutating func diagnostic(_ diagnostic: Diagnostic) {
    key("severity")
    string(diagnostic.severity.rawValue)
    key("code")
    string(diagnostic.code)
    key("message")
    string(diagnostic.message)
    key("file")
    optional(diagnostic.place?.file)
    key("line")
    optional(diagnostic.place?.mark.line)
    key("column")
    optional(diagnostic.place?.mark.column)
    key("length")
    optional(diagnostic.place?.mark.length)
    key("hint")
    optional(diagnostic.hint)
  }
}
