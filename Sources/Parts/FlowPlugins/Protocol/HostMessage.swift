internal import FlowBase
internal import FlowParts

/// The lines that the host writes.
enum HostMessage {
  /// The first line: what the process is to do.
  struct Greeting: Sendable {
    var run: String
    var op: String
    var config: Fields
    var window: Int
  }

  /// `init`.
  static func greet(_ greeting: Greeting, instance: Int, workdir: String) -> [UInt8] {
    line { writer in
      writer.key("t")
      writer.string("init")
      writer.key("v")
      writer.beginArray()
      writer.int(1)
      writer.endArray()
      writer.key("run")
      writer.string(greeting.run)
      writer.key("op")
      writer.string(greeting.op)
      writer.key("instance")
      writer.int(instance)
      writer.key("config")
      writer.value(.map(greeting.config))
      writer.key("workdir")
      writer.string(workdir)
      writer.key("window")
      writer.int(greeting.window)
      writer.key("caps")
      writer.beginArray()
      for cap in ["progress", "cancel", "many"] { writer.string(cap) }
      writer.endArray()
      writer.key("log")
      writer.string("info")
    }
  }

  /// What an item is to a plugin.
  struct ItemPart: Sendable {
    var key: String
    var attempt: Int
    var input: (path: String, media: String?, bytes: Int, sha256: String)?
    var fields: Fields
    var budget: Interval
  }

  /// The members of `item`, between the identity and the end of the line; the same for a process of one item.
  static func item(_ part: ItemPart, id: Int, outDir: String, also: Fields = [:]) -> [UInt8] {
    line { writer in
      writer.key("t")
      writer.string("item")
      writer.key("id")
      writer.int(id)
      writer.key("key")
      writer.string(part.key)
      writer.key("attempt")
      writer.int(part.attempt)
      writer.key("in")
      if let input = part.input {
        writer.beginObject()
        writer.key("path")
        writer.string(input.path)
        if let media = input.media {
          writer.key("media")
          writer.string(media)
        }
        writer.key("bytes")
        writer.int(input.bytes)
        writer.key("sha256")
        writer.string(input.sha256)
        writer.endObject()
      } else {
        writer.value(.null)
      }
      writer.key("out")
      writer.beginObject()
      writer.key("dir")
      writer.string(outDir)
      writer.endObject()
      writer.key("item")
      writer.value(.map(part.fields))
      writer.key("budget_ms")
      writer.int(part.budget.nanoseconds / 1_000_000)
      for (name, value) in also {
        writer.key(of: name)
        writer.value(value)
      }
    }
  }

  /// `cancel`.
  static func cancel(id: Int) -> [UInt8] { Array("{\"t\":\"cancel\",\"id\":\(id)}\n".utf8) }
  /// `ping`.
  static func ping(_ number: Int) -> [UInt8] { Array("{\"t\":\"ping\",\"n\":\(number)}\n".utf8) }
  /// `drain`.
  static let drain = Array("{\"t\":\"drain\"}\n".utf8)

  /// `pull`.
  static func pull(_ count: Int, cursor: Value) -> [UInt8] {
    line { writer in
      writer.key("t")
      writer.string("pull")
      writer.key("n")
      writer.int(count)
      writer.key("cursor")
      writer.value(cursor)
    }
  }

  /// `events`, around lines of events that are JSON already.
  static func events(batch: Int, lines: [UInt8], also: Fields = [:]) -> [UInt8] {
    var bytes = Array("{\"t\":\"events\",\"batch\":\(batch),".utf8)
    for (name, value) in also {
      var writer = JSONWriter()
      writer.string(name)
      bytes += writer.bytes
      bytes.append(UInt8(ascii: ":"))
      writer = JSONWriter()
      writer.value(value)
      bytes += writer.bytes
      bytes.append(UInt8(ascii: ","))
    }
    bytes += Array("\"events\":[".utf8)
    bytes += lines.split(separator: 0x0A).joined(separator: [UInt8(ascii: ",")])
    bytes += Array("]}\n".utf8)
    return bytes
  }

  private static func line(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    body(&writer)
    writer.endObject()
    var bytes = writer.bytes
    bytes.append(0x0A)
    return bytes
  }
}
