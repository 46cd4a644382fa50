internal import FlowBase

// Every text that came from outside goes through a mask, which gives what is to stand there, or nil where it may stay.
// Nearly always there is nothing to hide, and then nothing is copied.

extension ItemSubject {
  /// The same without what is to be hidden; nil where there is nothing of the kind.
  func masked(by mask: (String) -> String?) -> ItemSubject? {
    let (item, url, parent) = (mask(item), url.flatMap(mask), parent.flatMap(mask))
    if item == nil, url == nil, parent == nil { return nil }
    var masked = self
    masked.item = item ?? self.item
    masked.url = url ?? self.url
    masked.parent = parent ?? self.parent
    return masked
  }
}

extension Payload {
  /// The same without what is to be hidden; nil where it is known that there is nothing of the kind.
  func masked(by mask: (String) -> String?) -> Payload? {
    isClean(by: mask) ? nil : redacted { mask($0) ?? $0 }
  }

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
