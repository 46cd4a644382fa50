internal import FlowBase
internal import FlowEvents
internal import FlowParts

/// The pages of docs/reference, made of the same topics that `explain` shows.
struct ReferencePages {
  let explainer: Explainer
  let commands: [CommandSpec]

  /// The pages by file name.
  var pages: [(name: String, text: String)] {
    [
      ("ops.md", ops),
      ("keys.md", page("Keys", "What stands in a manifest beside the ops.", explainer.sections)),
      ("expressions.md", list("Expressions", "expressions")),
      ("codes.md", codes),
      ("events.md", events),
      (
        "diagnostics.md",
        page("Diagnostics", "What `imgflow validate` finds.", explainer.diagnosticKinds.map(explainer.diagnostic))
      ),
      ("exit-codes.md", list("Exit codes", "exit")),
      ("commands.md", commandPage),
      ("page.md", livePage),
    ]
  }

  private func page(_ title: String, _ introduction: String, _ topics: [Topic]) -> String {
    head(title, introduction) + topics.map { "\n" + TopicText().markdown($0) }.joined()
  }

  private func head(_ title: String, _ introduction: String) -> String {
    "# \(title)\n\n" + "This page is made from the program by `make docs`.\n"
      + (introduction.isEmpty ? "" : "\n\(introduction)\n")
  }

  /// The ops, without the keys beside them, which are the same for each role.
  private var ops: String {
    let topics = explainer.ops.map { op in
      var op = op
      op.tables.removeAll { $0.title == "beside it" }
      return op
    }
    return page(
      "Ops",
      "What the entries of `sources`, `stages` and `sinks` can be. What stands beside them is said in "
        + "[keys](keys.md).", topics)
  }

  /// A page that is one list.
  private func list(_ title: String, _ word: String) -> String {
    let topics = explainer.topics(word)
    return head(title, topics.first?.summary ?? "") + topics.map { TopicText().markdownBody($0) }.joined()
  }

  private var codes: String {
    var text = head("Error codes", "`imgflow explain CODE` shows one of them.")
    for kind in FaultClass.allCases {
      let entries = CodeReference.all.filter { $0.kind == kind }
      if entries.isEmpty { continue }
      text += "\n# \(kind.rawValue)\n\n\(CodeReference.words(for: kind).prefix(1).uppercased())"
      text += "\(CodeReference.words(for: kind).dropFirst()).\n"
      for entry in entries { text += "\n" + TopicText().markdown(explainer.code(entry)) }
    }
    return text
  }

  private var events: String {
    var text = head("Events", "One JSON object a line. Every line has:")
    text += "\n" + TopicText().markdown(Topic.Table("key", EventReference.envelope))
    return text + EventType.allCases.map { "\n" + TopicText().markdown(explainer.event($0)) }.joined()
  }

  private var livePage: String {
    var text = head("The live page", PageReference.introduction)
    for address in PageReference.addresses {
      text += "\n## `\(address.line)`\n\n\(address.summary)\n"
      if !address.parameters.isEmpty {
        text += "\n| parameter | meaning |\n|---|---|\n"
        for parameter in address.parameters { text += "| `\(parameter.0)` | \(parameter.1) |\n" }
      }
      text += "\n```sh\n\(address.example)\n```\n"
    }
    return text
  }

  private var commandPage: String {
    var text = head("Commands", "")
    for command in commands where !command.isHidden {
      text += "\n## `imgflow \(command.name)`\n\n```\n\(HelpText().command(command))```\n"
    }
    return text
  }
}
