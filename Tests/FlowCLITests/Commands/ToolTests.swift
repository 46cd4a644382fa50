import FlowCLI
import Testing

@Suite struct ToolTests {
  @Test func `help goes to standard output, usage errors to the stream of errors`() async {
    let help = CapturedConsole()
    #expect(await help.run("help", "completion") == 0)
    #expect(help.output.hasPrefix("imgflow completion: "))
    #expect(help.errors.isEmpty)

    let wrong = CapturedConsole()
    #expect(await wrong.run("completion", "csh") == 2)
    #expect(wrong.output.isEmpty)
    #expect(wrong.errors == "imgflow: `SHELL` takes one of bash, zsh, fish, not `csh`\n  did you mean `zsh`?\n")
  }

  @Test func `a version is asked for in one way`() async {
    let console = CapturedConsole()
    #expect(await console.run("--version") == 0)
    #expect(console.output == "imgflow \(CommandLineTool.version)\n")
  }

  @Test func `no command at all is a usage error that names one`() async {
    let console = CapturedConsole()
    #expect(await console.run() == 2)
    #expect(console.errors.contains("imgflow run manifest.yaml"))
  }

  @Test func `a folder that is not there is said`() async {
    let console = CapturedConsole()
    #expect(await console.run("-C", "/no/such/folder", "man") != 0)
    #expect(console.errors.contains("/no/such/folder"))
  }
}
