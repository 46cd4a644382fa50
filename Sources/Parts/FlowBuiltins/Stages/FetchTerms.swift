internal import FlowBase
internal import FlowParts
internal import FlowTransfer

/// What a stage's configuration and the `hosts` table say of requests; for most stages it is the same for every item.
final class FetchTerms: Sendable {
  let demand: FetchDemand
  let mirrors: [String]
  let query: Fields?
  let hosts: FetchHosts
  /// A request without its address and what is its item's or host's own.
  let request: TransferRequest
  /// All but the headers, as a part of the keys by which equal requests are known.
  let mark: [UInt8]

  init(_ config: Config, _ hosts: FetchHosts) {
    self.hosts = hosts
    demand = FetchDemand(config)
    mirrors = config.texts("mirrors")
    query = config.value("query")?.asMap
    var request = TransferRequest(
      url: "", method: config.text("method").flatMap(TransferRequest.Method.init) ?? .get, addresses: hosts.policy
    ) { host, port in
      hosts.facts(of: host, port: port).way
    }
    request.headers = FetchTerms.headers(config)
    request.referer = config.text("referer")
    request.encoding = FetchTerms.codings(config.text("encoding"))
    if let redirects = config.int("redirects") { request.redirects = redirects }
    request.keptPrefix = MediaType.prefixLength
    var limits = request.limits
    limits.maximumBytes = config.int("max_bytes")
    limits.connect = config.interval("connect") ?? limits.connect
    limits.firstByte = config.interval("first_byte") ?? limits.firstByte
    limits.idle = config.interval("idle") ?? limits.idle
    limits.minimumSpeed = config.int("min_speed") ?? limits.minimumSpeed
    request.limits = limits
    self.request = request
    var writer = JSONWriter()
    writer.string(request.referer ?? "")
    writer.string(request.encoding ?? "")
    for number in [
      request.redirects, limits.maximumBytes ?? -1, limits.connect.nanoseconds, limits.firstByte.nanoseconds,
      limits.idle.nanoseconds, limits.minimumSpeed,
    ] {
      writer.int(number)
    }
    mark = writer.bytes
  }

  private static func headers(_ config: Config) -> [TransferHeader] {
    var headers: [TransferHeader] = []
    for (name, value) in config.value("headers")?.asMap ?? [:] { headers.add(TransferHeader(name, value.text)) }
    let accept = config.texts("accept")
    // Servers that cannot give what is wanted say more by what they give instead than by a 406.
    if !accept.isEmpty { headers.add(TransferHeader("Accept", accept.joined(separator: ", ") + ", */*;q=0.1")) }
    return headers
  }

  private static func codings(_ word: String?) -> String? {
    switch word {
    case nil, "identity": nil
    case "any": "gzip, deflate, br, zstd"
    default: word
    }
  }
}

extension [TransferHeader] {
  /// Adds a header, unless one of its name is there.
  mutating func add(_ header: TransferHeader) {
    let wanted = header.name.lowercased()
    if !contains(where: { $0.name.lowercased() == wanted }) { append(header) }
  }
}

/// The terms of the last configuration, since the next item's is mostly the same.
final class LastTerms: Sendable {
  private let last = Guarded<(config: Config, terms: FetchTerms)?>(nil)

  /// The terms of a configuration; whether it is the last one costs nothing to see where it is the very same.
  func of(_ config: Config, _ hosts: FetchHosts) -> FetchTerms {
    let known = last.withLock { $0.flatMap { $0.terms.hosts === hosts && $0.config == config ? $0.terms : nil } }
    if let known { return known }
    let terms = FetchTerms(config, hosts)
    last.withLock { $0 = (config, terms) }
    return terms
  }
}

/// What a file must be, beyond having come.
struct FetchDemand: Sendable {
  var accept: [String]
  var minimum: Int?

  init(_ config: Config) {
    accept = config.texts("accept")
    minimum = config.int("min_bytes")
  }

  /// Throws what is wrong with a file; the item's own expectations count too.
  func check(_ fetched: Fetched, _ expected: Expectation, on pool: BlockingPool) async throws(Fault) {
    try check(fetched)
    try await ContentCheck(expected).check(.file(fetched.file), on: pool)
  }

  /// Throws what is wrong with a file by what its transfer has shown of it.
  func check(_ fetched: Fetched) throws(Fault) {
    if !accept.isEmpty {
      let media = fetched.media
      guard let media, accept.contains(where: { MediaType.matches(media, $0) }) else {
        throw fetched.fault(
          "media.unexpected", "what came is \(media ?? "of no known type"), not \(accept.joined(separator: " or "))")
      }
    }
    if let minimum, fetched.file.bytes < minimum {
      throw fetched.fault("body.too_small", "\(fetched.file.bytes) bytes came, at least \(minimum) are wanted")
    }
  }
}
