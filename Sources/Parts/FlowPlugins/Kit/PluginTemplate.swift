internal import FlowBase

/// A first plugin in some language: working, with a test, and ready to be changed.
public struct PluginTemplate: Sendable {
  /// The languages that there are templates for.
  public enum Language: String, Sendable, Hashable, CaseIterable {
    case python, sh, lua, swift
  }

  /// The language.
  public var language: Language
  /// The plugin's name, with a dot in it.
  public var name: String

  /// A template; a name without a dot gets `my.` in front.
  public init(_ language: Language, name: String) {
    self.language = language
    self.name = name.contains(".") ? name : "my." + name
  }

  /// Whether the name can be one.
  public var isNamed: Bool { PluginReader.isName(name) }

  /// The files, each with its path in the plugin's folder, its text, and whether it is a program.
  public var files: [(path: String, text: String, isProgram: Bool)] {
    let common: [(path: String, text: String, isProgram: Bool)] = [
      ("plugin.yaml", manifest, false), ("README.md", readme, false), ("tests/first.yaml", test, false),
      ("tests/first.txt", "hello\n", false),
    ]
    switch language {
    case .python: return common + [("main.py", python, true), ("imgflow_plugin.py", PluginTemplate.pythonKit, false)]
    case .sh: return common + [("main.sh", shell, true)]
    case .lua: return common + [("main.lua", lua, true)]
    case .swift: return common + [("main.swift", swift, false), ("build.sh", PluginTemplate.swiftBuild, true)]
    }
  }

  private var command: String {
    switch language {
    case .python: "[python3, main.py]"
    case .sh: "[sh, main.sh]"
    case .lua: "[lua5.4, main.lua]"
    case .swift: "[./main]"
    }
  }

  private var manifest: String {
    """
    imgflow_plugin: 1
    name: \(name)
    version: 0.1.0
    summary: Counts the bytes of an item
    run: \(command)
    \(language == .sh ? "mode: oneshot\n" : "")ops:
      \(name):
        kind: stage
        gives: { set: { size_in_bytes: integer } }    # fields that it sets, known to `imgflow validate`
        deterministic: true
    permissions: { network: false, env: [], write: [workdir] }

    """
  }

  private var readme: String {
    let build = language == .swift ? "./build.sh                        # once, and after each change\n" : ""
    return """
      # \(name)

      Sets `item.size_in_bytes`.

      ```sh
      \(build)imgflow plugin test .              # the cases in tests/
      imgflow plugin check .             # what every plugin must do
      imgflow plugin bench .             # items a second
      ```

      In a manifest:

      ```yaml
      plugins: [path/to/this/folder]
      stages:
        - fetch
        - \(name)
        - filter: item.size_in_bytes > 1000
        - store
      ```

      """
  }

  private var test: String {
    """
    # One case: what goes in, and what is to come out. `imgflow plugin test .` runs all of this folder.
    input: first.txt
    expect:
      status: ok
      set: { size_in_bytes: 6 }

    """
  }

  private var python: String {
    """
    import os

    from imgflow_plugin import serve


    def work(item, init):
        # item["in"]["path"] is the item's file, item["item"] its fields, init["config"] what the manifest says.
        # Write new bytes below item["out"]["dir"] and name them: {"out": [{"path": "new.png", "media": "image/png"}]}.
        return {"set": {"size_in_bytes": os.path.getsize(item["in"]["path"])}}


    serve(work)

    """
  }

  private var shell: String {
    """
    # One item a process: the item comes as a line of JSON, the result goes as one.
    read -r item
    path=$(printf '%s' "$item" | sed -n 's/.*"in":{"path":"\\([^"]*\\)".*/\\1/p')
    size=$(wc -c <"$path" | tr -d ' ')
    printf '{"t":"result","id":1,"status":"ok","set":{"size_in_bytes":%s}}\\n' "$size"

    """
  }

