internal import FlowBase

/// The hidden verb `__launch`: takes on the bounds of a plugin and becomes it.
///
/// `imgflow __launch [--memory=BYTES] [--network] [--write=DIR]… -- PROGRAM ARGUMENT…`
enum LaunchVerb {
  static let name = "__launch"

  /// Becomes the program; where that fails, says why on standard error and gives the exit code.
  static func run(_ words: [String]) -> Int {
    var bounds = Confinement(writable: [])
    var rest = words[...]
    while let word = rest.popFirst(), word != "--" {
      if word == "--network" {
        bounds.allowsNetwork = true
      } else if word.hasPrefix("--memory="), let bytes = Int(word.dropFirst(9)), bytes > 0 {
        bounds.memory = bytes
      } else if word.hasPrefix("--write=") {
        bounds.writable?.append(String(word.dropFirst(8)))
      } else {
        StandardStream.errors.write("imgflow: `\(word)` is no bound of a plugin\n")
        return 126
      }
    }
    let fault = bounds.become(Array(rest))
    StandardStream.errors.write("imgflow: \(fault.message)\n")
    return 127
  }
}
