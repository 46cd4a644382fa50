import FlowCLI
import Testing

@Suite struct HelpTests {
  static let table: [CommandSpec] = [
    .run, .get, .validate, .plan, .graph, .explain, .schema, .config, .initialise, .status, .runs, .ctl, .events,
    .completion,
  ]

  @Test(arguments: table.map(\.name))
  func `the help of each command is as it was`(_ name: String) throws {
    let command = try #require(HelpTests.table.first { $0.name == name })
    try expectSnapshot(HelpText().command(command), "help/\(name).txt")
  }

  @Test func `the overview is as it was`() throws {
    try expectSnapshot(HelpText().overview(HelpTests.table), "help/imgflow.txt")
  }

  @Test func `help fits eighty columns`() {
    for command in HelpTests.table {
      for line in HelpText().command(command).split(separator: "\n") where !line.hasPrefix("  imgflow ") {
        #expect(line.count <= 80, "\(line)")
      }
    }
    for line in HelpText().overview(HelpTests.table).split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
  }

  @Test func `headings are bold only where colours are wanted`() {
    #expect(!HelpText().command(.run).contains("\u{1B}"))
    #expect(HelpText(coloured: true).command(.run).contains("\u{1B}[1mOptions\u{1B}[0m"))
  }

  @Test func `the man page names every option that help shows`() {
    let page = ManPage.text(HelpTests.table, version: "1").replacing("\\-", with: "-")
    for command in HelpTests.table {
      for option in command.options where !option.isHidden {
        #expect(page.contains(option.usage), "\(command.name) \(option.usage)")
      }
    }
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `each completion script names every command and option`(_ shell: String) throws {
    let script = try #require(Completion.script(for: shell, HelpTests.table))
    for command in HelpTests.table {
      #expect(script.contains(command.name))
      for option in command.options where !option.isHidden {
        let name = option.key
        #expect(script.contains(name), "\(command.name) \(name)")
      }
    }
  }

  @Test func `there is no script for another shell`() { #expect(Completion.script(for: "csh", HelpTests.table) == nil) }
}
