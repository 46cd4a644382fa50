import FlowBase

/// Any text is an address with one lasting form, or none; names are safe, and redaction comes to an end.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  let text = String(decoding: bytes, as: UTF8.self)
  if let address = try? WebAddress(parsing: text) {
    checkForms(address)
  }
  if let base = try? WebAddress(parsing: "https://h.example/a/b;c?d"), let target = try? base.resolving(text) {
    checkForms(target)
  }
  let name = FileName.safe(text)
  check(!name.isEmpty && name.utf8.count <= FileName.longest && name != "." && name != "..", "`\(name)` is not safe")
  check(!name.utf8.contains { $0 == 0x2F || $0 == 0x5C || $0 < 0x20 }, "`\(name)` is not safe")
  check(FileName.safe(name) == name, "`\(name)` changes again")
  if let path = try? RelativePath(parsing: text) {
    check((try? RelativePath(parsing: path.text)) == path, "`\(path.text)` changes again")
    check(!path.components.contains { $0 == ".." || $0.isEmpty }, "`\(path.text)` leaves its folder")
  }
  let redacted = Redaction(secrets: ["hunter2"]).redact(text)
  check(!redacted.utf8.containsText("hunter2"), "a secret is left in `\(redacted)`")
  check(Redaction.url(Redaction.url(text)) == Redaction.url(text), "redacting twice changes more")
  return 0
}

private func checkForms(_ address: WebAddress) {
  let again = try? WebAddress(parsing: address.text)
  check(again?.text == address.text, "`\(address.text)` is `\(again?.text ?? "nothing")` when it is read again")
  check(again?.canonical == address.canonical, "`\(address.canonical)` is no lasting key")
  check((try? WebAddress(parsing: address.canonical))?.canonical == address.canonical, "`\(address.canonical)` changes")
  check(address.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "`\(address.text)` is not plain")
  check(address.host == address.host.lowercased() && !address.host.isEmpty, "`\(address.host)` is no host")
  _ = address.literal?.text
}

extension String.UTF8View {
  fileprivate func containsText(_ text: String) -> Bool {
    indices.contains { self[$0...].starts(with: text.utf8) }
  }
}

private func check(_ holds: Bool, _ message: @autoclosure () -> String) {
  if !holds { fatalError(message()) }
}
