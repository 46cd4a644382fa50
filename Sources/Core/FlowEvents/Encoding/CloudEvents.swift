internal import FlowBase

/// Events in the form of CloudEvents 1.0, with the whole event as their data, so that nothing is lost.
public enum CloudEvents {
  /// Appends an event as one object; `name` is the manifest's.
  public static func append(_ event: Event, name: String, to buffer: inout [UInt8]) {
    var writer = JSONWriter()
    writer.cloudEvent(event, name: name)
    writer.append(to: &buffer)
  }
}

extension JSONWriter {
  mutating func cloudEvent(_ event: Event, name: String) {
    beginObject()
    key("specversion")
    string("1.0")
    key("id")
    string("\(event.run)-\(event.seq)")
    key("source")
    string("imgflow:/\(PercentEncoding.encode(name))/\(event.run)")
    key("type")
    string("dev.imgflow.\(event.type.rawValue).v1")
    if let subject = event.cloudSubject {
      key("subject")
      string(subject)
    }
    key("time")
    time(event.time)
    key("datacontenttype")
    string("application/json")
    key("sequence")
    let digits = String(event.seq)
    string(String(repeating: "0", count: max(0, 20 - digits.count)) + digits)
    key("data")
    self.event(event)
    endObject()
  }
}

extension Event {
  /// The item that it is about, or else the stage; an empty text is no subject.
  fileprivate var cloudSubject: String? {
    let name: String? =
      switch payload {
      case .stageStart(let start): start.stage
      case .stageEnd(let end): end.stage
      case .barrierStart(let start): start.stage
      case .barrierEnd(let end): end.barrier.stage
      default: subject?.item
      }
    return name.flatMap { $0.isEmpty ? nil : $0 }
  }
}
