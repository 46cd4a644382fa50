public import FlowBase

/// What a run with `--record` has written down: the processes, and the lines in both directions.
public struct PluginRecord: Sendable {
  struct Process: Sendable {
    var folder: String
    var op: String
    /// What went to it, and what came from it.
    var sent: [Value] = []
    var heard: [Value] = []
  }

  let processes: [Process]

  /// Reads a record.
  public init(bytes: [UInt8]) throws(Fault) {
    var byPid: [(pid: Int, process: Process)] = []
    for (number, line) in bytes.split(separator: 0x0A).enumerated() {
      let map: Fields
      do { map = try JSONReader.read(line).asMap ?? [:] } catch {
        throw Fault("plugin.record", .permanent, "line \(number + 1) of the record is no JSON: \(error.message)")
      }
      let pid = map["pid"]?.asInt ?? 0
      if let op = map["start"]?.asString {
        byPid.append((pid, Process(folder: map["folder"]?.asString ?? "", op: op)))
      } else if let text = map["line"]?.asString, let place = byPid.lastIndex(where: { $0.pid == pid }),
        let value = try? JSONReader.read(Array(text.utf8))
      {
        if map["way"] == ">" {
          byPid[place].process.sent.append(value)
        } else {
          byPid[place].process.heard.append(value)
        }
      }
    }
    processes = byPid.map(\.process)
  }

  /// Starts each plugin again, says what was said, and compares the results by their numbers.
  public func replay(in surroundings: PluginSurroundings, report: (PluginKit.Finding) -> Void) async throws {
    for process in processes {
      let read = PluginManifest.read(folder: process.folder)
      guard let plugin = read.manifest else {
        report(PluginKit.Finding(process.op, "its plugin cannot be read from \(process.folder)"))
        continue
      }
      let kit = PluginKit(plugin, in: surroundings)
      do {
        let folder = try kit.makeFolder()
        defer { try? FileSystem.removeTree(folder) }
        let answers = try await replay(process, kit, folder: folder)
        var different = 0
        for (id, value) in PluginRecord.results(process.heard) where answers[id] != value { different += 1 }
        let count = PluginRecord.results(process.heard).count
        report(
          PluginKit.Finding(
            "\(process.op): \(count) results", different == 0 ? nil : "\(different) are not what they were"))
      } catch {
        report(PluginKit.Finding(process.op, Fault(error).message))
      }
    }
  }

  private func replay(_ process: Process, _ kit: PluginKit, folder: String) async throws -> [Int: Value] {
    let line = try PluginConversation(kit.plugin, kit.surroundings, folder: folder)
    defer { line.kill() }
    var answers: [Int: Value] = [:]
    for sent in process.sent {
      guard var map = sent.asMap, let type = map["t"]?.asString, type != "drain", type != "cancel" else { continue }
      if type == "init" { map["workdir"] = .string(line.workdir) }
      if type == "item", let id = map["id"]?.asInt {
        let out = PathText.join(line.workdir, String(id))
        try SmallFiles.makeFolder(out)
        map["out"] = ["dir": .string(out)]
      }
      var writer = JSONWriter()
      writer.value(.map(map))
      line.write(writer.bytes + [0x0A])
      waiting: while true {
        switch await line.next(within: kit.plugin.limits.item) {
        case nil: throw Fault("plugin.timeout", .permanent, "no answer to a line of type `\(type)`")
        case .ended(let end)?: throw Fault("plugin.crashed", .permanent, "the process \(end.words)")
        case .message(.result(let id, let result))?:
          answers[id] = PluginRecord.essence(result)
          break waiting
        case .message(.progress)?, .message(.log)?, .message(.unknown)?, .noise?: continue
        case .message?: break waiting
        }
      }
    }
    return answers
  }

  /// The recorded results by their numbers, without what differs from run to run.
  private static func results(_ heard: [Value]) -> [Int: Value] {
    var results: [Int: Value] = [:]
    for value in heard {
      if case .result(let id, let result)? = PluginMessage(value) { results[id] = essence(result) }
    }
    return results
  }

  private static func essence(_ result: PluginResult) -> Value {
    let status: Value =
      switch result.status {
      case .ok: "ok"
      case .drop: "drop"
      case .many(let items): .list(items.map { .string($0.key) })
      case .error(let fault): .string("error \(fault.code ?? "")")
      case .cancelled: "cancelled"
      case .unclear: "unclear"
      }
    return .list([
      status, .map(result.fields.sortedByName), .list(result.outputs.map { .string(PathText.name(of: $0.path)) }),
    ])
  }
}
