import FlowBase
import FlowCLI
import Testing

private let table: [CommandSpec] = [
  .run, .get, .validate, .plan, .graph, .explain, .schema, .config, .initialise, .status, .runs, .ctl, .events,
  .completion, .man,
]

private func parse(_ words: String...) throws -> ParsedArguments {
  guard case .command(_, let arguments) = try Parser(table).parse(words) else {
    Issue.record("no command")
    return ParsedArguments()
  }
  return arguments
}

private func problem(_ words: String...) -> UsageError? {
  do {
    _ = try Parser(table).parse(words)
    return nil
  } catch {
    return error
  }
}

@Suite struct ParserTests {
  @Test func `options stand before, between and behind operands`() throws {
    let arguments = try parse("run", "-q", "a.yaml", "--take", "3")
    #expect(arguments.operand("MANIFEST") == "a.yaml")
    #expect(arguments.has("quiet"))
    #expect(arguments.int("take") == 3)
    #expect(try parse("run", "--take", "3", "a.yaml", "-q") == arguments)
  }

  @Test(arguments: [["-j4"], ["-j", "4"], ["-j=4"], ["--concurrency=4"], ["--concurrency", "4"]])
  func `a value is written in five ways`(_ words: [String]) throws {
    guard case .command(_, let arguments) = try Parser(table).parse(["run"] + words) else { return }
    #expect(arguments.int("concurrency") == 4)
  }

  @Test func `short flags combine, the last may take a value`() throws {
    let arguments = try parse("run", "-qnj", "4")
    #expect(arguments.has("quiet"))
    #expect(arguments.has("dry-run"))
    #expect(arguments.int("concurrency") == 4)
  }

  @Test func `behind two dashes all are operands`() throws {
    #expect(try parse("get", "--", "-j4", "--out").operands("URL|LIST") == ["-j4", "--out"])
  }

  @Test func `a single dash is a value and an operand`() throws {
    #expect(try parse("run", "--events", "-").value("events") == "-")
    #expect(try parse("get", "-").operands("URL|LIST") == ["-"])
  }

  @Test func `options that hold everywhere stand before the command too`() throws {
    let arguments = try parse("-C", "/tmp", "--color", "never", "run", "a.yaml")
    #expect(arguments.value("C") == "/tmp")
    #expect(arguments.value("color") == "never")
  }

  @Test func `repeated options keep their order, and assignments their later equals signs`() throws {
    let arguments = try parse("run", "--var", "a=1", "--var=b=c=d")
    #expect(arguments.assignments("var").map(\.name) == ["a", "b"])
    #expect(arguments.assignments("var").map(\.value) == ["1", "c=d"])
  }

  @Test func `the run may be left out before a verb`() throws {
    #expect(try parse("ctl", "pause").operand("VERB") == "pause")
    #expect(try parse("ctl", "pause").operand("RUN") == nil)
    let arguments = try parse("ctl", "01JD", "cancel", "--item", "products/A1")
    #expect(arguments.operand("RUN") == "01JD")
    #expect(arguments.operand("VERB") == "cancel")
  }

  @Test func `an unknown option suggests the nearest`() {
    #expect(problem("run", "--conncurrency", "3")?.hint == "did you mean `--concurrency`?")
    #expect(problem("run", "-events", "-")?.hint == "did you mean `--events`?")
    #expect(problem("run", "--zzz")?.hint == "see `imgflow run --help`")
  }

  @Test func `an unknown command says the whole line to type`() {
    #expect(problem("rnu", "a.yaml", "-j4")?.hint == "did you mean `imgflow run a.yaml -j4`?")
    #expect(problem("catalog.yaml", "-n")?.hint == "type `imgflow run catalog.yaml -n`")
    #expect(problem("https://a.example/x.png")?.hint == "type `imgflow get https://a.example/x.png`")
    #expect(problem("qqqqqqqq")?.hint == "`imgflow help` lists the commands")
  }

  @Test func `wrong values say what is expected`() {
    #expect(problem("run", "-j", "many")?.message == "`-j` takes a whole number of at least 1, not `many`")
    #expect(problem("run", "--progress", "bar")?.hint == "did you mean `bars`?")
    #expect(
      problem("run", "--deadline", "10")?.message == "`--deadline` takes a duration such as 500ms, 30s or 10m, not `10`"
    )
    #expect(problem("run", "--var", "a")?.message == "`--var` takes name=value, not `a`")
    #expect(problem("run", "--out")?.hint == "type `--out DIR`")
    #expect(problem("run", "--out", "-q")?.message == "`--out` needs a value: a folder")
    #expect(problem("run", "--quiet=yes")?.hint == "type `--quiet` alone")
  }

  @Test func `one value too many is named`() {
    #expect(problem("run", "a.yaml", "b.yaml")?.message == "`b.yaml` is one argument too many")
    #expect(problem("run", "-j", "2", "-j", "3")?.message == "`-j` is given twice: `2` and `3`")
    #expect(problem("get")?.hint?.hasPrefix("type `imgflow get https://") == true)
  }

  @Test func `a wrong line keeps what could be read, the stream's name among it`() {
    let error = problem("run", "--bogus", "--events", "out.ndjson")
    #expect(error?.command == "run")
    #expect(error?.arguments.value("events") == "out.ndjson")
  }

  @Test func `every command has an example, and it parses`() throws {
    for command in table {
      #expect(!command.examples.isEmpty, "\(command.name)")
      for example in command.examples {
        // What stands behind a pipe or an arrow is the shell's.
        let line = example.line.prefix { $0 != "|" && $0 != ">" }
        let words = line.split(separator: " ").dropFirst().map { String($0).replacing("'", with: "") }
        #expect(throws: Never.self, "\(example.line)") { try Parser(table).parse(Array(words)) }
      }
    }
  }

  @Test func `no two options of a command share a name`() {
    for command in table {
      let names = command.allOptions.flatMap(\.names)
      #expect(Set(names).count == names.count, "\(command.name)")
    }
  }
}
