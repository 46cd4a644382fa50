internal import FlowBase
internal import FlowBuiltins
internal import FlowParts
internal import FlowPlan

extension Command {
  /// `imgflow init [KIND]`.
  static let initialise = Command(.initialise) { arguments, console in
    let kind = arguments.operand("KIND") ?? "small"
    guard let text = Starter.manifests[kind] else {
      throw UsageError("there is no first manifest `\(kind)`", hint: "type `imgflow init small`", command: "init")
    }
    for (name, bytes) in [
      ("imgflow.yaml", Array(text.utf8)), ("imgflow.schema.json", Array(ManifestSchema.json(catalog: .builtins).utf8)),
    ] {
      if SmallFiles.exists(name) {
        console.say("imgflow: \(name) is here already and stays as it is")
        if name == "imgflow.yaml" { return 1 }
        continue
      }
      try SmallFiles.create(name, bytes)
      console.line("wrote \(name)")
    }
    console.line("next: edit imgflow.yaml, then `imgflow validate`, `imgflow plan`, `imgflow run`")
    return 0
  }
}

/// First manifests, each a page that explains itself.
enum Starter {
  static let manifests: [String: String] = ["small": small, "ci": ci, "generator": generator, "dataset": dataset]

  static let small = """
    # yaml-language-server: $schema=imgflow.schema.json
    imgflow: 1

    sources:
      - https://example.com/first.png           # a bare string is a URL
      - https://example.com/second.png
      # - file: { path: people.csv, url: "${row.avatar}", key: "${row.id}" }

    output: { dir: ./out }

    stages:
      - fetch: { accept: image/* }              # what is no image fails, whatever its name
        concurrency: 8
      - store: "${item.name}"

    """

  static let dataset = """
    # yaml-language-server: $schema=imgflow.schema.json
    # Pictures of one size, on white, with a caption beside each; without what is too small, broken or there twice.
    # captions.csv has the columns url, id and caption.
    imgflow: 1
    name: dataset

    sources:
      - id: pairs
        file: { path: captions.csv, url: "${row.url}", key: "${row.id}" }

    output: { dir: ./dataset }

    stages:
      - fetch: { accept: image/*, max_bytes: 20MB }
      - probe: { full: true }                   # what is cut or broken ends here
      - filter: item.width >= 200 and item.height >= 200
      - dedupe: { by: sha256 }
      - resize: { width: 256, height: 256, fit: contain, enlarge: true, format: jpeg, quality: 90 }
      - store: { path: "${item.key}.jpg", sidecar: json }
      - write: { path: "${item.key}.txt", text: "${row.caption}" }
      - report: { path: index.csv, columns: [key, url, path, sha256, width, height, status, error], include: all }
        needs: store

    fail_if: run.failed_ratio > 0.2             # links of old lists are often dead

    """

  static let ci = """
    # yaml-language-server: $schema=imgflow.schema.json
    # Fetches the assets of a build: few connections, digests checked, every failure fails the step.
    imgflow: 1
    name: assets

    sources:
      - urls:
          - url: https://example.com/logo.png
            # sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08

    limits: { connections: 8 }
    output: { dir: ./assets }

    stages:
      - fetch: { accept: image/*, max_bytes: 50MB }
        timeout: 60s
        retry: { attempts: 5, backoff: 500ms..30s }
      - store: "${item.name}"
      - report: { path: assets.csv, columns: [key, url, sha256, bytes, path] }

    sinks:
      - log: { to: imgflow.log, level: info }

    """

  static let generator = """
    # yaml-language-server: $schema=imgflow.schema.json
    # Builds its addresses itself: every name with every number, one after the other, two seconds apart.
    imgflow: 1
    vars:
      base: { type: string, default: "https://example.com/cards" }

    sources:
      - template:
          url: "${vars.base}/${for.suit}/${for.n}.png"
          for: { suit: [hearts, spades], n: 01..13 }
          key: "${for.suit}-${for.n}"

    output: { dir: ./cards }

    stages:
      - fetch: { accept: image/* }
        concurrency: 1
        interval: 2s
      - store: "${for.suit}/${for.n}.png"

    """
}
