internal import FlowBase

/// The kinds of mistakes in what a manifest says, beside those of YAML and of expressions.
enum LanguageProblems {
  static let all: [DiagnosticKind] = command + shape + names + graph + plugins + values

  private static let command: [DiagnosticKind] = [
    DiagnosticKind(
      code: "E0097", title: "the lock cannot be read",
      explanation: "The lock beside the manifest is no lock, or a merge has left both sides in it.",
      example: "imgflow lock catalog.yaml\n"),
    DiagnosticKind(
      code: "E0098", title: "the manifest cannot be read",
      explanation:
        "There is no file of that name, or it may not be read. Without a name, `imgflow.yaml` here is meant.",
      example: "imgflow run jobs/catalog.yaml\n"),
    DiagnosticKind(
      code: "E0099", title: "the command line is wrong",
      explanation: "A word of the command line is unknown or out of place. The stream of a run that was asked for in "
        + "spite of it says so and ends.",
      example: "imgflow run --help\n"),
  ]

  private static let shape: [DiagnosticKind] = [
    DiagnosticKind(
      code: "E0101", title: "unknown version of the format",
      explanation: "`imgflow: 1` names the version of the format. A newer manifest needs a newer imgflow.",
      example: "imgflow: 1\n"),
    DiagnosticKind(
      code: "E0102", title: "a required key of the manifest is missing",
      explanation: "A manifest has at least `imgflow`, `sources` and `stages`; they may come in with `extends`.",
      example: "imgflow: 1\nsources: [https://example.com/a.png]\nstages: [fetch, store]\n"),
    DiagnosticKind(
      code: "E0103", title: "unknown key",
      explanation: "The key is not known at this place. Often it is a slip, or it belongs one step further in or out: "
        + "what is the op's stands inside the op, what is the engine's stands beside it.",
      example: "- fetch: { max_bytes: 50MB }     # the op's\n  retry: { attempts: 3 }         # the engine's\n"),
    DiagnosticKind(
      code: "E0104", title: "another kind of value is expected",
      explanation: "A map stands where a list belongs, or the other way round.",
      example: "stages:\n  - fetch\n  - store\n"),
    DiagnosticKind(
      code: "E0105", title: "two entries with one id",
      explanation: "An id is the op's name unless given, so two entries of one op need an `id`.",
      example: "- id: by_name\n  store: \"${item.name}\"\n- id: by_key\n  store: \"keys/${item.key}\"\n"),
    DiagnosticKind(
      code: "E0106", title: "no valid name",
      explanation: "Ids begin with a letter from a to z and go on with such letters, digits and `_`.",
      example: "- id: big_thumbs\n  store: \"big/${item.name}\"\n"),
    DiagnosticKind(
      code: "E0107", title: "no op, or several",
      explanation: "Each entry of `sources`, `stages` and `sinks` names exactly one op.",
      example: "- fetch: { accept: image/* }\n- store\n"),
    DiagnosticKind(
      code: "E0108", title: "unknown op", explanation: "There is no op of this name for this list.",
      example: "imgflow explain ops\n"),
  ]

  private static let names: [DiagnosticKind] = [
    DiagnosticKind(
      code: "E0110", title: "a value does not fit its key",
      explanation: "Each key has a type, which decides how a value is read: 50MB is a size, 30s a duration.",
      example: "- fetch: { max_bytes: 50MB }\n  timeout: 30s\n"),
    DiagnosticKind(
      code: "E0111", title: "a required key is missing", explanation: "The op cannot do without this key.",
      example: "- file: { path: list.csv, url: \"${row.url}\" }\n"),
    DiagnosticKind(
      code: "E0112", title: "`extends` cannot be followed",
      explanation: "The file cannot be read, is no manifest, or leads back to where it came from.",
      example: "extends: shared/base.yaml\n"),
    DiagnosticKind(
      code: "E0113", title: "unknown profile", explanation: "`--profile` names a key of `profiles`.",
      example: "profiles:\n  ci: { limits: { connections: 16 } }\n"),
    DiagnosticKind(
      code: "E0114", title: "`--set` cannot be followed",
      explanation: "A path goes from key to key with dots, into lists by an entry's id or place.",
      example: "imgflow run --set limits.connections=4 --set stages.fetch.concurrency=2\n"),
    DiagnosticKind(
      code: "E0119", title: "unknown source or stage", explanation: "No entry of the manifest has this id.",
      example: "- id: index\n  report: { path: index.csv }\n  needs: store\n"),
  ]

