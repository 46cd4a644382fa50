internal import FlowBase

extension JSONWriter {
  mutating func data(of start: Payload.StreamStart) {
    key("schema")
    string(Payload.StreamStart.schema)
    key("tool")
    string(start.tool)
    key("manifest")
    optional(start.manifest)
    key("manifest_sha256")
    optional(start.manifestSHA256)
    key("resumed_from")
    optional(start.resumedFrom)
  }

  mutating func data(of start: Payload.RunStart) {
    key("sources")
    strings(start.sources)
    key("stages")
    strings(start.stages)
    key("sinks")
    strings(start.sinks)
    key("output")
    optional(start.output)
  }

  mutating func data(of move: Payload.RunStateMove) {
    key("from")
    string(move.from.rawValue)
    key("to")
    string(move.to.rawValue)
    key("by")
    string(move.by)
  }

  mutating func data(of progress: Payload.RunProgress) {
    key("items")
    counts(progress.items)
    key("bytes_in")
    int(progress.bytesIn)
    key("items_per_s")
    rounded(progress.itemsPerSecond)
    key("bytes_per_s")
    rounded(progress.bytesPerSecond)
    key("ratio")
    optional(progress.ratio)
    key("eta_s")
    if let eta = progress.eta { rounded(eta.seconds) } else { null() }
    key("in_flight")
    int(progress.inFlight)
    key("stages")
    beginObject()
    for (stage, count) in progress.stages.sorted(by: { $0.key < $1.key }) {
      key(of: stage)
      int(count)
    }
    endObject()
  }

  mutating func data(of end: Payload.RunEnd) {
    key("result")
    string(end.result.rawValue)
    key("exit")
    int(end.exit)
    key("items")
    counts(end.items)
    key("bytes_in")
    int(end.bytesIn)
    key("errors")
    beginArray()
    for error in end.errors {
      beginObject()
      key("code")
      string(error.code)
      key("n")
      int(error.count)
      endObject()
    }
    endArray()
    key("events")
    counts(end.events)
    key("dropped")
    counts(end.dropped)
  }

  mutating func data(of end: Payload.SourceEnd) {
    key("source")
    string(end.source)
    key("items")
    int(end.items)
    key("duplicates")
    int(end.duplicates)
    key("empty")
    bool(end.isEmpty)
  }

  mutating func data(of start: Payload.StageStart) {
    key("stage")
    string(start.stage)
    key("op")
    string(start.op)
  }

  mutating func data(of end: Payload.StageEnd) {
    key("stage")
    string(end.stage)
    key("ok")
    int(end.ok)
    key("failed")
    int(end.failed)
    key("filtered")
    int(end.filtered)
    key("ms")
    milliseconds(nanoseconds: end.elapsed.nanoseconds)
  }

  mutating func data(of start: Payload.BarrierStart) {
    key("stage")
    string(start.stage)
    key("per")
    string(start.per)
    key("group")
    optional(start.group)
    key("items")
    int(start.items)
  }

  mutating func data(of end: Payload.BarrierEnd) {
    data(of: end.barrier)
    key("status")
    string(end.status.rawValue)
    key("outputs")
    outputs(end.outputs)
    key("error")
    error(end.error)
  }

  private mutating func counts(_ items: ItemCounts) {
    beginObject()
    key("total")
    optional(items.total)
    key("ok")
    int(items.ok)
    key("cached")
    int(items.cached)
    key("filtered")
    int(items.filtered)
    key("failed")
    int(items.failed)
    key("cancelled")
    int(items.cancelled)
    endObject()
  }

  private mutating func counts(_ events: EventCounts) {
    beginObject()
    for (type, count) in events.entries {
      key(of: type.rawValue)
      int(count)
    }
    endObject()
  }

  /// A measured number with at most three digits behind the point.
  private mutating func rounded(_ number: Double) { double((number * 1000).rounded() / 1000) }
}
