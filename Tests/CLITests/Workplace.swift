import FlowBase
import FlowEvents
import FlowTesting
import Testing

/// A folder with a manifest in it, a server, and the built program.
struct Workplace {
  let place: TempPlace
  let server: LoopbackServer
  var tool: Tool

  /// A folder whose server answers `/small/…` with bytes of its path, and everything else as told.
  init(_ answers: [String: [LoopbackServer.Response]] = [:]) throws {
    let script = ServerScript(answers)
    try self.init { request in
      request.path.hasPrefix("/small/") ? .ok(Workplace.body(request.path)) : script.respond(to: request)
    }
  }

  init(handler: @escaping LoopbackServer.Handler) throws {
    place = try TempPlace()
    server = try LoopbackServer(handler: handler)
    tool = Tool(in: place.path)
  }

  /// What the server has at `/small/…`.
  static func body(_ path: String) -> [UInt8] { Array(String(repeating: path + "\n", count: 40).utf8) }

  func write(_ name: String, _ text: String) throws { try SmallFiles.replace(place.file(name), Array(text.utf8)) }

  func read(_ name: String) throws -> String { String(decoding: try SmallFiles.read(place.file(name)), as: UTF8.self) }

  /// Writes `m.yaml`: these paths of the server, fetched and stored under `out`.
  func manifest(
    _ paths: [String], _ extra: String = "", fetch: String = "fetch", more: String = "",
    path: String = "${item.key}.bin"
  ) throws {
    let sources = paths.map { "      - { url: \"\(server.url)\($0)\", key: \"\(Workplace.key($0))\" }" }
    try write(
      "m.yaml",
      """
      imgflow: 1
      output: { dir: ./out }
      \(extra)
      sources:
        - urls:
      \(sources.joined(separator: "\n"))
      stages:
        - \(fetch)
        - store: "\(path)"
      \(more)
      """)
  }

  static func key(_ path: String) -> String { String(path.split(separator: "/").joined(separator: "-")) }

  /// The files below a folder, by their paths from it.
  func files(_ folder: String = "out") -> [String] {
    func walk(_ path: String, _ prefix: String) -> [String] {
      ((try? SmallFiles.names(in: path)) ?? []).flatMap { name in
        let child = PathText.join(path, name)
        return SmallFiles.isFolder(child) ? walk(child, prefix + name + "/") : [prefix + name]
      }
    }
    return walk(place.file(folder), "").sorted()
  }
}

/// A captured stream, read back.
struct Stream {
  let lines: [Value]
  let problems: [String]

  init(_ text: String) {
    lines = text.split(separator: "\n").compactMap { try? JSONReader.read(Array($0.utf8)) }
    problems = StreamCheck.problems(in: Array(text.utf8)).map { "line \($0.line): \($0.message)" }
  }

  var types: [String] { lines.compactMap { $0.asMap?["type"]?.asString } }
  var end: Fields { data(lines.last) }
  var exit: Int? { end["exit"]?.asInt }
  var result: String? { end["result"]?.asString }

  /// The data of all events of a type.
  func all(_ type: String) -> [Fields] {
    lines.filter { $0.asMap?["type"]?.asString == type }.map { data($0) }
  }

  /// The items that ended so.
  func items(_ status: String) -> [String] {
    lines.filter { $0.asMap?["type"]?.asString == "item.end" && data($0)["status"]?.asString == status }
      .compactMap { $0.asMap?["item"]?.asString }
  }

  func count(_ name: String) -> Int? { end["items"]?.asMap?[name]?.asInt }

  private func data(_ line: Value?) -> Fields { line?.asMap?["data"]?.asMap ?? [:] }
}

extension ToolEnd {
  var stream: Stream { Stream(output) }
}

/// Expects a whole stream that names this exit code, and the same code of the process.
func expectEnd(_ end: ToolEnd, _ code: Int, sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(end.code == code, "\(end.errors)", sourceLocation: sourceLocation)
  #expect(end.stream.exit == code, sourceLocation: sourceLocation)
  #expect(end.stream.types.first == "stream.start", sourceLocation: sourceLocation)
  #expect(end.stream.types.last == "run.end", sourceLocation: sourceLocation)
  #expect(end.stream.problems == [], sourceLocation: sourceLocation)
}

/// Expects an exit code, and shows what was said where it is another; what comes behind would only wait in vain.
func expectCode(_ end: ToolEnd, _ code: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
  try #require(end.code == code, "\(end.output)\(end.errors)", sourceLocation: sourceLocation)
}
