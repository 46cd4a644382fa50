// The table of commands. What stands here is parsed, helped with, completed and printed as the man page.

extension OptionSpec {
  /// What changes the values of a manifest; every command that reads one takes them.
  static let inputs: [OptionSpec] = [
    OptionSpec("--var", value: "NAME=VALUE", .assignment, "give one of the manifest's vars a value", repeated: true),
    OptionSpec(
      "--set", value: "PATH=VALUE", .assignment, "replace any value: --set limits.connections=4", repeated: true),
    OptionSpec("--profile", value: "NAME", .text, "lay one of the manifest's profiles over it", repeated: true),
  ]

  static let json = OptionSpec(flag: "--json", help: "answer in JSON")
  static let state = OptionSpec("--state", value: "DIR", .folder, "where the journal is kept (default .imgflow)")

  /// What decides which items take part and what counts as done; shared by `run` and `plan`.
  static let selection: [OptionSpec] = [
    OptionSpec("-o", "--out", value: "DIR", .folder, "write below this folder"),
    OptionSpec(
      "-j", "--concurrency", value: "N", .integer(atLeast: 1), "at most so many operations of a stage at once"),
    OptionSpec("--take", value: "N", .integer(atLeast: 0), "only the first N items"),
    OptionSpec("--only", value: "SOURCE", .text, "only the items of this source", repeated: true),
    OptionSpec(flag: "--failed", help: "only what failed last time"),
    OptionSpec(
      "--class", value: "CLASS", .choice(Words.classes), "with --failed: only failures of this class", repeated: true),
    OptionSpec("--code", value: "CODE", .text, "with --failed: only failures with this code", repeated: true),
    OptionSpec("--host", value: "HOST", .text, "with --failed: only failures of this host", repeated: true),
    OptionSpec(flag: "--fresh", help: "do everything again, whatever earlier runs have done"),
    OptionSpec("--check", value: "HOW", .choice(["stat", "digest"]), "how files of earlier runs are checked"),
    state,
    OptionSpec(flag: "--allow-private", help: "let URLs reach private and loopback addresses"),
  ]

  /// How a run behaves and what it tells.
  static let running: [OptionSpec] = [
    OptionSpec("--events", value: "WHERE", .text, "write the event stream to -, PATH, fd:N or none"),
    OptionSpec(flag: "--json", help: "the same as --events -"),
    OptionSpec(
      "--progress", value: "HOW", .choice(["auto", "bars", "plain", "none"]), "how progress is shown on stderr"),
    OptionSpec(flag: "-q", "--quiet", help: "say only what went wrong"),
    OptionSpec(flag: "-v", "--verbose", help: "say more; twice for the log at debug"),
    OptionSpec("--deadline", value: "TIME", .interval, "end the run after this time (exit 124)"),
    OptionSpec(
      "--grace", value: "TIME", .interval, "how long a stopped run may finish what it has begun (default 10s)"),
    OptionSpec("--summary-file", value: "PATH", .file, "write the run's last event to this file"),
    OptionSpec(flag: "--prune", help: "remove outputs of earlier runs that no item makes any more"),
    OptionSpec("--record", value: "FILE", .file, "write down what is said to plugins and by them"),
    OptionSpec(flag: "--locked", help: "refuse what is not as in MANIFEST.lock (exit 3); the default where CI=true"),
    OptionSpec(flag: "--frozen", help: "the same, and take all that is fetched out of the content store"),
    OptionSpec(flag: "--no-lock", help: "leave the lock out, also where CI=true"),
    OptionSpec(flag: "--wait-lock", help: "wait while another run holds the state directory"),
    OptionSpec(flag: "--page", help: "show the run in a browser while it goes, and steer it from there"),
    OptionSpec("--page-listen", value: "PLACE", .text, "serve the page at an address and port: 127.0.0.1:8080"),
    OptionSpec(flag: "--page-hold", help: "wait for a tap on the page before the run begins, and stay after its end"),
  ]
}

/// Words that stand in several places of the table.
enum Words {
  static let classes = ["transient", "quota", "permanent", "auth", "config", "local", "internal", "cancelled"]
  static let shells = ["bash", "zsh", "fish"]
  static let verbs = ["pause", "resume", "drain", "cancel", "set"]
}

