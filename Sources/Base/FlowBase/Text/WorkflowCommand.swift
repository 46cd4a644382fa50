/// Texts within the commands that a program gives to GitHub's workflows by its output.
public enum WorkflowCommand {
  /// A message, in which the command cannot end and none can begin.
  public static func message(_ text: String) -> String { escaped(text, isParameter: false) }

  /// The value of a parameter, which neither ends it nor begins another.
  public static func parameter(_ text: String) -> String { escaped(text, isParameter: true) }

  private static func escaped(_ text: String, isParameter: Bool) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "%": result += "%25"
      case "\r": result += "%0D"
      case "\n": result += "%0A"
      case ":" where isParameter: result += "%3A"
      case "," where isParameter: result += "%2C"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
