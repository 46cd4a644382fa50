internal import FlowBase

extension JSONWriter {
  mutating func data(of start: Payload.PluginStart) {
    key("plugin")
    string(start.plugin)
    key("version")
    string(start.version)
    key("pid")
    int(start.pid)
  }

  mutating func data(of crash: Payload.PluginCrash) {
    key("plugin")
    string(crash.plugin)
    key("code")
    optional(crash.code)
    key("signal")
    optional(crash.signal)
    key("stderr")
    string(crash.stderr)
  }

  mutating func data(of noise: Payload.PluginNoise) {
    key("plugin")
    string(noise.plugin)
    key("line")
    string(noise.line)
    key("n")
    int(noise.count)
  }

  mutating func data(of failure: Payload.SinkError) {
    key("sink")
    string(failure.sink)
    key("error")
    error(failure.error)
    key("missed_from")
    optional(failure.missedFrom)
  }

  mutating func data(of dropped: Payload.SinkDropped) {
    key("sink")
    string(dropped.sink)
    key("type")
    string(dropped.type.rawValue)
    key("n")
    int(dropped.count)
  }

  mutating func data(of control: Payload.Control) {
    key("verb")
    string(control.verb)
    key("scope")
    string(control.scope)
    key("by")
    string(control.by)
    key("accepted")
    bool(control.isAccepted)
    key("message")
    string(control.message)
  }

  mutating func data(of line: Payload.LogLine) {
    key("level")
    string(line.level.rawValue)
    key("message")
    string(line.message)
  }
}