extension OperandSpec {
  static let manifest = OperandSpec("MANIFEST", .manifest, .atMostOnce, "the manifest; imgflow.yaml here if left out")
  static let run = OperandSpec(
    "RUN", .manifest, .atMostOnce, "a run's id, the beginning of one, a manifest's path, or last (also if left out)")
}

extension CommandSpec {
  /// Does what a manifest says.
  public static let run = CommandSpec(
    "run", "do what a manifest says",
    details: [
      "What earlier runs have done and nothing has changed since is not done again. Where standard output is no "
        + "terminal, the event stream goes there as one JSON object a line; on a terminal, progress is shown on stderr."
    ],
    operands: [.manifest],
    options: OptionSpec.selection + [
      OptionSpec(flag: "-n", "--dry-run", help: "only say what would be done: imgflow plan")
    ]
      + OptionSpec.running + OptionSpec.inputs,
    examples: [
      Example("imgflow run manifest.yaml --events - | jq", "run a manifest and read its events"),
      Example("imgflow run --failed --class transient", "try again what may work now"),
      Example("imgflow run catalog.yaml -j 4 --out ./pictures", "four at a time, into another folder"),
    ])

  /// Downloads without a manifest.
  public static let get = CommandSpec(
    "get", "download URLs without a manifest",
    details: [
      "Builds a manifest from its options and runs it. A word with :// is a URL; any other is a list of URLs: a text "
        + "file with one a line, a .csv, .tsv or .jsonl with a column url, or - for standard input.",
      "With --print-manifest it shows the manifest and does nothing else: a good way to learn the language.",
    ],
    operands: [OperandSpec("URL|LIST", .file, .atLeastOnce, "URLs, and files that list URLs")],
    options: [
      OptionSpec("-o", "--out", value: "DIR", .folder, "write below this folder (default ./out)"),
      OptionSpec("-j", "--concurrency", value: "N", .integer(atLeast: 1), "at most so many downloads at once"),
      OptionSpec("--name", value: "TEMPLATE", .text, "how files are named (default ${item.name})"),
      OptionSpec("--accept", value: "MEDIA", .text, "refuse other media types, such as image/*", repeated: true),
      OptionSpec("--max-bytes", value: "SIZE", .text, "refuse larger bodies, such as 50MB"),
      OptionSpec("--sha256", value: "HEX", .text, "what the only URL's bytes must hash to"),
      OptionSpec("--interval", value: "TIME", .interval, "wait so long between two starts"),
      OptionSpec("--timeout", value: "TIME", .interval, "the time for one try"),
      OptionSpec("--attempts", value: "N", .integer(atLeast: 1), "try so often (default 5)"),
      OptionSpec(
        "--on-exists", value: "WHAT", .choice(["keep", "skip", "overwrite", "fail"]),
        "what to do about files that are there"),
      OptionSpec(flag: "--print-manifest", help: "show the manifest that this builds, and stop"),
      OptionSpec(flag: "--fresh", help: "do everything again, whatever earlier runs have done"),
      OptionSpec.state,
      OptionSpec(flag: "--allow-private", help: "let URLs reach private and loopback addresses"),
    ] + OptionSpec.running,
    examples: [
      Example(
        "imgflow get https://example.com/a.png https://example.com/b.png -o pictures", "two pictures into a folder"),
      Example("imgflow get urls.txt -j 8 --accept 'image/*'", "a list, eight at a time, pictures only"),
      Example("imgflow get urls.txt --print-manifest > imgflow.yaml", "go on with a manifest"),
    ])

  /// Finds every mistake of manifests.
  public static let validate = CommandSpec(
    "validate", "find every mistake in manifests, at once",
    details: ["Nothing is fetched. Exit code 0 if all are clean, 2 if one is wrong."],
    operands: [OperandSpec("MANIFEST", .manifest, .any, "the manifests; imgflow.yaml here if left out")],
    options: [
      OptionSpec("--format", value: "FORM", .choice(["text", "json", "github"]), "how mistakes are written"),
      OptionSpec(flag: "--json", help: "the same as --format json"),
    ] + OptionSpec.inputs,
    examples: [
      Example("imgflow validate manifest.yaml", "every mistake with its place and remedy"),
      Example("imgflow validate --format github jobs/*.yaml", "annotations in a workflow"),
    ])

