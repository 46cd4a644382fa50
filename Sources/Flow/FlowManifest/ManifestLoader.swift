public import FlowBase
public import FlowYAML

/// What is laid over a manifest from outside, in the order of precedence from low to high.
public struct Overlays: Sendable, Hashable {
  /// A path into the manifest and the YAML that is put there.
  public struct Setting: Sendable, Hashable {
    /// The path, such as `limits.connections`.
    public var path: String
    /// The value, as YAML.
    public var value: String

    /// A setting.
    public init(path: String, value: String) {
      self.path = path
      self.value = value
    }
  }

  /// The profiles, each over the one before.
  public var profiles: [String]
  /// The settings of `--set`, in order.
  public var settings: [Setting]
  /// The values of `--var`, in order.
  public var variables: [Setting]

  /// Nothing, or what is named.
  public init(profiles: [String] = [], settings: [Setting] = [], variables: [Setting] = []) {
    self.profiles = profiles
    self.settings = settings
    self.variables = variables
  }
}

extension Manifest {
  /// Reads a document with all that it extends, its profiles and the settings from outside.
  ///
  /// `open` reads another file by its path; what it throws is told at the place of the `extends` that asked for it,
  /// unless it is a `Diagnostic` with a place of its own.
  public static func load(
    _ document: Node, overlays: Overlays = Overlays(), open: (_ path: String) throws -> Node
  ) -> (manifest: Manifest?, diagnostics: [Diagnostic]) {
    var loader = ManifestLoader()
    let joined = loader.joined(document, stack: [document.file], open: open)
    let profiled = loader.profiled(joined, by: overlays.profiles)
    let complete = loader.set(overlays.settings, in: profiled)
    var shape = ShapeReader()
    var manifest = shape.manifest(complete)
    for variable in overlays.variables { manifest?.variables[variable.path] = variable.value }
    return (manifest, loader.diagnostics + shape.diagnostics + loader.unusedProfiles(joined, known: shape.diagnostics))
  }
}

/// Lays the layers of a manifest together.
struct ManifestLoader {
  /// The deepest chain of `extends`.
  static let deepest = 16
  /// What a profile may not hold, because it decides which layers there are.
  static let fixedKeys = ["imgflow", "extends", "profiles"]

  var diagnostics: [Diagnostic] = []

  /// The document over all that it extends; each later file over the earlier.
  mutating func joined(_ document: Node, stack: [String], open: (String) throws -> Node) -> Node {
    guard let extended = document["extends"] else { return document }
    var base: Node?
    for reference in extended.elements ?? [extended] where !reference.isNull {
      guard let path = reference.scalar else {
        diagnostics.append(
          Diagnostic("E0104", "`extends` is a path or a list of paths", at: reference.place))
        continue
      }
      guard let layer = layer(path, from: document, at: reference.place, stack: stack, open: open) else { continue }
      base = base.map { $0.documentOverlaid(by: layer) } ?? layer
    }
    let rest = document.without(["extends"])
    guard var joined = base?.documentOverlaid(by: rest) else { return rest }
    joined.file = document.file
    joined.mark = document.mark
    return joined
  }

  private mutating func layer(
    _ reference: String, from document: Node, at place: Place, stack: [String], open: (String) throws -> Node
  ) -> Node? {
    let path = ManifestLoader.path(reference, besides: document.file)
    if stack.contains(path) {
      let chain = (stack + [path]).joined(separator: " → ")
      diagnostics.append(Diagnostic("E0112", "`extends` goes round in a circle: \(chain)", at: place))
      return nil
    }
    guard stack.count < ManifestLoader.deepest else {
      diagnostics.append(
        Diagnostic("E0112", "`extends` is nested more than \(ManifestLoader.deepest) deep", at: place))
      return nil
    }
    do {
      let node = try open(path)
      guard node.entries != nil else {
        diagnostics.append(Diagnostic("E0112", "`\(reference)` is no manifest: it holds \(node.kindName)", at: place))
        return nil
      }
      return joined(node, stack: stack + [path], open: open)
    } catch let diagnostic as Diagnostic {
      diagnostics.append(
        diagnostic.place == nil
          ? Diagnostic("E0112", "cannot read `\(path)`: \(diagnostic.message)", at: place) : diagnostic)
    } catch let fault as Fault {
      diagnostics.append(Diagnostic("E0112", "cannot read `\(path)`: \(fault.message)", at: place))
    } catch {
      diagnostics.append(Diagnostic("E0112", "cannot read `\(path)`: \(error)", at: place))
    }
    return nil
  }

