internal import FlowBase
internal import FlowManifest

extension Command {
  /// `imgflow config [MANIFEST]`.
  static let config = Command(.config) { arguments, console in
    let loaded = LoadedManifest(arguments, console)
    guard let manifest = loaded.manifest else {
      console.say(DiagnosticText(isColoured: console.coloursErrors, line: loaded.line).text(loaded.diagnostics))
      return 2
    }
    let origins = manifest.origins
    if arguments.has("json") {
      var writer = JSONWriter()
      writer.value(
        .map([
          "format_version": 1,
          "values": .list(
            origins.map {
              .map([
                "path": .string($0.path), "value": .string($0.value), "file": .string($0.place.file),
                "line": .int($0.place.mark.line),
              ])
            }),
        ]))
      console.line(writer.text)
      return 0
    }
    let width = arguments.has("origins") ? origins.map { line($0).count }.max() ?? 0 : 0
    for origin in origins {
      let text = line(origin)
      guard arguments.has("origins") else {
        console.line(text)
        continue
      }
      let padding = String(repeating: " ", count: max(0, min(width, 60) - text.count))
      console.line("\(text)\(padding)  # \(origin.place.file):\(origin.place.mark.line)")
    }
    return 0
  }

  private static func line(_ origin: Manifest.Origin) -> String {
    origin.value.contains("\n") ? "\(origin.path): |…" : "\(origin.path): \(origin.value)"
  }
}
