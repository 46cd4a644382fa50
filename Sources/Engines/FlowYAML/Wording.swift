/// A piece of the document as a message can hold it: short, on one line.
func shown(_ text: String) -> String {
  let line = text.prefix(60).replacing("\n", with: " ")
  return text.count > 60 ? line + "…" : String(line)
}

/// A text in the quotes that need no escapes inside it.
func quoted(_ text: String) -> String {
  text.contains("\"") ? "'" + text.replacing("'", with: "''") + "'" : "\"" + text.replacing("\\", with: "\\\\") + "\""
}
