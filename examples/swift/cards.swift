import ImgFlow

struct Cards: URLBuildable {
  func buildURLs() -> [String] { ["ace", "king"].map { "https://example.com/\($0).png" } }
}

let plan = try PlanBuilder("cards")
  .source(Cards())
  .stage("fetch", concurrency: 7)
  .stage("store", ["path": "cards/${item.name}"])
  .output("out")
  .build()
let runner = Runner(plan)
for await event in runner.start() {
  if case .itemEnd(let end) = event.payload { print(event.subject?.item ?? "", end.status) }
}
