internal import FlowBase

extension Event {
  /// Puts every text that came from outside through `mask`, which gives what is to stand there, or nil where it may stay.
  mutating func redact(by mask: (String) -> String?) {
    subject?.redact(by: mask)
    // Nearly always there is nothing to hide, and then nothing is copied.
    if !payload.isClean(by: mask) { payload = payload.redacted { mask($0) ?? $0 } }
  }
}

extension ItemSubject {
  fileprivate mutating func redact(by mask: (String) -> String?) {
    if let masked = mask(item) { item = masked }
    if let known = url, let masked = mask(known) { url = masked }
    if let known = parent, let masked = mask(known) { parent = masked }
  }
}

extension Payload {
  /// Whether a payload as there are many has nothing to hide; of the others none is.
  fileprivate func isClean(by mask: (String) -> String?) -> Bool {
    switch self {
    case .itemStart(let start): return mask(start.key) == nil
    case .output(let output): return output.isClean(by: mask)
    case .itemEnd(let end):
      return end.error == nil && end.reason == nil && end.finalURL == nil
        && end.outputs.allSatisfy { $0.isClean(by: mask) }
    default: return false
    }
  }
}

extension Payload.Output {
  fileprivate func isClean(by mask: (String) -> String?) -> Bool {
    mask(path) == nil && group == nil && leg.isEmpty
  }
}

extension Payload {
  fileprivate consuming func redacted(by clean: (String) -> String) -> Payload {
    switch self {
    case .runProgress, .runState, .runEnd, .sourceEnd, .stageStart, .stageEnd, .itemProgress, .pluginStart,
      .sinkDropped:
      // Numbers, and names that the manifest gives.
      return self
    case .streamStart(var start):
      start.manifest = start.manifest.map(clean)
      return .streamStart(start)
    case .runStart(var start):
      start.output = start.output.map(clean)
      return .runStart(start)
    case .barrierStart(var start):
      start.group = start.group.map(clean)
      return .barrierStart(start)
    case .barrierEnd(var end):
      end.barrier.group = end.barrier.group.map(clean)
      end.outputs = end.outputs.map { $0.redacted(by: clean) }
      end.error = end.error?.redacted(by: clean)
      return .barrierEnd(end)
    case .itemStart(var start):
      start.key = clean(start.key)
      return .itemStart(start)
    case .itemRetry(var retry):
      retry.error = retry.error.redacted(by: clean)
      return .itemRetry(retry)
    case .itemError(let error): return .itemError(error.redacted(by: clean))
    case .itemEnd(var end):
      end.outputs = end.outputs.map { $0.redacted(by: clean) }
      end.error = end.error?.redacted(by: clean)
      end.reason = end.reason.map(clean)
      end.finalURL = end.finalURL.map(clean)
      return .itemEnd(end)
    case .pluginCrash(var crash):
      crash.stderr = clean(crash.stderr)
      return .pluginCrash(crash)
    case .pluginNoise(var noise):
      noise.line = clean(noise.line)
      return .pluginNoise(noise)
    case .output(let output): return .output(output.redacted(by: clean))
    case .sinkError(var failure):
      failure.error = failure.error.redacted(by: clean)
      return .sinkError(failure)
    case .control(var control):
      control.scope = clean(control.scope)
      control.message = clean(control.message)
      return .control(control)
    case .log(var line):
      line.message = clean(line.message)
      return .log(line)
    case .diagnostic(var found):
      found.diagnostic.message = clean(found.diagnostic.message)
      found.diagnostic.hint = found.diagnostic.hint.map(clean)
      found.diagnostic.notes = found.diagnostic.notes.map(clean)
      return .diagnostic(found)
    }
  }
}

extension Payload.Output {
  fileprivate consuming func redacted(by clean: (String) -> String) -> Payload.Output {
    var output = self
    output.path = clean(output.path)
    if let known = output.group { output.group = clean(known) }
    for (name, value) in output.leg {
      if case .string(let text) = value { output.leg[name] = .string(clean(text)) }
    }
    return output
  }
}

extension EventError {
  fileprivate func redacted(by clean: (String) -> String) -> EventError {
    var error = self
    error.fault.message = clean(fault.message)
    error.fault.host = fault.host.map(clean)
    return error
  }
}
