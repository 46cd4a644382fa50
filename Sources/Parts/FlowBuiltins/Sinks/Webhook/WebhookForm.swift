internal import FlowBase
internal import FlowEvents

/// How events look in the body of a webhook.
enum WebhookForm: String, CaseIterable {
  /// `{ type, timestamp, data }`, as Standard Webhooks advises.
  case standard
  /// The events as they stand in the stream.
  case native
  /// CloudEvents 1.0.
  case cloudevents

  /// Appends an event as it waits in the spool.
  func append(_ event: Event, name: String, to buffer: inout [UInt8]) {
    if self == .cloudevents { return CloudEvents.append(event, name: name, to: &buffer) }
    NDJSON.append(event, to: &buffer)
    // The line feed stands for no event here.
    buffer.removeLast()
  }

  /// The body of a batch: the same bytes in every try.
  func body(of batch: EventBatch) -> [UInt8] {
    guard batch.events.count > 1 else {
      let event = batch.events.first ?? []
      return self == .standard ? standard(WebhookForm.fact("type", of: event), event, at: event) : event
    }
    let list = Array("[".utf8) + batch.events.joined(separator: ",".utf8) + Array("]".utf8)
    return self == .standard ? standard("imgflow.batch", list, at: batch.events.last ?? []) : list
  }

  /// The body's media type.
  func mediaType(of batch: EventBatch) -> String {
    guard self == .cloudevents else { return "application/json" }
    return batch.events.count > 1 ? "application/cloudevents-batch+json" : "application/cloudevents+json"
  }

  private func standard(_ type: String, _ data: [UInt8], at event: [UInt8]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("type")
    writer.string(type)
    writer.key("timestamp")
    writer.string(WebhookForm.fact("time", of: event))
    writer.endObject()
    return writer.bytes.dropLast() + Array(",\"data\":".utf8) + data + Array("}".utf8)
  }

  /// A text that stands at the top of an event.
  private static func fact(_ name: String, of event: [UInt8]) -> String {
    (try? JSONReader.read(event))?.asMap?[name]?.asString ?? ""
  }
}