  private var lua: String {
    """
    -- One JSON object a line, in and out. For rules that need no file, the stage `script` is simpler and faster.
    io.stdout:setvbuf("line")
    for line in io.lines() do
      local kind = line:match('"t":"(%a+)"')
      if kind == "init" then
        print('{"t":"ready","v":1}')
      elseif kind == "item" then
        local id = line:match('"id":(%d+)')
        local path = line:match('"in":{"path":"(.-)"')
        local file = path and io.open(path, "rb")
        if file then
          local size = file:seek("end")
          file:close()
          print(('{"t":"result","id":%s,"status":"ok","set":{"size_in_bytes":%d}}'):format(id, size))
        else
          print(('{"t":"result","id":%s,"status":"error","code":"input.missing","message":"no file"}'):format(id))
        end
      elseif kind == "ping" then
        print(('{"t":"pong","n":%s}'):format(line:match('"n":(%d+)')))
      elseif kind == "drain" then
        print('{"t":"bye"}')
      end
    end

    """
  }

  private var swift: String {
    """
    import Foundation

    // One JSON object a line, in and out.
    func say(_ message: [String: Any]) {
      guard let data = try? JSONSerialization.data(withJSONObject: message) else { return }
      FileHandle.standardOutput.write(data + Data([0x0A]))
    }

    func work(_ item: [String: Any]) throws -> [String: Any] {
      let path = (item["in"] as? [String: Any])?["path"] as? String ?? ""
      return ["set": ["size_in_bytes": try Data(contentsOf: URL(fileURLWithPath: path)).count]]
    }

    while let line = readLine() {
      guard let message = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else { continue }
      switch message["t"] as? String {
      case "init": say(["t": "ready", "v": 1])
      case "item":
        var answer: [String: Any] = ["t": "result", "id": message["id"] ?? 0, "status": "ok"]
        do {
          answer.merge(try work(message)) { $1 }
        } catch {
          answer.merge(["status": "error", "code": "plugin.failed", "message": "\\(error)"]) { $1 }
        }
        say(answer)
      case "ping": say(["t": "pong", "n": message["n"] ?? 0])
      case "drain": say(["t": "bye"])
      default: break
      }
    }

    """
  }

  private static let swiftBuild = """
    #!/bin/sh
    # Builds the program that plugin.yaml names.
    cd "$(dirname "$0")" && swiftc -O main.swift -o main

    """

  /// The kit for Python: one file, nothing to install.
  public static let pythonKit = """
    \"""Speaks imgflow's plugin protocol: one JSON object a line. It needs nothing else; keep it beside your plugin.\"""
    import json, sys

    # What json.loads and json.dumps do, without what they look at each time.
    decode, encode = json.JSONDecoder().raw_decode, json.JSONEncoder(check_circular=False).encode


    def serve(handle, start=None):
        \"""Calls handle(item, init) for each item; what it returns goes into the result (out, set, status, …).\"""
        out, sys.stdout = sys.stdout, sys.stderr  # a stray print must not get between the messages

        def say(message):
            out.write(encode(message) + "\\n")
            out.flush()

        for line in sys.stdin:
            message, _ = decode(line)
            kind = message.get("t")
            if kind == "item":
                try:
                    result = handle(message, init)
                    if result:
                        say({"t": "result", "id": message["id"], "status": "ok", **result})
                    else:  # the shortest answer needs no encoder
                        out.write('{"t":"result","id":%d,"status":"ok"}\\n' % message["id"])
                        out.flush()
                except Exception as error:  # the item fails, and the plugin goes on
                    code = getattr(error, "code", "plugin.failed")
                    say({"t": "result", "id": message["id"], "status": "error", "code": code, "message": str(error)})
            elif kind == "init":
                init = message
                if start:
                    start(init)
                say({"t": "ready", "v": 1})
            elif kind == "ping":
                say({"t": "pong", "n": message["n"]})
            elif kind == "drain":
                say({"t": "bye"})

    """
}
