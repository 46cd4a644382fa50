internal import FlowBase
internal import FlowParts
internal import FlowTransfer

/// A request as an item, its stage and the `hosts` table make it together.
struct FetchOrder: Sendable {
  var request: TransferRequest
  /// Equal for requests that are sure to bring the same; nil where each must be made.
  let key: RequestKey?
  /// Whether the host's robots.txt is heeded, and by what name it knows us.
  let heedsRobots: Bool
  let userAgent: String

  /// - Parameter earlier: what an earlier run's answer said, so that only a newer one is asked for.
  init(url: String, item: Item, terms: FetchTerms, earlier: Fields? = nil) {
    var request = terms.request
    request.url = FetchOrder.adding(terms.query, to: url)
    if !item.headers.isEmpty { request.headers = FetchOrder.headers(item, request.headers) }
    let host = terms.hosts.facts(ofHostIn: url)
    if let host, host.isTold { request.credentials = host.credentials }
    heedsRobots = host?.heedsRobots ?? false
    userAgent = host?.way.userAgent ?? TransferEngine.userAgent
    let (etag, date) = (earlier?["etag"]?.asString, earlier?["last_modified"]?.asString)
    if etag != nil || date != nil {
      request.condition = .init(etag: etag, lastModified: date, of: earlier?["final_url"]?.asString)
    }
    key = request.method == .get ? FetchOrder.key(of: request, terms) : nil
    self.request = request
  }

  /// Credentials, proxy and TLS settings follow from the address within a run, and need no place in the key.
  private static func key(of request: TransferRequest, _ terms: FetchTerms) -> RequestKey {
    var writer = JSONWriter()
    writer.beginArray()
    writer.string(request.url)
    writer.raw(terms.mark)
    if let condition = request.condition {
      writer.string(condition.etag ?? "")
      writer.string(condition.lastModified ?? "")
      writer.string(condition.url ?? "")
    }
    for header in request.headers {
      writer.string(header.name)
      writer.string(header.value)
    }
    writer.endArray()
    return RequestKey(writer.text)
  }

  /// The item's own headers win over the stage's.
  private static func headers(_ item: Item, _ usual: [TransferHeader]) -> [TransferHeader] {
    var headers = item.headers.map { TransferHeader($0.name, $0.value) }
    for header in usual { headers.add(header) }
    return headers
  }

  private static func adding(_ query: Fields?, to url: String) -> String {
    guard let query, !query.isEmpty else { return url }
    var result = String(url.prefix { $0 != "#" })
    for (name, value) in query {
      result += result.contains("?") ? (result.hasSuffix("?") || result.hasSuffix("&") ? "" : "&") : "?"
      result += PercentEncoding.encode(name) + "=" + PercentEncoding.encode(value.text)
    }
    return result
  }
}

/// What makes two requests equal; it is looked up several times on its way, and hashed once.
struct RequestKey: Hashable, Sendable {
  let text: String
  private let digest: Int

  init(_ text: String) {
    self.text = text
    digest = text.hashValue
  }

  static func == (one: RequestKey, other: RequestKey) -> Bool { one.digest == other.digest && one.text == other.text }
  func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// What the manifest says of the hosts that a run asks, worked out once for each.
final class FetchHosts: Sendable {
  /// What holds for one host.
  final class Facts: Sendable {
    let way: HostWay
    let credentials: Credentials
    /// Whether it is told anything that is meant for it alone.
    let isTold: Bool
    let heedsRobots: Bool

    init(_ settings: HostSettings) {
      way = HostWay(settings)
      credentials = Credentials(settings)
      isTold = credentials != Credentials()
      heedsRobots = settings.robots ?? false
    }
  }

  private struct Place: Hashable {
    var host: String
    var port: Int
  }

  /// Which addresses may be reached.
  let policy: AddressPolicy
  private let table: HostTable
  private let known = Guarded<[Place: Facts]>([:])
  private let origins = LastOrigin<Facts>()
  private static let mostHosts = 10_000

  init(_ settings: RunSettings) {
    policy = AddressPolicy(settings)
    table = settings.hosts
  }

  /// What holds for a host.
  func facts(of host: String, port: Int) -> Facts {
    let place = Place(host: host, port: port)
    if let facts = known.withLock({ $0[place] }) { return facts }
    let facts = Facts(HostSettings.resolve(table, host: host, port: port))
    known.withLock { known in
      if known.count >= FetchHosts.mostHosts { known.removeAll() }
      known[place] = facts
    }
    return facts
  }

  /// What holds for the host in an address; nil where that is no address.
  func facts(ofHostIn url: String) -> Facts? {
    origins.of(url) { TransferEngine.hostAndPort(of: url).map { facts(of: $0.host, port: $0.port) } }
  }
}

extension AddressPolicy {
  /// What the manifest allows.
  init(_ settings: RunSettings) {
    let allowed = settings.hosts.rules.filter { $0.allow == true }.map(\.pattern)
    self.init(
      allowsPrivate: settings.allowsPrivate, literals: settings.literalHosts,
      ranges: allowed.compactMap { AddressRange(parsing: $0) }, hosts: allowed)
  }
}

extension HostWay {
  /// How the `hosts` table wants a host to be reached.
  init(_ settings: HostSettings) {
    self.init()
    userAgent = settings.userAgent
    proxy = settings.proxy
    ca = settings.ca
    certificate = settings.certificate
    key = settings.key
    streams = settings.streams
    bandwidth = settings.bandwidth
    version =
      switch settings.http {
      case "1.1": .one
      case "2": .two
      default: .automatic
      }
  }
}

extension HostSettings {
  /// What the `hosts` table says of the host in an address; nil where that is no address.
  static func ofHost(in url: String, _ table: HostTable) -> HostSettings? {
    TransferEngine.hostAndPort(of: url).map { resolve(table, host: $0.host, port: $0.port) }
  }
}

extension Credentials {
  /// What the `hosts` table tells a host.
  init(_ settings: HostSettings) {
    self.init()
    basic = settings.basic
    bearer = settings.bearer
    netrc = settings.netrc ?? false
    headers = settings.headers.map { TransferHeader($0.name, $0.value) }
    query = settings.query.map { TransferHeader($0.name, $0.value) }
    cookies = settings.cookies
  }
}
