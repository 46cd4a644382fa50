import FlowBase
import FlowTesting
import Testing

/// Pictures that bring their decoder down, in whole runs of the real program.
@Suite(.serialized) struct HostilePictureTests {
  /// A worker that is the real one, but for pictures whose names say what they do to it.
  ///
  /// It stands between the run and a real worker, and passes on what either says.
  private static let worker = """
    #!/usr/bin/env python3
    import os, signal, socket, subprocess, sys, threading, time
    here = socket.socket(fileno=0)
    near, far = socket.socketpair()
    words = [sys.argv[1], str(os.getpid())] + sys.argv[3:]
    child = subprocess.Popen([os.environ["HOME"] + "/imgflow-real"] + words, stdin=far.fileno())
    far.close()
    def back():
        while data := near.recv(65536):
            here.sendall(data)
        os._exit(0)
    threading.Thread(target=back, daemon=True).start()
    while data := here.recv(65536):
        if b"/crash" in data:
            os.kill(os.getpid(), signal.SIGSEGV)
        if b"/hang" in data:
            time.sleep(3600)
        near.sendall(data)
    os._exit(0)

    """

  private func place(_ names: [String]) throws -> Workplace {
    let photo = Painter.photo("one")
    var work = try PictureTests.place(Dictionary(uniqueKeysWithValues: names.map { ($0 + ".png", photo) }))
    try work.write("worker", Self.worker)
    try FileSystem.setMode(work.place.file("worker"), 0o755)
    try FileSystem.makeLink(work.place.file("imgflow-real"), to: Tool.path)
    work.tool.environment["IMGFLOW_BINARY"] = work.place.file("worker")
    return work
  }

  private func codes(_ end: ToolEnd) -> [String: String] {
    var codes: [String: String] = [:]
    for line in end.stream.lines where line.asMap?["type"] == "item.error" {
      codes[line.asMap?["item"]?.asString ?? ""] =
        line.asMap?["data"]?.asMap?["error"]?.asMap?["code"]?.asString
    }
    return codes
  }

  @Test func `a picture that crashes its worker fails alone, and the run goes on`() async throws {
    let work = try place(["a", "b", "crash1", "c", "crash2", "d", "e"])
    try work.write("m.yaml", PictureTests.manifest("  - resize: { width: 40 }\n  - store: \"${item.key}\"\n"))
    let end = try await work.tool.run("run", "m.yaml", "--json")
    expectEnd(end, 1)
    #expect(work.files() == ["a.png", "b.png", "c.png", "d.png", "e.png"])
    #expect(codes(end) == ["directory/crash1": "image.crashed", "directory/crash2": "image.crashed"])
    #expect(end.output.contains("was ended by signal 11") || end.output.contains("SIGSEGV"), "\(end.output)")
  }

  @Test func `a picture that hangs its worker is given up, and the run goes on`() async throws {
    let work = try place(["a", "hang", "b", "c"])
    try work.write(
      "m.yaml",
      PictureTests.manifest(
        "  - resize: { width: 40 }\n    timeout: 4s\n    retry: { attempts: 1 }\n  - store: \"${item.key}\"\n"))
    let end = try await work.tool.run("run", "m.yaml", "--json")
    expectEnd(end, 5)
    #expect(work.files() == ["a.png", "b.png", "c.png"])
    #expect(codes(end) == ["directory/hang": "net.timeout.total"])
  }
}
