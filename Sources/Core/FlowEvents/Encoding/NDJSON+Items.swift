internal import FlowBase

extension JSONWriter {
  mutating func data(of start: Payload.ItemStart) {
    key("key")
    string(start.key)
    key("ratio")
    optional(start.ratio)
    key("why")
    optional(start.why)
  }

  mutating func data(of progress: Payload.ItemProgress) {
    key("bytes")
    int(progress.bytes)
    key("size")
    optional(progress.size)
    key("ratio")
    optional(progress.ratio)
  }

  mutating func data(of retry: Payload.ItemRetry) {
    key("attempt")
    int(retry.attempt)
    key("delay_ms")
    milliseconds(nanoseconds: retry.delay.nanoseconds)
    key("error")
    error(retry.error)
  }

  mutating func data(of end: Payload.ItemEnd) {
    key("status")
    string(end.status.rawValue)
    key("cached")
    bool(end.isCached)
    key("shared")
    bool(end.isShared)
    key("attempts")
    int(end.attempts)
    key("ratio")
    optional(end.ratio)
    key("outputs")
    outputs(end.outputs)
    key("error")
    error(end.error)
    key("reason")
    optional(end.reason)
    key("final_url")
    optional(end.finalURL)
    key("stages")
    beginArray()
    for stage in end.stages {
      beginObject()
      key("stage")
      string(stage.stage)
      key("ms")
      milliseconds(nanoseconds: stage.elapsed.nanoseconds)
      key("cached")
      bool(stage.isCached)
      endObject()
    }
    endArray()
  }

  mutating func data(of output: Payload.Output) {
    key("path")
    string(output.path)
    key("leg")
    value(.map(output.leg))
    key("group")
    optional(output.group)
    key("media")
    optional(output.media)
    key("bytes")
    int(output.bytes)
    key("sha256")
    string(output.sha256)
    key("width")
    optional(output.width)
    key("height")
    optional(output.height)
  }

  mutating func outputs(_ outputs: [Payload.Output]) {
    beginArray()
    for output in outputs {
      beginObject()
      data(of: output)
      endObject()
    }
    endArray()
  }
}
