import FlowBase
import FlowTesting
import Testing

/// Two networks that belong to the test, with a cable between them that can be pulled.
private final class Cable: Sendable {
  let place: TempPlace
  let near: String
  let far: String
  private let server: Guarded<ToolRun?> = Guarded(nil)

  init() throws {
    place = try TempPlace()
    let name = Entropy.token(5)
    near = "imgflow-n\(name)"
    far = "imgflow-f\(name)"
  }

  /// Runs a program of the system; whether it went well.
  @discardableResult
  static func run(_ words: String...) async -> Bool {
    var tool = Tool(in: "/tmp", environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
    tool.program = []
    guard let run = try? tool.start(words) else { return false }
    return await run.end().code == 0
  }

  /// Whether this machine lets us make networks.
  static func isPossible() async -> Bool {
    guard SmallFiles.exists("/usr/sbin/nginx") else { return false }
    let name = "imgflow-t\(Entropy.token(5))"
    let isMade = await run("ip", "netns", "add", name)
    if isMade { await run("ip", "netns", "del", name) }
    return isMade
  }

  /// Makes the networks, and starts a slow server with one file at the far end.
  func lay(_ file: [UInt8]) async throws {
    try SmallFiles.makeFolder(place.file("files"))
    try SmallFiles.create(place.file("files/a.bin"), file)
    let path = place.path
    try SmallFiles.create(
      place.file("nginx.conf"),
      Array(
        """
        user root; daemon off; master_process off; pid \(path)/pid;
        events { worker_connections 64; }
        http {
          log_format seen "$status $http_range"; access_log \(path)/seen.log seen;
          client_body_temp_path \(path)/t1; proxy_temp_path \(path)/t2; fastcgi_temp_path \(path)/t3;
          uwsgi_temp_path \(path)/t4; scgi_temp_path \(path)/t5;
          server { listen 10.77.0.2:80; root \(path)/files; limit_rate 400k; }
        }
        """.utf8))
    for network in [near, far] { #expect(await Cable.run("ip", "netns", "add", network)) }
    let ends = ["ip", "link", "add", "cable", "netns", near, "type", "veth", "peer", "name", "cable", "netns", far]
    #expect(await Cable.run("env", "-S", ends.joined(separator: " ")))
    for (network, address) in [(near, "10.77.0.1/24"), (far, "10.77.0.2/24")] {
      #expect(await Cable.run("ip", "-n", network, "addr", "add", address, "dev", "cable"))
      #expect(await Cable.run("ip", "-n", network, "link", "set", "cable", "up"))
    }
    var tool = Tool(in: path, environment: ["PATH": "/usr/sbin:/usr/bin"])
    tool.program = ["ip", "netns", "exec", far, "nginx"]
    let run = try tool.start(["-p", path, "-c", "nginx.conf", "-e", "\(path)/error.log"])
    server.withLock { $0 = run }
  }

  /// Pulls the cable, or puts it back.
  func set(_ state: String) async { #expect(await Cable.run("ip", "-n", near, "link", "set", "cable", state)) }

  func clear() async {
    server.withLock { $0 }?.signal(15)
    for network in [near, far] { await Cable.run("ip", "netns", "del", network) }
  }
}

@Suite(.enabled("making networks needs root, iproute2 and nginx") { await Cable.isPossible() })
struct `Offline` {
  @Test func `a run waits for its network, spends no try, and goes on where the file ended`() async throws {
    let cable = try Cable()
    let bytes = LoopbackServer.pattern(1_500_000)
    try await cable.lay(bytes)
    try SmallFiles.create(
      cable.place.file("m.yaml"),
      Array(
        """
        imgflow: 1
        offline: pause
        sources: [{ urls: ["http://10.77.0.2:80/a.bin"] }]
        stages:
          - fetch: { idle: 1s, connect: 2s }
          - store
        state: { durability: process }
        """.utf8))
    var tool = Tool(in: cable.place.path)
    tool.program = ["/usr/sbin/ip", "netns", "exec", cable.near, Tool.path]
    let run = try tool.start(["run", "m.yaml", "--events", "-", "--progress", "none"])
    let begun = await run.output.line { $0.contains("\"item.progress\"") || $0.contains("\"item.end\"") }
    #expect(begun?.contains("item.progress") == true, "\(run.output.text) \(run.errors.text)")
    await cable.set("down")
    #expect(await run.output.line { $0.contains("\"to\":\"paused\"") && $0.contains("offline") } != nil)
    await cable.set("up")
    let end = await run.end()
    let seen = String(decoding: try SmallFiles.read(cable.place.file("seen.log")), as: UTF8.self)
    await cable.clear()
    #expect(end.code == 0, "\(end.output)\n\(end.errors)")
    #expect(try SmallFiles.read(cable.place.file("out/a.bin")) == bytes)
    #expect(end.output.split(separator: "\n").contains { $0.contains("item.end") && $0.contains("\"attempts\":1,") })
    #expect(!end.output.contains("item.retry"))
    #expect(seen.contains("206 bytes="), "\(seen)")
  }
}
