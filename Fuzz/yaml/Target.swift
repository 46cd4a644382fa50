import FlowBase
import FlowYAML

/// Any bytes are read to an end, and all that is said of them has a place inside the file.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  let (node, problems) = YAMLReader.read(bytes, file: "fuzz.yaml")
  check(node != nil || !problems.isEmpty, "neither a node nor a problem")
  let lines = bytes.count { $0 == 0x0A || $0 == 0x0D || $0 == 0xC2 || $0 == 0xE2 } + 1
  for problem in problems {
    check(!problem.message.isEmpty && problem.code.hasPrefix("E00"), "a problem without words")
    guard let mark = problem.place?.mark else { fatalError("a problem without a place") }
    check(
      mark.line >= 1 && mark.line <= lines + 1 && mark.column >= 1 && mark.length >= 1, "a place outside of the file")
    check(mark.column <= bytes.count + 1 && mark.length <= bytes.count + 1, "a place behind the line")
  }
  if let node { checkMarks(node, lines) }
  return 0
}

private func checkMarks(_ node: Node, _ lines: Int) {
  check(node.mark.line >= 1 && node.mark.line <= lines + 1, "a node outside of the file")
  switch node.content {
  case .scalar: return
  case .list(let elements): for element in elements { checkMarks(element, lines) }
  case .map(let entries):
    check(Set(entries.map(\.key)).count == entries.count, "a key twice")
    for entry in entries { checkMarks(entry.value, lines) }
  }
}

private func check(_ holds: Bool, _ message: String) {
  if !holds { fatalError(message) }
}