  private static let graph: [DiagnosticKind] = [
    DiagnosticKind(
      code: "E0120", title: "stages wait for each other",
      explanation: "`needs` and `after` lead in a circle, so none of these stages could ever start.",
      example: "- fetch\n- store           # needs the one above\n"),
    DiagnosticKind(
      code: "E0121", title: "a stage that nothing reaches",
      explanation: "What the stage waits for never happens.", example: "- store\n  needs: fetch\n"),
    DiagnosticKind(
      code: "E0122", title: "the matrix is wrong",
      explanation: "`matrix` maps axes to lists of values. `exclude` takes combinations out, `include` adds some.",
      example: "matrix: { w: [64, 256], fmt: [webp, jpeg], exclude: [{ w: 64, fmt: jpeg }] }\n"),
    DiagnosticKind(
      code: "E0123", title: "matrix axes that do not join",
      explanation: "Stages that are needed together share an axis, or the stage takes all legs with `per: item`.",
      example: "- id: sheet\n  report: { path: \"${item.key}.csv\" }\n  needs: [small, large]\n  per: item\n"),
    DiagnosticKind(
      code: "E0124", title: "`per` does not fit",
      explanation: "The stage cannot run as often as `per` says, or stands below one that runs less often.",
      example: "- report: { path: index.csv }\n  per: run\n"),
    DiagnosticKind(
      code: "E0125", title: "no host",
      explanation: "Keys of `hosts` are `*`, a name, `*.example.com`, `host:port`, an address or a range of addresses.",
      example: "hosts:\n  \"*.example.com\": { connections: 8 }\n"),
    DiagnosticKind(
      code: "E0126", title: "unknown pool", explanation: "`pool` is `cpu`, `net` or a name of `limits.pools`.",
      example: "limits: { pools: { gpu: 1 } }\n"),
    DiagnosticKind(
      code: "E0127", title: "a leg whose values do not fit",
      explanation:
        "On one combination of the matrix, a key gets a value that it cannot take; the message names the leg.",
      example: "- resize: { width: \"${matrix.w}\" }\n  matrix: { w: [64, 256] }\n"),
  ]

  private static let plugins: [DiagnosticKind] = [
    DiagnosticKind(
      code: "E0130", title: "the op finds its configuration wrong",
      explanation: "Its types fit, but what it names does not work: a script that is missing or no Lua, for example.",
      example: "- script: { file: rules.lua, function: item }\n"),
    DiagnosticKind(
      code: "E0601", title: "a plugin cannot be read",
      explanation: "`plugins:` names folders with a `plugin.yaml`, or folders of such folders.",
      example: "plugins: [./plugins/face-crop]\n"),
    DiagnosticKind(
      code: "E0602", title: "unknown key in plugin.yaml",
      explanation: "The key is not known at this place of a plugin's description.",
      example: "limits: { instances: 2, window: 8 }\n"),
    DiagnosticKind(
      code: "E0603", title: "a value in plugin.yaml does not fit",
      explanation: "Each key of a plugin's description has a type; the message says what is expected.",
      example: "permissions: { network: false, env: [], write: [workdir] }\n"),
    DiagnosticKind(
      code: "E0604", title: "a key of plugin.yaml is missing",
      explanation: "A plugin's description has at least `imgflow_plugin`, `name`, `version`, `run` and `ops`.",
      example: "imgflow_plugin: 1\nname: acme.face-crop\nversion: 1.0.0\nrun: [python3, main.py]\n"
        + "ops: { acme.face-crop: { kind: stage } }\n"),
  ]

  private static let values: [DiagnosticKind] = [
    DiagnosticKind(
      code: "E0301", title: "a name cannot be used here",
      explanation: "Its value is not known yet, or no longer, where this is evaluated: rows come with items, "
        + "`group` with groups.",
      example: "- store: \"${row.team}/${item.name}\"\n"),
    DiagnosticKind(
      code: "E0302", title: "there is no such name", explanation: "The name is declared nowhere.",
      example: "vars:\n  season: { type: string, default: spring }\n"),
    DiagnosticKind(
      code: "E0303", title: "not listed",
      explanation: "A manifest lists the environment variables and secrets that it reads.",
      example: "env: [HOME]\nsecrets: { TOKEN: {} }\n"),
    DiagnosticKind(
      code: "E0304", title: "not set", explanation: "The variable has no value and no default.",
      example: "env: [{ name: REGION, default: eu }]\n"),
    DiagnosticKind(
      code: "E0305", title: "unknown matrix axis",
      explanation: "The stage has no axis of this name, nor has one above.",
      example: "- store: \"${matrix.copy}/${item.name}\"\n  matrix: { copy: [a, b] }\n"),
    DiagnosticKind(
      code: "E0306", title: "`from` names no needed stage",
      explanation: "`from.ID` reaches the results of the stages that this one needs.",
      example: "- write: { path: \"${item.key}.txt\", text: \"${from.store.path}\" }\n  needs: store\n"),
    DiagnosticKind(
      code: "E0307", title: "a secret where none may stand",
      explanation:
        "A secret stands under a host's name in `hosts`, or in a sink's keys and headers; so it goes nowhere "
        + "else.",
      example: "hosts:\n  cdn.example.com: { auth: { bearer: \"${secret.CDN_TOKEN}\" } }\n"),
    DiagnosticKind(
      code: "E0308", title: "a variable without a value",
      explanation: "It has no default, and --var does not give it one.",
      example: "imgflow run --var season=spring\n"),
    DiagnosticKind(
      code: "E0309", title: "cannot be evaluated", explanation: "The expression or the value in it leads to an error.",
      example: "vars: { size: { type: integer, default: 256 } }\n"),
    DiagnosticKind(
      code: "W0301", title: "several legs write one path",
      explanation: "The path holds no axis of the matrix, so the second leg of each item would find it taken.",
      example: "- store: \"${item.key}/${matrix.w}.webp\"\n"),
    DiagnosticKind(
      code: "W0302", title: "not an address",
      explanation: """
        What stands where an address belongs is none, so what asks for it will fail: an item with `url.invalid` or \
        `url.scheme`. The rest of the list is not touched by it.
        """,
      example: "sources: [{ urls: [\"https://example.com/photos/x.png\"] }]\n"),
  ]
}
