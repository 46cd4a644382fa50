import FlowBase
import FlowPlugins
import FlowScript

// What a script and a plugin that do nothing cost an item.
//
//   plugin-bench [ITEMS [LAUNCHER]]

let words = CommandLine.arguments
let count = words.count > 1 ? Int(words[1]) ?? 20_000 : 20_000
let launcher = words.count > 2 ? PathText.absolute(words[2]) : nil
let clock = SystemTime()

/// The processor's time of this process, and of the plugins that have ended, in nanoseconds.
func processor() -> (ours: Int, plugins: Int) {
  (ProcessFacts.processorTime.nanoseconds, ProcessFacts.processorTimeOfEnded.nanoseconds)
}

func each(_ nanoseconds: Int, _ items: Int) -> String {
  decimal(Double(nanoseconds) / 1000 / Double(items), digits: 2) + " µs"
}

let item: Value = [
  "key": "a1", "url": "https://example.com/photos/a1.jpg", "name": "a1.jpg", "stem": "a1", "ext": "jpg",
  "host": "example.com", "index": 7, "source": "urls", "final_url": "https://example.com/photos/a1.jpg",
  "status": 200, "bytes": 48211, "media": "image/jpeg", "row": ["title": "One", "team": "design"],
]
let script = try ScriptState(
  Array("function nothing(item) end function title(item) return { title = item.row.title:upper() } end".utf8),
  name: "bench.lua")
for function in ["nothing", "title"] {
  let (start, used) = (clock.now(), processor().ours)
  for _ in 0..<count { _ = try script.call(function, [item, .map([:])], results: 2) }
  let (time, work) = (each((clock.now() - start).nanoseconds, count), each(processor().ours - used, count))
  print("   lua, a function `\(function)`: \(count) items, \(time) each (processor: \(work))")
}

let folder = "/tmp/imgflow-plugin-bench-\(ThisProcess.id)"
try SmallFiles.makeFolder(folder)
defer { try? FileSystem.removeTree(folder) }
let program = """
  from imgflow_plugin import serve
  serve(lambda item, init: None)

  """
let description = """
  imgflow_plugin: 1
  name: bench.nothing
  version: 1.0.0
  run: [python3, main.py]
  ops: { bench.nothing: { kind: stage } }
  limits: { window: 32 }

  """
for (name, text) in [
  ("main.py", program), ("plugin.yaml", description), ("imgflow_plugin.py", PluginTemplate.pythonKit),
] {
  try SmallFiles.replace(PathText.join(folder, name), Array(text.utf8))
}
if let plugin = PluginManifest.read(folder: folder).manifest {
  let kit = PluginKit(plugin, in: PluginSurroundings(launcher: launcher))
  for _ in 0..<3 {
    let before = processor()
    let measure = try await kit.bench(op: nil, items: count)
    let after = processor()
    print(
      "   python, window 32: \(count) items, \(decimal(measure.microseconds, digits: 2)) µs each",
      "(processor: \(each(after.ours - before.ours, count)),",
      "and \(each(after.plugins - before.plugins, count)) in the plugin, its start included)")
  }
}