  /// A path as it is reached from the folder of another file, without `./` and without steps back where possible.
  static func path(_ reference: String, besides file: String) -> String {
    let isAbsolute = reference.hasPrefix("/") || file.hasPrefix("/")
    let folder = file.split(separator: "/", omittingEmptySubsequences: true).dropLast().map(String.init)
    var steps = reference.hasPrefix("/") ? [] : folder
    for step in reference.split(separator: "/").map(String.init) where step != "." {
      if step == "..", let last = steps.last, last != ".." { steps.removeLast() } else { steps.append(step) }
    }
    return (isAbsolute ? "/" : "") + steps.joined(separator: "/")
  }

  /// The document with its profiles laid over it, and without the table of profiles.
  mutating func profiled(_ document: Node, by names: [String]) -> Node {
    let table = document["profiles"]
    let known = table?.entries?.map(\.key) ?? []
    if let table, table.entries == nil, !table.isNull {
      diagnostics.append(Diagnostic("E0104", "`profiles` is a map from names to layers", at: table.place))
    }
    var result = document.without(["profiles"])
    for name in names {
      guard let layer = table?[name] else {
        diagnostics.append(
          Diagnostic(
            "E0113", "there is no profile `\(name)`", at: table?.place ?? Place(file: document.file, mark: .start),
            hint: Suggestion.nearest(to: name, among: known).map { "did you mean `\($0)`?" },
            notes: [known.isEmpty ? "the manifest has no `profiles`" : "profiles: \(known.joined(separator: " "))"]))
        continue
      }
      result = laid(layer, over: result)
    }
    return result
  }

  private func laid(_ layer: Node, over document: Node) -> Node {
    layer.entries == nil ? document : document.documentOverlaid(by: layer.without(ManifestLoader.fixedKeys))
  }

  /// What is wrong with the shape of the profiles themselves, used or not.
  mutating func unusedProfiles(_ document: Node, known: [Diagnostic]) -> [Diagnostic] {
    var found: [Diagnostic] = []
    var seen = Set(known)
    for profile in document["profiles"]?.entries ?? [] where !profile.value.isNull {
      guard let keys = profile.value.entries else {
        found.append(
          Diagnostic(
            "E0104",
            "the profile `\(profile.key)` is a map with keys of the manifest, and this is \(profile.value.kindName)",
            at: profile.value.place))
        continue
      }
      for key in keys where ManifestLoader.fixedKeys.contains(key.key) {
        found.append(
          Diagnostic(
            "E0103", "`\(key.key)` cannot stand in a profile", at: Place(file: key.value.file, mark: key.keyMark),
            hint: "put it at the top of the manifest"))
      }
      var shape = ShapeReader()
      let base = document.without(["profiles"])
      _ = shape.manifest(base)
      let before = Set(shape.diagnostics)
      shape = ShapeReader()
      _ = shape.manifest(laid(profile.value, over: base))
      for diagnostic in shape.diagnostics where !before.contains(diagnostic) && seen.insert(diagnostic).inserted {
        found.append(diagnostic)
      }
    }
    return found
  }
}

extension Node {
  /// This map without some keys.
  func without(_ keys: [String]) -> Node {
    guard let entries else { return self }
    var result = self
    result.content = .map(entries.filter { !keys.contains($0.key) })
    return result
  }
}