  /// Says what a run would do.
  public static let plan = CommandSpec(
    "plan", "say what a run would do, and why",
    details: ["Fetches nothing. What cannot be known beforehand is shown as ?, unless --online asks the hosts for it."],
    operands: [.manifest],
    options: [
      OptionSpec(flag: "--exit-code", help: "exit 0 if nothing is to be done, 1 if something is"),
      OptionSpec(flag: "--items", help: "name every item"),
      OptionSpec("--why", value: "ITEM", .text, "say why this item would run"),
      OptionSpec(flag: "--online", help: "ask the hosts what is there and how long it is, with a HEAD for each URL"),
      .json,
    ] + OptionSpec.selection + OptionSpec.inputs,
    examples: [
      Example("imgflow plan manifest.yaml", "what would run, for each stage"),
      Example("imgflow plan --why products/A1", "why one item would run again"),
    ])

  /// Draws the graph of stages.
  public static let graph = CommandSpec(
    "graph", "draw the stages and their edges",
    operands: [.manifest],
    options: [
      OptionSpec("--format", value: "FORM", .choice(["text", "mermaid", "dot", "json"]), "how the graph is written"),
      OptionSpec(flag: "--json", help: "the same as --format json"),
    ] + OptionSpec.inputs,
    examples: [
      Example("imgflow graph manifest.yaml", "in 80 columns"),
      Example("imgflow graph --format dot | dot -Tsvg > graph.svg", "as a picture"),
    ])

  /// Explains a word.
  public static let explain = CommandSpec(
    "explain", "explain an op, a field, a code or an event",
    details: ["Alone it lists what it can explain. Exit code 1 if there is no such thing."],
    operands: [
      OperandSpec("THING", .text, .atMostOnce, "such as fetch, fetch.accept, http.429, item.end, E0103, ops, codes")
    ],
    options: [
      .json,
      OptionSpec("--reference", value: "DIR", .folder, "write the pages of the reference", hidden: true),
    ],
    examples: [
      Example("imgflow explain fetch.accept", "one key of one op"),
      Example("imgflow explain codes", "all error codes"),
    ])

  /// Prints a schema.
  public static let schema = CommandSpec(
    "schema", "print the JSON Schema of manifests, events or plugin.yaml",
    operands: [OperandSpec("WHICH", .choice(["manifest", "event", "plugin"]), .once, "the schema")],
    examples: [Example("imgflow schema manifest > imgflow.schema.json", "for editors that complete YAML")])

  /// Shows effective values.
  public static let config = CommandSpec(
    "config", "show a manifest's values as a run would use them",
    operands: [.manifest],
    options: [OptionSpec(flag: "--origins", help: "say behind each value where it came from"), .json]
      + OptionSpec.inputs,
    examples: [Example("imgflow config --origins --profile ci", "every value with its file and line")])

  /// Writes a first manifest.
  public static let initialise = CommandSpec(
    "init", "write a first manifest and its schema here",
    details: ["Never replaces a file that is there."],
    operands: [
      OperandSpec(
        "KIND", .choice(["small", "ci", "generator", "dataset"]), .atMostOnce, "what it is for (default small)")
    ],
    examples: [Example("imgflow init small", "imgflow.yaml and imgflow.schema.json in this folder")])

  /// Says what happened.
  public static let status = CommandSpec(
    "status", "say what happened, what is left, and why",
    operands: [.run, OperandSpec("ITEM", .text, .atMostOnce, "an item's name, source/key")],
    options: [OptionSpec(flag: "--watch", help: "show it again and again until the run is over"), .json, .state],
    examples: [
      Example("imgflow status", "the last run"),
      Example("imgflow status --watch", "the run under way, until it is over"),
      Example("imgflow status last products/A1", "the history of one item"),
    ])

  /// Lists runs.
  public static let runs = CommandSpec(
    "runs", "list the runs of this folder",
    details: [
      "A run that is under way, or was cut off, is counted from the journal: the items that no later run has seen."
    ],
    operands: [
      OperandSpec(
        "RUN", .manifest, .atMostOnce, "only a manifest's runs, by its path; a run's id, the beginning of some, or last"
      )
    ],
    options: [.json, .state],
    examples: [
      Example("imgflow runs", "the newest first"), Example("imgflow runs catalog.yaml", "only this manifest's"),
    ])

