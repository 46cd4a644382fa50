public import FlowBase

/// Where a command writes, and what it may know of the world around it.
public struct Console: Sendable {
  /// Takes data: the answer to what was asked.
  public var output: @Sendable (_ bytes: [UInt8]) -> Void
  /// Takes words: what a person should know beside the answer.
  public var errors: @Sendable (_ bytes: [UInt8]) -> Void
  /// Gives what stands on standard input.
  public var input: @Sendable () throws(Fault) -> [UInt8]
  /// The environment's variables.
  public var environment: [String: String]
  /// Whether standard output is a terminal.
  public var outputIsTerminal: Bool
  /// Whether the stream of errors is a terminal.
  public var errorsAreTerminal: Bool
  /// Whether words are coloured: `--color`, decided for each stream by what it is.
  public var colour: Colour = .auto

  /// When words are coloured.
  public enum Colour: String, Sendable {
    case auto, always, never
  }

  /// A console.
  public init(
    output: @escaping @Sendable ([UInt8]) -> Void, errors: @escaping @Sendable ([UInt8]) -> Void,
    input: @escaping @Sendable () throws(Fault) -> [UInt8] = { () throws(Fault) in [] },
    environment: [String: String] = [:], outputIsTerminal: Bool = false, errorsAreTerminal: Bool = false
  ) {
    self.output = output
    self.errors = errors
    self.input = input
    self.environment = environment
    self.outputIsTerminal = outputIsTerminal
    self.errorsAreTerminal = errorsAreTerminal
  }

  /// The process's own streams.
  public static var standard: Console {
    Console(
      output: { StandardStream.output.write($0) }, errors: { StandardStream.errors.write($0) },
      input: { () throws(Fault) in try StandardStream.input.readToEnd() },
      environment: ProcessFacts.environment, outputIsTerminal: StandardStream.output.isTerminal,
      errorsAreTerminal: StandardStream.errors.isTerminal)
  }

  /// Writes data.
  public func write(_ text: String) { output(Array(text.utf8)) }
  /// Writes a line of data.
  public func line(_ text: String) { write(text + "\n") }
  /// Writes a line of words.
  public func say(_ text: String) { errors(Array((text + "\n").utf8)) }

  /// Whether what goes to standard output is coloured.
  public var coloursOutput: Bool { colours(outputIsTerminal) }
  /// Whether what goes to the stream of errors is coloured.
  public var coloursErrors: Bool { colours(errorsAreTerminal) }

  private func colours(_ isTerminal: Bool) -> Bool {
    switch colour {
    case .always: true
    case .never: false
    case .auto: isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }
  }
}
