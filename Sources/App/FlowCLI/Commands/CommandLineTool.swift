internal import FlowBase
internal import FlowImage

/// The program: takes a command line, runs the command, and turns whatever happens into words and an exit code.
public struct CommandLineTool: Sendable {
  /// The version of the program.
  public static let version = "0.1.0"

  private let commands: [Command]
  private let console: Console

  /// The program with its commands.
  public init(commands: [Command] = Command.all, console: Console) {
    self.commands = commands
    self.console = console
  }

  /// Runs the process's own command line and ends the process.
  public static func main() -> Never {
    let words = Array(CommandLine.arguments.dropFirst())
    // Before anything else, so that what the program becomes finds its process untouched.
    if words.first == LaunchVerb.name { ProcessFacts.exit(LaunchVerb.run(Array(words.dropFirst()))) }
    Streams.openClosedOnes()
    Streams.ignoreBrokenPipes()
    ProcessFacts.keepLibrariesToTheEnd()
    if words.first == PictureProgram.verb { PictureWorker.main(Array(words.dropFirst())) }
    PictureProgram.declareOwn()
    ProcessFacts.exit(CallingThread.run { await CommandLineTool(console: .standard).run(words) })
  }

  /// Runs a command line, without the program's name, and gives the exit code.
  public func run(_ words: [String]) async -> Int {
    var console = console
    do {
      switch try Parser(commands.map(\.spec)).parse(words) {
      case .version:
        console.line("imgflow \(CommandLineTool.version)")
        return 0
      case .help(let command):
        let help = HelpText(coloured: console.coloursOutput)
        console.write(command.map(help.command) ?? help.overview(commands.map(\.spec)))
        return 0
      case .command(let spec, let arguments):
        if let colour = arguments.value("color").flatMap(Console.Colour.init(rawValue:)) { console.colour = colour }
        if let folder = arguments.value("C") {
          do throws(Fault) {
            try ProcessFacts.changeFolder(to: folder)
          } catch {
            throw UsageError(
              error.message, hint: "`-C` takes a folder that is there", command: spec.name, arguments: arguments)
          }
        }
        guard let command = commands.first(where: { $0.spec.name == spec.name }) else { return 70 }
        do {
          return try await command.body(arguments, console)
        } catch var error as UsageError {
          error.command = spec.name
          error.arguments = arguments
          throw error
        }
      }
    } catch {
      return await report(error, console)
    }
  }

  private func report(_ error: any Error, _ console: Console) async -> Int {
    let paint = Paint(console.coloursErrors)
    switch error {
    case let error as UsageError:
      if let command = commands.first(where: { $0.spec.name == error.command }), let told = command.onUsageError {
        await told(error, console)
      }
      console.say(paint.bold("imgflow: ") + error.message)
      if let hint = error.hint { console.say("  \(hint)") }
      return 2
    case let diagnostic as Diagnostic:
      console.say(DiagnosticText(isColoured: console.coloursErrors).text([diagnostic]))
      return 2
    default:
      let fault = Fault(error)
      console.say(paint.bold("imgflow: ") + fault.message + " (\(fault.code))")
      return fault.kind == .internal ? 70 : fault.kind == .config ? 2 : fault.kind == .local ? 6 : 1
    }
  }
}