  /// Steers a run that is under way.
  public static let ctl = CommandSpec(
    "ctl", "pause, resume, drain, cancel or adjust a run under way",
    details: [
      "pause lets what runs go on and starts nothing new; drain finishes what has begun, and ends; cancel ends at "
        + "once. With --now, pause stops transfers too; they go on later with what they have. A move that the run's state "
        + "does not allow is refused (exit 1).",
      "set changes limits while the run goes: connections, bandwidth, concurrency, rate, interval; for the whole run, or "
        + "for a stage or a host. Verbs hold for the whole run unless a source, a stage, a host or an item is named.",
    ],
    operands: [
      .run, OperandSpec("VERB", .choice(Words.verbs), .once, "what to do"),
      OperandSpec("KEY=VALUE", .assignment, .any, "with set: the limits and their new values"),
    ],
    options: [
      OptionSpec(flag: "--now", help: "with pause: stop transfers as well, and keep what has come"),
      OptionSpec("--source", value: "SOURCE", .text, "only the items of this source"),
      OptionSpec("--stage", value: "STAGE", .text, "only this stage"),
      OptionSpec("--host", value: "HOST", .text, "only requests to this host"),
      OptionSpec("--item", value: "ITEM", .text, "only this item"),
      .json, .state,
    ],
    examples: [
      Example("imgflow ctl last pause", "pause the last run"),
      Example("imgflow ctl last cancel --item products/A1", "cancel one item"),
      Example("imgflow ctl last pause --now --host cdn.example.com", "leave one host alone at once"),
      Example("imgflow ctl last set bandwidth=2MB/s connections=4", "be gentler from now on"),
      Example("imgflow ctl last set concurrency=2 --stage resize", "fewer operations of one stage"),
    ])

  /// Shows a run in a browser.
  public static let page = CommandSpec(
    "page", "show a run in a browser",
    details: [
      "Prints the address of a page about the run. A run that is under way serves it itself, as long as it goes, and is "
        + "steered from there; of a run that is over, this command shows what the journal knows, until it is stopped by "
        + "Ctrl-C.",
      "The page is reached from this machine only, and only by who knows its address. --page-listen serves it elsewhere.",
    ],
    operands: [.run],
    options: [
      OptionSpec("--page-listen", value: "PLACE", .text, "serve it at an address and port: 127.0.0.1:8080"), .json,
      .state,
    ],
    examples: [
      Example("imgflow page", "look at the last run"),
      Example("imgflow run catalog.yaml --page", "begin a run with its page"),
    ])

  /// Writes down what the items are.
  public static let lock = CommandSpec(
    "lock", "write down the digests of a manifest's items",
    details: [
      "Writes MANIFEST.lock, a line an item, to be kept beside the manifest. What the lock or an earlier run knows "
        + "already is taken over; the rest is fetched. With --update, items are fetched anew: all, or those whose "
        + "source/key, or key, a pattern with * and ? matches.",
      "imgflow run --locked then refuses whatever differs.",
    ],
    operands: [.manifest, OperandSpec("GLOB", .text, .any, "with --update: which items, such as banners/*")],
    options: [
      OptionSpec(flag: "--update", help: "fetch items anew: those that a GLOB means, or all"),
      OptionSpec(flag: "-q", "--quiet", help: "say only what went wrong"),
      .json, .state,
      OptionSpec(flag: "--allow-private", help: "let URLs reach private and loopback addresses"),
    ] + OptionSpec.inputs,
    examples: [
      Example("imgflow lock catalog.yaml", "write catalog.yaml.lock"),
      Example("imgflow lock catalog.yaml --update 'banners/*'", "take over what has changed of one source"),
    ])

  /// Compares files with what was remembered of them.
  public static let verify = CommandSpec(
    "verify", "check that the files of earlier runs are what they were",
    details: [
      "Reads every file and compares its digest with the journal's, and what was fetched with the lock where there is "
        + "one. Exit code 3 if something was altered or deleted, or is not as locked; the next run mends only that."
    ],
    operands: [.manifest],
    options: [
      OptionSpec(flag: "--no-lock", help: "leave the lock out"), .json, .state,
      OptionSpec("-o", "--out", value: "DIR", .folder, "where the files are"),
    ] + OptionSpec.inputs,
    examples: [Example("imgflow verify catalog.yaml", "list what was altered or deleted")])

