public import FlowBase
internal import FlowEvents
public import FlowParts

/// The lines that go over a run's control socket.
public enum ControlWire {
  /// The socket's name in the run's folder.
  public static let socketName = "control.sock"

  /// Asks a run that is under way, whose folder is given, and waits for its answer.
  ///
  /// Blocks the thread.
  public static func ask(_ request: ControlRequest, folder: String) throws(Fault) -> ControlAnswer {
    let connection = try UnixSocket.connect(folder: folder, name: socketName)
    connection.write(bytes(of: request))
    guard let line = connection.readLine(limit: 1 << 16), let answer = answer(from: line) else {
      throw Fault("control.absent", .local, "the run ended before it could answer")
    }
    return answer
  }

  /// Whether a run, whose folder is given, is under way and listens.
  public static func isListening(folder: String) -> Bool {
    (try? UnixSocket.connect(folder: folder, name: socketName)) != nil
  }

  static func bytes(of request: ControlRequest) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("verb")
    writer.string(request.verb.rawValue)
    if let name = request.scope.name {
      writer.key(of: request.scope.kind)
      writer.string(name)
    }
    if request.isImmediate {
      writer.key("now")
      writer.bool(true)
    }
    if let setting = request.setting {
      writer.key("key")
      writer.string(setting.key)
      writer.key("value")
      writer.string(setting.value)
    }
    writer.key("by")
    writer.string(request.by)
    writer.endObject()
    writer.verbatim(UInt8(ascii: "\n"))
    return writer.bytes
  }

  static func request(from line: [UInt8]) -> ControlRequest? {
    guard let map = (try? JSONReader.read(line))?.asMap,
      let verb = map["verb"]?.asString.flatMap(ControlRequest.Verb.init(rawValue:))
    else { return nil }
    var request = ControlRequest(verb, by: map["by"]?.asString ?? "ctl")
    for kind in ControlScope.kinds {
      if let name = map[kind]?.asString, let scope = ControlScope(kind: kind, name: name) { request.scope = scope }
    }
    request.isImmediate = map["now"]?.asBool ?? false
    if let key = map["key"]?.asString {
      request.setting = ControlRequest.Setting(key, map["value"]?.asString ?? "")
    }
    return request
  }

  static func bytes(of answer: ControlAnswer) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("accepted")
    writer.bool(answer.isAccepted)
    writer.key("state")
    writer.string(answer.state.rawValue)
    writer.key("message")
    writer.string(answer.message)
    writer.endObject()
    writer.verbatim(UInt8(ascii: "\n"))
    return writer.bytes
  }

  static func answer(from line: [UInt8]) -> ControlAnswer? {
    guard let map = (try? JSONReader.read(line))?.asMap, let isAccepted = map["accepted"]?.asBool else { return nil }
    return ControlAnswer(
      isAccepted: isAccepted, message: map["message"]?.asString ?? "",
      state: map["state"]?.asString.flatMap(RunState.init(rawValue:)) ?? .active)
  }
}
