import FlowBase
import Testing

@Suite struct `Sockets in a folder` {
  @Test func `carry lines, however long the folder's path is`() async throws {
    let root = "/tmp/imgflow-socket-\(Entropy.token(10))"
    let deep = root + "/" + Array(repeating: String(repeating: "d", count: 100), count: 4).joined(separator: "/")
    try FileSystem.makeDirectories(deep)
    defer { try? FileSystem.removeTree(root) }
    #expect(throws: Fault.self) { try UnixSocket.connect(folder: deep, name: "ctl") }
    let listener = try UnixSocket.listen(folder: deep, name: "ctl")
    #expect(try FileSystem.facts(deep + "/ctl").mode == 0o600)
    WorkerThread.start("echo") {
      while let connection = listener.accept() {
        if let line = connection.readLine(limit: 100) { connection.write(Array("got ".utf8) + line + [10]) }
      }
    }
    for word in ["pause", "resume"] {
      let client = try UnixSocket.connect(folder: deep, name: "ctl")
      client.write(Array("\(word)\n".utf8))
      #expect(client.readLine(limit: 100) == Array("got \(word)".utf8))
    }
    listener.close()
    #expect(throws: Fault.self) { try UnixSocket.connect(folder: deep, name: "ctl") }
  }

  @Test func `a socket that a dead process left is taken over`() throws {
    let path = "/tmp/imgflow-socket-\(Entropy.token(10))"
    try FileSystem.makeDirectories(path)
    defer { try? FileSystem.removeTree(path) }
    let first = try UnixSocket.listen(folder: path, name: "ctl")
    let second = try UnixSocket.listen(folder: path, name: "ctl")
    _ = try UnixSocket.connect(folder: path, name: "ctl")
    second.close()
    first.close()
  }
}