  /// Keys and prunes content stores.
  public static let cache = CommandSpec(
    "cache", "print the key of a CI cache, or make a content store smaller",
    details: [
      "key prints the digest of the manifest's lock. prune removes the files of the content store that were not needed "
        + "for longest, until the rest is small enough."
    ],
    operands: [OperandSpec("VERB", .choice(["key", "prune"]), .once, "what to do"), .manifest],
    options: [
      OptionSpec("--max-size", value: "SIZE", .text, "with prune: how much may stay, such as 5GB"),
      OptionSpec(flag: "--keep-lock", help: "with prune: files that the lock names stay in any case"),
      OptionSpec("--dir", value: "DIR", .folder, "the content store, if not the manifest's"),
      .json,
    ] + OptionSpec.inputs,
    examples: [
      Example("imgflow cache key catalog.yaml", "for the key of a workflow's cache"),
      Example("imgflow cache prune --max-size 5GB --keep-lock", "before it is saved"),
    ])

  /// Sends what sinks have left.
  public static let flush = CommandSpec(
    "flush", "send what sinks could not deliver",
    details: [
      "Sends what earlier runs have left in the spools of a manifest's webhooks, the oldest first, each request under "
        + "the id that it had. The next run does the same. Exit code 0 if nothing is left, 1 if something is."
    ],
    operands: [.manifest],
    options: [
      OptionSpec("--deadline", value: "TIME", .interval, "try for so long for each sink (default: its `drain`)"),
      OptionSpec(flag: "-q", "--quiet", help: "say only what went wrong"),
      OptionSpec(flag: "-v", "--verbose", help: "say each try that failed"), .json, .state,
    ] + OptionSpec.inputs,
    examples: [Example("imgflow flush manifest.yaml --deadline 5m", "what is left, for five minutes at most")])

  /// Checks a captured stream.
  public static let events = CommandSpec(
    "events", "check that a captured event stream is complete",
    details: ["Checks order, pairs and counts. Exit code 0 if it is complete, 1 if not."],
    operands: [
      OperandSpec("VERB", .choice(["check"]), .once, "what to do"),
      OperandSpec("FILE", .file, .once, "the stream; - for standard input"),
    ],
    options: [
      OptionSpec(
        "--types", value: "GLOB", .text, "what the stream was to hold, as in a sink's `events`", repeated: true), .json,
    ],
    examples: [
      Example("imgflow events check events.ndjson", "nothing missing, nothing out of order"),
      Example("imgflow events check events.ndjson --types '*'", "and no type missing altogether"),
    ])

  /// The tools for who writes plugins.
  public static let plugin = CommandSpec(
    "plugin", "write, check, test and measure plugins",
    details: [
      "new writes a working plugin with a test; check tries what every plugin must do; test runs the plugin's own "
        + "tests/*.yaml; bench says how many items a second it takes; replay says again what run --record has written "
        + "down, and compares the answers. Exit code 0 if all went well, 1 if not."
    ],
    operands: [
      OperandSpec("VERB", .choice(["new", "check", "test", "bench", "replay"]), .once, "what to do"),
      OperandSpec("NAME|DIR|FILE", .file, .atMostOnce, "a new plugin's name, a plugin's folder, or a record"),
    ],
    options: [
      OptionSpec("--lang", value: "LANG", .choice(["python", "sh", "lua", "swift"]), "for new (default python)"),
      OptionSpec("--op", value: "OP", .text, "for bench: the op; the first unless named"),
      OptionSpec(
        "--items", value: "N", .integer(atLeast: 1), "for bench: so many items (default 5000; 200 for oneshot)"),
      .json,
    ],
    examples: [
      Example("imgflow plugin new --lang python acme.face-crop", "a first plugin in a folder of that name"),
      Example("imgflow plugin check acme.face-crop", "does it do what every plugin must do"),
      Example("imgflow run --record talk.ndjson && imgflow plugin replay talk.ndjson", "the same conversation again"),
    ])

  /// Prints a shell's completion script.
  public static let completion = CommandSpec(
    "completion", "print the completion script of a shell",
    operands: [OperandSpec("SHELL", .choice(Words.shells), .once, "the shell")],
    examples: [
      Example("imgflow completion bash > ~/.local/share/bash-completion/completions/imgflow", "for bash"),
      Example("imgflow completion fish > ~/.config/fish/completions/imgflow.fish", "for fish"),
    ])

  /// Prints the man page.
  public static let man = CommandSpec(
    "man", "print the man page", examples: [Example("imgflow man | man -l -", "read it")], isHidden: true)
}
