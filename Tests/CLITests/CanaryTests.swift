import FlowBase
import FlowParts
import FlowTesting
import Testing

/// Secrets of every kind, each with a text of its own that is then looked for in everything that was said and written.
@Suite(.serialized) struct CanaryTests {
  /// The secrets of the manifest, as the environment holds them.
  private static let secrets = [
    "BEARER": "canary-bearer", "BASIC": "canary-basic", "HEADER": "canary \"head\\er", "QUERY": "canary/query+5 %",
    "PROXY": "canary-proxy", "HOOKHEAD": "canary-hookhead", "HOOK": "whsec_Y2FuYXJ5LWhvb2stc2VjcmV0LWtleQ==",
  ]
  /// What must stand nowhere, in whatever form it may have taken on its way.
  private static let canaries = [
    "canary", Base64.encode(Array("me:canary-basic".utf8)), Base64.encode(Array("you:canary-user".utf8)),
    Base64.encode(Array("me:canary-proxy".utf8)), "Y2FuYXJ5LWhvb2stc2VjcmV0LWtleQ",
  ]

  /// What a program of this machine was started with, and holds a canary.
  private static func betraying() -> [String] {
    let processes = (try? SmallFiles.names(in: "/proc"))?.filter { $0.allSatisfy(\.isNumber) } ?? []
    return processes.compactMap { process in
      guard let bytes = try? SmallFiles.read("/proc/\(process)/cmdline") else { return nil }
      let words = String(decoding: bytes, as: UTF8.self)
      return words.contains("canary-") ? words : nil
    }
  }

  private func leaks(_ text: String, _ place: String) -> [String] {
    Self.canaries.filter { text.contains($0) }.map { canary in
      let line = text.split(separator: "\n").first { $0.contains(canary) } ?? ""
      return "\(place) holds \(canary): \(line.prefix(400))"
    }
  }

