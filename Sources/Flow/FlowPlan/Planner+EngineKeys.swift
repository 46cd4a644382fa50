internal import FlowBase
internal import FlowExpressions
internal import FlowManifest
internal import FlowParts
internal import FlowYAML

// The keys beside a stage's op that say when, how often and how it is tried.
extension Planner {
  mutating func readEngineKeys(of draft: StageDraft, into stage: inout PlannedStage, types: PlaceTypes) {
    let resolved = draft.resolved
    stage.condition = readCondition(of: resolved, types: types)
    if let word = readKey("on_error", of: resolved)?.asString {
      stage.onError = PlannedStage.OnError(rawValue: word) ?? .fail
    }
    stage.concurrency = readKey("concurrency", of: resolved)?.asInt
    stage.interval = span("interval", of: resolved)
    stage.timeout = span("timeout", of: resolved)
    stage.deadline = span("deadline", of: resolved)
    stage.pool = readKey("pool", of: resolved)?.asString
    readRetry(of: resolved, into: &stage)
    checkPool(stage.pool, of: resolved)
  }

  private mutating func readCondition(of resolved: ResolvedEntry, types: PlaceTypes) -> PlannedStage.Condition {
    guard let entry = resolved.entry["if"] else { return .success }
    switch entry.value.scalar {
    case "success": return .success
    case "always": return .always
    case let word? where Suggestion.nearest(to: word, among: ["success", "always"]) != nil:
      let near = Suggestion.nearest(to: word, among: ["success", "always"]) ?? "always"
      reader.add(
        "E0110", "`if` is success, always or a condition, and this is `\(word)`", at: entry.value.place,
        hint: "did you mean `\(near)`?")
      return .success
    default:
      var site = ConfigReader.Site(name: "if", owner: resolved.id, types: types)
      site.types.hasRun = true
      return reader.condition(entry.value, at: site).map(PlannedStage.Condition.expression) ?? .success
    }
  }

  private mutating func span(_ key: String, of resolved: ResolvedEntry) -> Interval? {
    readKey(key, of: resolved)?.asInt.map { Interval(nanoseconds: $0) }
  }

  private mutating func readRetry(of resolved: ResolvedEntry, into stage: inout PlannedStage) {
    guard let entry = resolved.entry["retry"], let fields = readKey("retry", of: resolved)?.asMap else { return }
    if let attempts = fields["attempts"]?.asInt { stage.retry.attempts = attempts }
    if let classes = fields["classes"]?.asList {
      stage.retry.classes = Set(classes.compactMap { FaultClass(rawValue: $0.text) })
    }
    guard let text = fields["backoff"]?.asString else { return }
    let ends =
      text.firstRange(of: "..").map { [text[..<$0.lowerBound], text[$0.upperBound...]] } ?? [text[...], text[...]]
    let spans = ends.compactMap { Interval(parsing: String($0.trimmed)) }
    guard spans.count == 2, spans[0] <= spans[1], spans[0] > .zero else {
      reader.add(
        "E0110", "`backoff` is the shortest and the longest wait, and this is `\(text)`",
        at: (entry.value["backoff"] ?? entry.value).place, hint: "such as `500ms..60s`")
      return
    }
    stage.retry.shortest = spans[0]
    stage.retry.longest = spans[1]
  }

  /// A pool is one of the built-in ones or has its size under `limits.pools`.
  private mutating func checkPool(_ pool: String?, of resolved: ResolvedEntry) {
    guard let pool, let node = resolved.entry["pool"]?.value else { return }
    let sized = manifest[.limits]?["pools"]?.entries?.map(\.key) ?? []
    let known = ["cpu", "net"] + sized
    guard !known.contains(pool) else { return }
    reader.add(
      "E0126", "there is no pool `\(pool)`", at: node.place,
      hint: Suggestion.nearest(to: pool, among: known).map { "did you mean `\($0)`?" },
      notes: ["size it: `limits: { pools: { \(pool): 1 } }`"])
  }
}
