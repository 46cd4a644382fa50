internal import FlowBase
internal import FlowEvents

/// The file of batches that a receiver did not want: a line each, with all that is needed to send it by hand.
struct DeadLetters {
  let path: String

  init(folder: String) { path = PathText.join(folder, "dead-letters.ndjson") }

  func add(_ batch: EventBatch, _ body: [UInt8], url: String, fault: Fault) throws(Fault) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("id")
    writer.string("msg_\(batch.id)")
    writer.key("time")
    writer.time(SystemTime().wall())
    writer.key("url")
    writer.string(url)
    writer.key("code")
    writer.string(fault.code)
    writer.key("message")
    writer.string(fault.message)
    writer.key("seq")
    writer.beginArray()
    writer.int(batch.first)
    writer.int(batch.last)
    writer.endArray()
    writer.key("body")
    writer.string(String(decoding: body, as: UTF8.self))
    writer.endObject()
    try SmallFiles.makeFolder(PathText.parent(of: path), mode: 0o700)
    let file = try AppendFile(path)
    try file.write(writer.bytes + [0x0A])
  }
}
