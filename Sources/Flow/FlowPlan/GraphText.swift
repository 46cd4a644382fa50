extension PlanGraph {
  /// The graph as lines of text that fit a width.
  ///
  /// A stage stands behind the one that it needs where it can; what branches off or joins begins a line of its own.
  public func text(width: Int = 80) -> String {
    let drawing = GraphText(graph: self, width: max(40, width))
    return drawing.lines.joined(separator: "\n") + "\n"
  }
}

/// Draws a graph in lines of text.
struct GraphText {
  let graph: PlanGraph
  let width: Int

  private static let flow = " ─▶ "
  private static let barrier = " ═▶ "
  /// Between stages that run as one pass.
  private static let fused = " → "

  var lines: [String] {
    var lines: [String] = []
    for (place, chain) in chains.enumerated() {
      let stages = chain.stages.enumerated().map { position, stage in
        (
          arrow: arrow(to: stage, isFirst: position == 0),
          text: bracketed(chain.stages, position)
        )
      }
      lines += place == 0 ? first(stages) : wrapped(head: head(of: chain), stages, indent: "    ")
    }
    if graph.stages.isEmpty { lines += graph.sources.map { GraphText.cut($0.id) } }
    return lines + legend
  }

  // MARK: Chains

  private struct Chain {
    /// What stands at its beginning: names of stages or of sources.
    var heads: [String]
    var stages: [Int]
  }

  /// The stages in rows: each behind the only one that it needs, as long as that one is at the end of its row.
  private var chains: [Chain] {
    var chains: [Chain] = []
    for stage in graph.stages.indices {
      let needs = graph.stages[stage].needs
      if needs.count == 1, let row = chains.firstIndex(where: { $0.stages.last == needs[0] }) {
        chains[row].stages.append(stage)
      } else if let joined = chains.lastIndex(where: { row in row.stages.last.map(needs.contains) ?? false }),
        needs.allSatisfy({ need in chains[joined].stages.contains(need) })
      {
        // It takes results of several stages of one row: of the last by the row itself, of the others by name.
        chains[joined].stages.append(stage)
      } else {
        let heads = needs.isEmpty ? graph.sources.map(\.id) : needs.map { graph.stages[$0].id }
        chains.append(Chain(heads: heads, stages: [stage]))
      }
    }
    return chains
  }

  /// What stands before a row that branches off; in a pass where the row goes on with one.
  private func head(of chain: Chain) -> String {
    let goesOn = chain.stages.first.map { graph.isFused(behind: $0) } ?? false
    return (goesOn ? "[" : "") + joined(chain.heads)
  }

  /// A stage's label, with the brackets that begin and end a pass of several stages.
  private func bracketed(_ row: [Int], _ place: Int) -> String {
    let opens = graph.stages[row[place]].isFused && !graph.isFused(behind: row[place])
    let closes = graph.isFused(behind: row[place]) && !graph.stages[row[place]].isFused
    return (opens ? "[" : "") + label(row[place], behind: place > 0 ? row[place - 1] : nil) + (closes ? "]" : "")
  }

  // MARK: Words

  private func arrow(to stage: Int, isFirst: Bool) -> String {
    if graph.isFused(behind: stage) { return GraphText.fused }
    let isBarrier = graph.stages[stage].needs.contains { graph.isBarrier(from: $0, to: stage) }
    return isBarrier || graph.stages[stage].isBarrier ? GraphText.barrier : GraphText.flow
  }

  private func label(_ place: Int, behind last: Int?) -> String {
    let stage = graph.stages[place]
    let before = last.map { graph.stages[$0] }
    var text = GraphText.cut(stage.id)
    if stage.isConditional { text += "?" }
    if let concurrency = stage.concurrency { text += "(\(concurrency))" }
    if stage.legs.count != 1 { text += " ×\(stage.legs.count)" }
    if stage.isBarrier, before?.per != stage.per || before?.group != stage.group {
      text = "[\(stage.group.map(GraphText.groupName) ?? "run")] " + text
    }
    // Results that come from further back than the stage before are named.
    let further = stage.needs.filter { need in last != nil && need != last }.map { GraphText.cut(graph.stages[$0].id) }
    if !further.isEmpty { text += " (+ \(further.joined(separator: ", ")))" }
    let gates = graph.gates(of: place).map { GraphText.cut(graph.stages[$0].id) }
    if !gates.isEmpty { text += " (after \(gates.joined(separator: ", ")))" }
    return text
  }

  /// `category` for `row.category`; a longer expression as it stands.
  private static func groupName(_ expression: String) -> String {
    let last = expression.split(separator: ".").last.map(String.init) ?? expression
    let isName = expression.allSatisfy { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" }
    return cut(isName ? last : expression)
  }

  private static func cut(_ text: String) -> String { text.count > 32 ? text.prefix(31) + "…" : text }

  private func joined(_ heads: [String]) -> String {
    let shown = heads.prefix(3).map(GraphText.cut).joined(separator: " + ")
    return heads.count > 3 ? shown + " + \(heads.count - 3) more" : shown
  }

  // MARK: Rows

  /// The first row, with the sources in a bracket before it.
  private func first(_ stages: [(arrow: String, text: String)]) -> [String] {
    let names = graph.sources.map { GraphText.cut($0.id) }
    guard names.count > 1 else { return wrapped(head: names.first ?? "", stages, indent: "    ") }
    let longest = names.map(\.count).max() ?? 0
    let middle = (names.count - 1) / 2 + (names.count == 2 ? 1 : 0)
    var lines: [String] = []
    var rest: [String] = []
    for (place, name) in names.enumerated() {
      let padded = name + String(repeating: " ", count: longest - name.count) + " ─"
      let corner = place == 0 ? "┐" : place == names.count - 1 ? "┘" : place == middle ? "┼" : "┤"
      guard place == middle else {
        lines.append(padded + corner)
        continue
      }
      let head = padded + (place == names.count - 1 ? "┴" : corner)
      let row = wrapped(head: head, stages, indent: "    ", joinsHead: true)
      lines.append(row[0])
      rest = Array(row.dropFirst())
    }
    return lines + rest
  }

  /// A row, broken before an arrow where it gets too wide.
  private func wrapped(
    head: String, _ stages: [(arrow: String, text: String)], indent: String, joinsHead: Bool = false
  ) -> [String] {
    var lines = [head]
    for (place, stage) in stages.enumerated() {
      let arrow = place == 0 && joinsHead ? String(stage.arrow.dropFirst()) : stage.arrow
      let piece = arrow + stage.text
      if lines[lines.count - 1].count + piece.count > width, lines[lines.count - 1].count > indent.count {
        lines.append(indent + piece.drop { $0 == " " })
      } else {
        lines[lines.count - 1] += piece
      }
    }
    return lines
  }

  private var legend: [String] {
    var signs = ["─▶ per item"]
    if graph.stages.contains(where: \.isBarrier) || graph.stages.contains(where: { !$0.after.isEmpty }) {
      signs.append("═▶ barrier")
    }
    if graph.stages.contains(where: \.isConditional) { signs.append("? conditional") }
    if graph.stages.contains(where: \.isFused) { signs.append("[a → b] one pass") }
    if graph.stages.contains(where: { $0.legs.count != 1 }) { signs.append("×n legs") }
    if graph.stages.contains(where: { $0.concurrency != nil }) { signs.append("(n) concurrency") }
    return [signs.joined(separator: "   ")]
  }
}
