import FlowBase
import FlowTesting

// gallery [--port N] [--port-file PATH] [--slow] [-- COMMAND…]
//
// Serves painted pictures on 127.0.0.1, with a command until the command ends, else until a signal comes. The command
// finds the address in the environment variable GALLERY.

var words = CommandLine.arguments.dropFirst()
var port = 0
var portFile: String?
var isSlow = false
var command: [String]?
while command == nil, let word = words.popFirst() {
  switch word {
  case "--port": port = words.popFirst().flatMap { Int($0) } ?? -1
  case "--port-file": portFile = words.popFirst()
  case "--slow": isSlow = true
  case "--": command = Array(words)
  default: port = -1
  }
}
guard (0...65535).contains(port), command?.isEmpty != true else {
  StandardStream.errors.write("usage: gallery [--port N] [--port-file PATH] [--slow] [-- COMMAND…]\n")
  ProcessFacts.exit(2)
}

Streams.ignoreBrokenPipes()
Signals.block()
do {
  let gallery = Gallery(isSlow: isSlow)
  let server = try LoopbackServer(port: port) { gallery.answer($0) }
  if let portFile { try SmallFiles.replace(portFile, Array("\(server.port)\n".utf8)) }
  var code = 0
  if let command {
    var environment = ProcessFacts.environment
    environment["GALLERY"] = server.url
    code = Launch.run(command, environment: environment)
    if code == 127 { StandardStream.errors.write("gallery: cannot start \(command[0])\n") }
  } else {
    StandardStream.output.write("\(server.url)\n")
    Signals.waitForEnding()
  }
  server.stop()
  ProcessFacts.exit(code)
} catch {
  StandardStream.errors.write("gallery: \(Fault(error).message)\n")
  ProcessFacts.exit(1)
}