  @Test func `no secret of any kind is found in anything that is said, written, posted or started`() async throws {
    let bodies = Guarded<[String]>([])
    let arguments = Guarded<[String]>([])
    let proxy = try LoopbackServer { _ in .ok("through") }
    let work = try Workplace { request in
      switch request.path {
      case "/hook":
        bodies.withLock { $0.append(String(decoding: request.body, as: UTF8.self)) }
        return .status(204)
      case "/a":
        arguments.withLock { $0 += Self.betraying() }
        return .ok("fine")
      // Hosts that repeat what they were told: in addresses, in headers, in words.
      case "/echo": return .redirect(to: "/seen?\(request.query)&back=\(request.header("Authorization") ?? "")")
      case "/seen": return .ok("seen").header("ETag", "\"\(request.header("X-Api-Key") ?? "")\"")
      case "/cookie": return .ok("x").header("Set-Cookie", "sid=canary-cookie; Max-Age=1000")
      case "/refused": return .status(403)
      case "/gone": return .redirect(to: "/seen2?sig=canary-signature")
      default: return .status(404)
      }
    }
    let other = try LoopbackServer { request in
      request.path == "/login" ? .ok("in") : .status(401)
    }
    var tool = work.tool
    tool.environment.merge(Self.secrets) { $1 }
    tool.environment["NETRC"] = work.place.file("netrc")
    try work.write("netrc", "machine 127.0.0.1 login me password canary-netrc\n")
    try work.write("filed.txt", "canary-filed\n")
    let (home, away) = ("127.0.0.1:\(work.server.port)", "127.0.0.1:\(other.port)")
    try work.write(
      "m.yaml",
      """
      imgflow: 1
      secrets:
        { BEARER: {}, BASIC: {}, HEADER: {}, QUERY: {}, PROXY: {}, HOOK: {}, HOOKHEAD: {}, FILED: { file: filed.txt } }
      output: { dir: ./out }
      hosts:
        "\(home)":
          auth: { bearer: "${secret.BEARER}" }
          headers: { X-Api-Key: "${secret.HEADER}", X-Filed: "${secret.FILED}" }
          query: { id: "${secret.QUERY}" }
          cookies: ./jar
        "\(away)": { auth: { basic: "me:${secret.BASIC}" } }
        "logins.invalid": { auth: { netrc: true }, proxy: "http://me:${secret.PROXY}@127.0.0.1:\(proxy.port)" }
        "127.0.0.1": { allow: true }
      sources:
        - urls:
            - { url: "http://\(home)/a", key: plain }
            - { url: "http://\(home)/echo", key: echo }
            - { url: "http://\(home)/cookie", key: cookie }
            - { url: "http://\(home)/refused?api_key=canary-key&X-Amz-Signature=canary-amz", key: refused }
            - { url: "http://\(home)/gone?pass=canary-pass&user.password=canary-word", key: gone }
            - { url: "http://you:canary-user@\(away)/login?authToken=canary-token", key: login }
            - { url: "http://\(away)/no?credential=canary-credential", key: "no" }
            - { url: "http://logins.invalid/x?secret=canary-named", key: proxied }
      stages:
        - fetch: {}
          retry: { attempts: 1 }
        - store: { path: "${item.key}.bin", sidecar: json }
        - report: { path: index.csv, columns: [key, url, final_url, etag, status, error], include: all }
      sinks:
        - log: { to: run.log, level: debug }
        - ndjson: { to: events.ndjson, format: cloudevents }
        - junit: { to: junit.xml }
        - html: { to: report.html }
        - metrics: { to: metrics.prom }
        - webhook: { url: "http://\(home)/hook?token=canary-hookurl", secret: "${secret.HOOK}", headers: { X-H: "${secret.HOOKHEAD}" } }
        - id: dead
          webhook: { url: "http://127.0.0.1:1/hook?key=canary-dead", waits: [20ms], drain: 100ms, format: native }
      """)
    let end = try await tool.start(["run", "m.yaml", "-vv", "--record", "record.ndjson"]).end()
    #expect(end.code == 1, "\(end.errors)")
    #expect(
      end.stream.items("ok").sorted() == ["urls/cookie", "urls/echo", "urls/login", "urls/plain", "urls/proxied"])
    // They did arrive where they belong.
    let first = try #require(work.server.requests(for: "/a").first)
    #expect(first.header("Authorization") == "Bearer canary-bearer" && first.header("X-Filed") == "canary-filed")
    #expect(proxy.requests.first?.header("Proxy-Authorization")?.hasPrefix("Basic ") == true)
    #expect(bodies.withLock { $0.count } > 0)

    var found = leaks(end.output, "the stream") + leaks(end.errors, "standard error")
    for words in [
      ["status"], ["status", "--json"], ["status", "last", "urls/gone"], ["status", "last", "urls/echo", "--json"],
      ["runs"], ["plan", "m.yaml", "--items"], ["plan", "m.yaml", "--json"], ["plan", "--why", "urls/login", "m.yaml"],
      ["lock", "m.yaml"], ["verify", "m.yaml"], ["flush", "m.yaml", "--deadline", "100ms"], ["validate", "m.yaml"],
      ["graph", "m.yaml"], ["plan", "m.yaml", "--online"],
    ] {
      let said = try await tool.start(words).end()
      found += leaks(said.output, words.joined(separator: " "))
      found += leaks(said.errors, words.joined(separator: " ") + ", its errors")
    }
    for body in bodies.withLock({ $0 }) { found += leaks(body, "a webhook's body") }
    // The list of the manifest itself, the login file, the secret's file and the jar hold what they are there to hold.
    let exempt: Set<String> = ["m.yaml", "netrc", "filed.txt", "jar"]
    for name in work.files(".") where !exempt.contains(name) {
      let bytes = try SmallFiles.read(work.place.file(name))
      found += leaks(String(decoding: bytes, as: UTF8.self), name)
      found += Self.canaries.filter { name.contains($0) }.map { "the name \(name) holds \($0)" }
    }
    #expect(found == [])
    #expect(arguments.withLock { $0 } == [])
  }
}
