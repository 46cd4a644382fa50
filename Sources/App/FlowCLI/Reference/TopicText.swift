internal import FlowBase

/// Writes topics as text for a terminal, as JSON, or as a piece of a reference page.
struct TopicText: Sendable {
  var paint = Paint(false)
  var width = 80

  func text(_ topic: Topic) -> String {
    let kind = topic.kind == .list ? "" : paint.dim(" (\(topic.kind.rawValue))")
    var text = paint.bold(topic.name) + kind + "\n" + wrap(topic.summary)
    if !topic.facts.isEmpty { text += "\n" + rows(topic.facts) }
    for paragraph in topic.paragraphs { text += "\n" + wrap(paragraph) }
    for table in topic.tables where !table.rows.isEmpty {
      text += "\n" + (table.title.isEmpty ? "" : paint.bold(table.title) + "\n") + rows(table.rows)
    }
    if let example = topic.example { text += "\n" + paint.bold("example") + "\n" + indented(example) }
    return text
  }

  func json(_ topics: [Topic]) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("format_version")
    writer.int(1)
    writer.key("topics")
    writer.beginArray()
    for topic in topics {
      writer.beginObject()
      writer.key("kind")
      writer.string(topic.kind.rawValue)
      writer.key("name")
      writer.string(topic.name)
      writer.key("summary")
      writer.string(topic.summary)
      for fact in topic.facts {
        writer.key(of: fact.name)
        writer.string(fact.words)
      }
      if !topic.paragraphs.isEmpty {
        writer.key("text")
        writer.beginArray()
        for paragraph in topic.paragraphs { writer.string(paragraph) }
        writer.endArray()
      }
      for table in topic.tables where !table.rows.isEmpty {
        writer.key(of: table.title.isEmpty ? "entries" : table.title)
        writer.beginArray()
        for row in table.rows {
          writer.beginObject()
          writer.key("name")
          writer.string(row.name)
          writer.key("summary")
          writer.string(row.words)
          writer.endObject()
        }
        writer.endArray()
      }
      if let example = topic.example {
        writer.key("example")
        writer.string(example)
      }
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return writer.text + "\n"
  }

  func markdown(_ topic: Topic) -> String {
    "## `\(topic.name)`\n\n\(cell(topic.summary, inTable: false))\n" + markdownFacts(topic) + markdownBody(topic)
  }

  private func markdownFacts(_ topic: Topic) -> String {
    topic.facts.isEmpty ? "" : "\n" + topic.facts.map { "- \($0.name): \(cell($0.words, inTable: false))\n" }.joined()
  }

  func markdownBody(_ topic: Topic) -> String {
    var text = ""
    for paragraph in topic.paragraphs { text += "\n\(cell(paragraph, inTable: false))\n" }
    for table in topic.tables where !table.rows.isEmpty { text += "\n" + markdown(table) }
    if let example = topic.example {
      let isShell = example.hasPrefix("imgflow ") || example.hasPrefix("iconv ")
      text += "\n```\(isShell ? "sh" : "yaml")\n\(example.hasSuffix("\n") ? example : example + "\n")```\n"
    }
    return text
  }

  func markdown(_ table: Topic.Table) -> String {
    var text = "| \(table.title.isEmpty ? "name" : table.title) | |\n|---|---|\n"
    for row in table.rows {
      text += "| `\(row.name.replacing("|", with: "\\|"))` | \(cell(row.words, inTable: true)) |\n"
    }
    return text
  }

  /// A text in which `<` and `*` are themselves, outside of code.
  private func cell(_ words: String, inTable: Bool) -> String {
    var text = ""
    var isCode = false
    for character in words {
      if character == "`" { isCode.toggle() }
      if inTable && character == "|" || !isCode && (character == "<" || character == "*") { text.append("\\") }
      text.append(character)
    }
    return text
  }

  private func rows(_ rows: [Topic.Table.Row]) -> String {
    let longest = rows.map(\.name.count).filter { $0 <= 28 }.max() ?? 0
    var text = ""
    for row in rows {
      let lines = Wrapping.lines(row.words, width: max(24, width - longest - 4))
      let fits = row.name.count <= longest
      text +=
        "  " + paint.cyan(row.name)
        + (fits ? String(repeating: " ", count: longest - row.name.count + 2) + lines[0] : "")
      text += "\n"
      for line in fits ? lines.dropFirst() : lines[...] {
        text += String(repeating: " ", count: longest + 4) + line + "\n"
      }
    }
    return text
  }

  private func wrap(_ text: String) -> String {
    Wrapping.lines(text, width: width).joined(separator: "\n") + "\n"
  }

  private func indented(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : "  " + $0 }
      .joined(separator: "\n") + (text.hasSuffix("\n") ? "" : "\n")
  }
}

/// Breaks texts at blanks.
enum Wrapping {
  /// The lines of a text, each at most so wide unless a word is wider.
  static func lines(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, line.count + 1 + word.count > width {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    return lines + [line]
  }
}
