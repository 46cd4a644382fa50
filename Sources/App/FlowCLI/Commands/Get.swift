internal import FlowBase
internal import FlowBuiltins

extension Command {
  /// `imgflow get URL|LIST…`.
  static var get: Command {
    var command = Command(.get) { arguments, console in
      let text = try GetManifest(arguments).text
      if arguments.has("print-manifest") {
        console.write(text)
        return 0
      }
      let transfers = TransfersAhead()
      defer { transfers.wait() }
      let loaded = LoadedManifest(path: "get", bytes: Array(text.utf8), arguments, console)
      return try await RunSession(arguments, console).run(loaded)
    }
    command.onUsageError = { error, console in await RunSession.refuse(error, console) }
    return command
  }
}

/// The manifest that the options of `get` stand for.
struct GetManifest {
  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  var text: String {
    get throws {
      var lines = ["imgflow: 1", "name: get"]
      lines.append("output: { dir: \(quoted(arguments.value("out") ?? "./out")) }")
      if let jobs = arguments.int("concurrency") { lines.append("limits: { connections: \(jobs) }") }
      lines.append("sources:")
      lines += try sources()
      lines.append("stages:")
      lines += stages()
      return lines.joined(separator: "\n") + "\n"
    }
  }

  private func sources() throws -> [String] {
    let words = arguments.operands("URL|LIST")
    let urls = words.filter { $0.contains("://") }
    let lists = words.filter { !$0.contains("://") }
    var lines: [String] = []
    if let digest = arguments.value("sha256") {
      guard urls.count == 1, lists.isEmpty else {
        throw UsageError(
          "--sha256 goes with a single URL", hint: "a list can have a column sha256 in a manifest", command: "get")
      }
      return ["  - urls:", "      - { url: \(quoted(urls[0])), sha256: \(quoted(digest)) }"]
    }
    for url in urls { lines.append("  - \(quoted(url))") }
    for (place, list) in lists.enumerated() {
      lines.append("  - id: list\(place + 1)")
      lines.append("    file: { path: \(quoted(list == "-" ? "-" : PathText.absolute(list))) }")
    }
    return lines
  }

  private func stages() -> [String] {
    var fetch: [String] = []
    let accept = arguments.all("accept")
    if !accept.isEmpty { fetch.append("accept: [\(accept.map(quoted).joined(separator: ", "))]") }
    if let bytes = arguments.value("max-bytes") { fetch.append("max_bytes: \(bytes)") }
    var lines = [fetch.isEmpty ? "  - fetch: {}" : "  - fetch: { \(fetch.joined(separator: ", ")) }"]
    if let jobs = arguments.int("concurrency") { lines.append("    concurrency: \(jobs)") }
    if let interval = arguments.value("interval") { lines.append("    interval: \(interval)") }
    if let timeout = arguments.value("timeout") { lines.append("    timeout: \(timeout)") }
    if let attempts = arguments.value("attempts") { lines.append("    retry: { attempts: \(attempts) }") }
    let path = quoted(arguments.value("name") ?? "${item.name}")
    lines.append(
      arguments.value("on-exists").map { "  - store: { path: \(path), on_exists: \($0) }" } ?? "  - store: \(path)")
    return lines
  }

  /// A text as YAML reads it back; JSON's form is YAML's too.
  private func quoted(_ text: String) -> String {
    var writer = JSONWriter()
    writer.string(text)
    return writer.text
  }
}
