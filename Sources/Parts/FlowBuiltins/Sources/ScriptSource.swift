internal import FlowBase
internal import FlowEvents
public import FlowParts
internal import FlowScript

/// Takes items from a function of a Lua script: a list, an iterator, or what it yields.
public struct ScriptSource: Source {
  /// What is to be said of it.
  public static let part: SourcePart = {
    var spec = PartSpec(
      name: "script", role: .source, summary: "Takes items from a Lua function that returns or yields them.",
      fields: [
        FieldSpec("file", .string, phase: .load, required: true, "The script's path."),
        FieldSpec("function", .string, phase: .load, default: "items", "The function that is called."),
        FieldSpec("args", .map(.anything), phase: .load, "Values that the function gets as `ctx.args`."),
      ], shorthand: "file", example: "sources:\n  - script: { file: cards.lua, args: { count: 10 } }\n")
    spec.check = { ScriptFile.problems($0, $1, function: "items") }
    return SourcePart(spec) { ScriptSource() }
  }()

  /// Gets the function going.
  public func open(in context: SourceContext) async throws -> any SourceReader {
    let name = context.config.text("file") ?? ""
    let path = PathText.absolute(name, from: context.folder)
    let text = try SmallFiles.read(path, limit: ScriptFile.limit)
    do throws(ScriptProblem) {
      let script = try ScriptState(text, name: name) { [tell = context.tell] line in
        tell(.log(.init(.info, "\(name): \(line)")))
      }
      let arguments: Value = [
        "id": .string(context.id), "folder": .string(context.folder),
        "args": .map(context.config.value("args")?.asMap ?? [:]), "cursor": context.cursor ?? .null,
      ]
      return ScriptReader(
        items: try ScriptSequence(script, context.config.text("function") ?? "items", [arguments]), file: name)
    } catch {
      throw error.fault
    }
  }
}

/// Hands out what the function gives.
private struct ScriptReader: SourceReader {
  let items: ScriptSequence
  let file: String
  var number = 0
  /// From where the items of the last batch can be asked for again.
  private(set) var cursor: Value?
  /// The first item with another cursor, which begins the next batch.
  private var held: (item: SourceItem, cursor: Value)?

  init(items: ScriptSequence, file: String) {
    self.items = items
    self.file = file
  }

  var total: Int? { nil }

  mutating func next(upTo count: Int) async throws -> [SourceItem] {
    var batch: [SourceItem] = []
    if let held {
      batch.append(held.item)
      cursor = held.cursor
      self.held = nil
    }
    while batch.count < count {
      let value: Value?
      do throws(ScriptProblem) { value = try items.next() } catch { throw error.fault }
      guard let value else { break }
      number += 1
      if let said = value.asMap?["cursor"], !said.isNull, said != cursor {
        if !batch.isEmpty {
          held = (item(value), said)
          break
        }
        cursor = said
      }
      batch.append(item(value))
    }
    return batch
  }

  /// An item: an address, or a table with `url` or `path` and what belongs to it; other keys are cells of its row.
  private func item(_ value: Value) -> SourceItem {
    if let url = value.asString { return SourceItem(url: url) }
    guard let table = value.asMap else {
      return SourceItem(
        url: nil,
        fault: Fault(
          "script.result", .permanent,
          "\(file): item \(number) is \(value.kindName); expected is an address, or a table such as { url = \"…\" }"))
    }
    var item = SourceItem(url: table["url"]?.asString, key: table["key"]?.text, path: table["path"]?.asString)
    item.expected.size = table["size"]?.asInt
    item.expected.sha256 = table["sha256"]?.asString.flatMap { Digest(.sha256, parsing: $0) }
    item.expected.sha512 = table["sha512"]?.asString.flatMap { Digest(.sha512, parsing: $0) }
    item.mirrors = table["mirrors"]?.asList?.map(\.text) ?? []
    item.headers = table["headers"]?.asMap?.map { Header($0, $1.text) } ?? []
    var row = table["row"]?.asMap ?? [:]
    let known = ["url", "key", "path", "size", "sha256", "sha512", "mirrors", "headers", "row", "cursor"]
    for (name, value) in table where !known.contains(name) { row[name] = value }
    item.row = row
    return item
  }
}
