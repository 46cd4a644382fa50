internal import FlowBase

extension PlanGraph {
  // MARK: Mermaid

  /// The graph as a Mermaid flowchart.
  public var mermaid: String {
    var text = "flowchart LR\n"
    for source in sources { text += "  source_\(source.id)([\"\(PlanGraph.mermaid(source.id))\"])\n" }
    for (place, stage) in stages.enumerated() {
      let (open, close) = stage.isBarrier ? ("[[", "]]") : ("[", "]")
      text += "  \(PlanGraph.word(stage.id))\(open)\"\(PlanGraph.mermaid(label(place)))\"\(close)\n"
    }
    for (place, stage) in stages.enumerated() {
      if stage.needs.isEmpty {
        for source in sources { text += "  source_\(source.id) --> \(PlanGraph.word(stage.id))\n" }
      }
      for need in stage.needs {
        text +=
          "  \(PlanGraph.word(stages[need].id)) \(isBarrier(from: need, to: place) ? "==>" : "-->") \(PlanGraph.word(stage.id))\n"
      }
      for gate in gates(of: place) {
        text += "  \(PlanGraph.word(stages[gate].id)) -. after .-> \(PlanGraph.word(stage.id))\n"
      }
    }
    return text
  }

  /// A stage's id as a word of the language.
  private static func word(_ id: String) -> String { "stage_" + id.map { $0 == "." ? "_" : String($0) }.joined() }

  private static func mermaid(_ text: String) -> String {
    text.map { $0 == "\"" ? "#quot;" : $0 == "<" ? "&lt;" : $0 == "\n" ? " " : String($0) }.joined()
  }

  // MARK: Dot

  /// The graph in Graphviz' language.
  public var dot: String {
    var text = "digraph imgflow {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n"
    for source in sources {
      text += "  \(PlanGraph.quoted("source " + source.id)) [label=\(PlanGraph.quoted(source.id)), shape=ellipse];\n"
    }
    for (place, stage) in stages.enumerated() {
      let form = stage.isBarrier ? ", peripheries=2" : ""
      text += "  \(PlanGraph.quoted(stage.id)) [label=\(PlanGraph.quoted(label(place)))\(form)];\n"
    }
    for (place, stage) in stages.enumerated() {
      let target = PlanGraph.quoted(stage.id)
      if stage.needs.isEmpty {
        for source in sources { text += "  \(PlanGraph.quoted("source " + source.id)) -> \(target);\n" }
      }
      for need in stage.needs {
        let form = isBarrier(from: need, to: place) ? " [style=bold]" : ""
        text += "  \(PlanGraph.quoted(stages[need].id)) -> \(target)\(form);\n"
      }
      for gate in gates(of: place) {
        text += "  \(PlanGraph.quoted(stages[gate].id)) -> \(target) [style=dashed, label=\"after\"];\n"
      }
    }
    return text + "}\n"
  }

  private static func quoted(_ text: String) -> String {
    "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : $0 == "\n" ? " " : String($0) }.joined() + "\""
  }

  /// A stage's name with what is special about it.
  private func label(_ place: Int) -> String {
    let stage = stages[place]
    var text = stage.id == stage.op ? stage.id : "\(stage.id): \(stage.op)"
    if let group = stage.group { text += "\nper \(group)" } else if stage.per == "run" { text += "\nper run" }
    if stage.isConditional { text += " ?" }
    if let concurrency = stage.concurrency { text += " (\(concurrency))" }
    if stage.legs.count != 1 { text += " ×\(stage.legs.count)" }
    return text
  }

  // MARK: JSON

  /// The graph as one JSON document.
  public var json: String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("format_version")
    writer.int(1)
    writer.key("name")
    writer.string(name)
    writer.key("sources")
    writer.ends(sources)
    writer.key("stages")
    writer.beginArray()
    for stage in stages { writer.stage(stage, in: self) }
    writer.endArray()
    writer.key("sinks")
    writer.ends(sinks)
    writer.endObject()
    return writer.text + "\n"
  }
}

extension JSONWriter {
  fileprivate mutating func ends(_ ends: [PlanGraph.End]) {
    beginArray()
    for end in ends {
      beginObject()
      key("id")
      string(end.id)
      key("op")
      string(end.op)
      endObject()
    }
    endArray()
  }

  fileprivate mutating func stage(_ stage: PlanGraph.Stage, in graph: PlanGraph) {
    beginObject()
    key("id")
    string(stage.id)
    key("op")
    string(stage.op)
    key("per")
    string(stage.per)
    key("group")
    if let group = stage.group { string(group) } else { null() }
    key("if")
    string(stage.condition ?? "success")
    key("concurrency")
    if let concurrency = stage.concurrency { int(concurrency) } else { null() }
    key("nodes")
    int(stage.nodes)
    key("legs")
    beginArray()
    for leg in stage.legs where !leg.isEmpty {
      beginObject()
      for (axis, text) in leg.sorted(by: { $0.key < $1.key }) {
        key(of: axis)
        string(text)
      }
      endObject()
    }
    endArray()
    key("needs")
    strings(stage.needs.map { graph.stages[$0].id })
    key("after")
    strings(stage.after.map { graph.stages[$0].id })
    key("fused")
    bool(stage.isFused)
    endObject()
  }

  private mutating func strings(_ texts: [String]) {
    beginArray()
    for text in texts { string(text) }
    endArray()
  }
}
