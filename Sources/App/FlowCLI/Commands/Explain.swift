internal import FlowBase
internal import FlowBuiltins
internal import FlowParts

extension Command {
  /// `imgflow explain [THING]`.
  static let explain = Command(.explain) { arguments, console in
    let explainer = Explainer(catalog: .builtins)
    if let folder = arguments.value("reference") {
      try SmallFiles.makeFolder(folder)
      for page in ReferencePages(explainer: explainer, commands: Command.all.map(\.spec)).pages {
        try SmallFiles.replace(PathText.join(folder, page.name), Array(page.text.utf8))
      }
      return 0
    }
    let word = arguments.operand("THING")
    var topics = word.map { explainer.topics($0) } ?? [explainer.overview]
    if topics.isEmpty, let word, word.contains(".") {
      // Perhaps an op of a plugin: only then are plugins looked for.
      topics = Explainer(catalog: PluginCatalog.usual(console.environment, and: word)).topics(PathText.name(of: word))
    }
    if let word, topics.isEmpty {
      console.say("imgflow: there is nothing to explain about `\(word)`")
      let advice =
        word.contains(".")
        ? "plugins are found in a folder of that name here, by `imgflow.yaml`, or by $IMGFLOW_PLUGIN_PATH"
        : "`imgflow explain` lists what there is"
      console.say("  " + (Suggestions.question(Suggestions.near(word, among: explainer.words)) ?? advice))
      return 1
    }
    let text = TopicText(paint: Paint(console.coloursOutput))
    console.write(arguments.has("json") ? text.json(topics) : topics.map { text.text($0) }.joined(separator: "\n"))
    return 0
  }
}
