internal import FlowBase
internal import FlowYAML

extension ManifestLoader {
  /// The document with the settings of `--set` put in.
  mutating func set(_ settings: [Overlays.Setting], in document: Node) -> Node {
    var result = document
    for setting in settings {
      let file = "--set \(setting.path)=\(setting.value)"
      let mark = Mark(line: 1, column: 1, length: setting.path.unicodeScalars.count)
      guard let steps = SettingPath.steps(setting.path), let first = steps.first else {
        diagnostics.append(
          Diagnostic(
            "E0114", "`\(setting.path)` is no path into the manifest", at: Place(file: file, mark: mark),
            notes: [
              "a path names keys, as in `limits.connections`, `stages.fetch.concurrency`, `hosts[\"a.example\"].rate`"
            ]))
        continue
      }
      guard Manifest.TopKey(rawValue: first) != nil else {
        let hint = Suggestion.nearest(to: first, among: Manifest.TopKey.allCases.map(\.rawValue))
        diagnostics.append(
          Diagnostic(
            "E0114", "the manifest has no key `\(first)`", at: Place(file: file, mark: mark),
            hint: hint.map { "did you mean `\($0)`?" }))
        continue
      }
      guard let value = SettingPath.value(setting.value, file: file) else {
        diagnostics.append(
          Diagnostic("E0114", "`\(setting.value)` is no YAML value", at: Place(file: file, mark: mark)))
        continue
      }
      do {
        result = try result.replacing(steps[...], with: value, role: nil)
      } catch {
        diagnostics.append(Diagnostic("E0114", error.message, at: Place(file: file, mark: mark), hint: error.hint))
      }
    }
    return result
  }
}

/// The path of a setting, and its value.
enum SettingPath {
  /// The keys of a path: words between dots, and `["any text"]`.
  static func steps(_ path: String) -> [String]? {
    var steps: [String] = []
    var word = ""
    var rest = path[...]
    while let character = rest.first {
      if character == "[" {
        guard let end = rest.firstIndex(of: "]") else { return nil }
        if !word.isEmpty { steps.append(word) }
        word = ""
        let inside = rest[rest.index(after: rest.startIndex)..<end].filter { $0 != "\"" && $0 != "'" }
        guard !inside.isEmpty else { return nil }
        steps.append(String(inside))
        rest = rest[rest.index(after: end)...]
        if rest.first == "." { rest = rest.dropFirst() }
      } else if character == "." {
        guard !word.isEmpty else { return nil }
        steps.append(word)
        word = ""
        rest = rest.dropFirst()
        if rest.isEmpty { return nil }
      } else {
        word.append(character)
        rest = rest.dropFirst()
      }
    }
    if !word.isEmpty { steps.append(word) }
    return steps.isEmpty ? nil : steps
  }

  /// The value, read as YAML.
  static func value(_ text: String, file: String) -> Node? {
    if text.isEmpty { return Node(.scalar("", .quoted), mark: .start, file: file) }
    let (node, problems) = YAMLReader.read(Array(text.utf8), file: file)
    return problems.contains { $0.severity == .error } ? nil : node
  }
}

/// Why a setting leads nowhere.
struct SettingProblem: Error {
  var message: String
  var hint: String?
}

extension Node {
  /// This node with the one that a path leads to replaced; maps on the way are made where they are missing.
  func replacing(_ steps: ArraySlice<String>, with value: Node, role: Manifest.Entry.Role?) throws(SettingProblem)
    -> Node
  {
    guard let step = steps.first else { return value }
    if let elements {
      let place = try element(step, in: elements, role: role)
      var changed = elements
      changed[place] = try elements[place].asMap(role: role).replacing(steps.dropFirst(), with: value, role: nil)
      var result = self
      result.content = .list(changed)
      return result
    }
    var entries = self.entries ?? []
    // Keys may hold dots themselves, as hosts do: the longest that is there wins.
    for count in stride(from: steps.count, through: 1, by: -1) {
      let key = steps.prefix(count).joined(separator: ".")
      guard let place = entries.firstIndex(where: { $0.key == key }) else { continue }
      let role = Manifest.Entry.Role.allCases.first { $0.list == key }
      entries[place].value = try entries[place].value.replacing(steps.dropFirst(count), with: value, role: role)
      return with(entries)
    }
    let empty = Node(.map([]), mark: value.mark, file: value.file)
    let inner = try steps.count == 1 ? value : empty.replacing(steps.dropFirst(), with: value, role: nil)
    entries.append(Entry(key: step, keyMark: value.mark, value: inner))
    return with(entries)
  }

  private func element(_ step: String, in elements: [Node], role: Manifest.Entry.Role?) throws(SettingProblem) -> Int {
    if let role, let place = elements.firstIndex(where: { Manifest.Entry.looseID(of: $0, role: role) == step }) {
      return place
    }
    if let place = Int(step), elements.indices.contains(place) { return place }
    guard let role else { throw SettingProblem(message: "the list has no element `\(step)`") }
    let ids = elements.compactMap { Manifest.Entry.looseID(of: $0, role: role) }
    throw SettingProblem(
      message: "there is no \(role.rawValue) `\(step)`",
      hint: Suggestion.nearest(to: step, among: ids).map { "did you mean `\($0)`?" })
  }

  /// A bare op as the map that it stands for.
  private func asMap(role: Manifest.Entry.Role?) -> Node {
    guard role != nil, let op = scalar else { return self }
    let nothing = Node(.scalar("", .plain), mark: mark, file: file)
    return with([Entry(key: op, keyMark: mark, value: nothing)])
  }

  private func with(_ entries: [Entry]) -> Node {
    var result = self
    result.content = .map(entries)
    return result
  }
}
