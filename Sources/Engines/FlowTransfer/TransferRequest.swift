public import FlowBase

/// One request: what is asked, of whom, on which way, and within which bounds.
///
/// Most requests of a run differ in their address alone; copies share the rest, and who changes one gets one of its own.
public struct TransferRequest: Sendable {
  /// The methods that are spoken.
  public enum Method: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
  }

  /// The validator of what is there already, which makes a request conditional.
  public struct Condition: Sendable, Hashable {
    /// Sent as If-None-Match.
    public var etag: String?
    /// Sent as If-Modified-Since.
    public var lastModified: String?
    /// Whose they are: the address, behind all redirects, that gave them; nil for whatever is asked.
    public var url: String?

    /// A condition.
    public init(etag: String? = nil, lastModified: String? = nil, of url: String? = nil) {
      self.etag = etag
      self.lastModified = lastModified
      self.url = url
    }
  }

  /// The address; user info in it becomes basic authentication of its own host.
  public var url: String
  /// What is remembered for another try.
  public var record: ResumeRecord?
  /// How many bytes the sink has from an earlier try with the same record.
  public var resumeAt = 0
  /// Makes the sink forget what it has, where the body has changed since.
  public var restart: (@Sendable () throws(Fault) -> Void)?
  private var box: Box

  /// The method.
  public var method: Method {
    get { box.terms.method }
    _modify { yield &own().terms.method }
  }
  /// Headers; those that say who or what asks do not cross an origin.
  public var headers: [TransferHeader] {
    get { box.terms.headers }
    _modify { yield &own().terms.headers }
  }
  /// The body of a POST.
  public var body: [UInt8]? {
    get { box.terms.body }
    _modify { yield &own().terms.body }
  }
  /// The `Referer`; it does not cross an origin.
  public var referer: String? {
    get { box.terms.referer }
    _modify { yield &own().terms.referer }
  }
  /// The codings that are asked for; nil asks for the bytes as they are.
  public var encoding: String? {
    get { box.terms.encoding }
    _modify { yield &own().terms.encoding }
  }
  /// The most redirects that are followed; none at 0.
  public var redirects: Int {
    get { box.terms.redirects }
    _modify { yield &own().terms.redirects }
  }
  /// What is known to the first host alone.
  public var credentials: Credentials {
    get { box.terms.credentials }
    _modify { yield &own().terms.credentials }
  }
  /// The way to a host; asked again for each host that a redirect leads to.
  public var way: @Sendable (_ host: String, _ port: Int) -> HostWay {
    get { box.terms.way }
    _modify { yield &own().terms.way }
  }
  /// Which addresses may be reached.
  public var addresses: AddressPolicy {
    get { box.terms.addresses }
    _modify { yield &own().terms.addresses }
  }
  /// The times of the phases.
  public var limits: TransferLimits {
    get { box.terms.limits }
    _modify { yield &own().terms.limits }
  }
  /// What is there already: a 304 is then an answer.
  public var condition: Condition? {
    get { box.terms.condition }
    _modify { yield &own().terms.condition }
  }
  /// How many of the body's first bytes the result keeps, for a look at what came.
  public var keptPrefix: Int {
    get { box.terms.keptPrefix }
    _modify { yield &own().terms.keptPrefix }
  }

  /// A request.
  public init(
    url: String, method: Method = .get, addresses: AddressPolicy = AddressPolicy(),
    way: @escaping @Sendable (_ host: String, _ port: Int) -> HostWay = { _, _ in HostWay() }
  ) {
    self.url = url
    box = Box(Terms(method: method, way: way, addresses: addresses))
  }

  /// The box, for a change: it is this copy's alone from now on.
  private mutating func own() -> Box {
    if !isKnownUniquelyReferenced(&box) { box = Box(box.terms) }
    return box
  }

  /// All that is mostly the same for many requests.
  private struct Terms: Sendable {
    var method: Method
    var headers: [TransferHeader] = []
    var body: [UInt8]?
    var referer: String?
    var encoding: String?
    var redirects = 10
    var credentials = Credentials()
    var way: @Sendable (_ host: String, _ port: Int) -> HostWay
    var addresses: AddressPolicy
    var limits = TransferLimits()
    var condition: Condition?
    var keptPrefix = 0
  }

  /// What the copies of a request share; changed only while there is a single one.
  private final class Box: @unchecked Sendable {
    var terms: Terms

    init(_ terms: Terms) { self.terms = terms }
  }
}

/// A header of a request.
public struct TransferHeader: Sendable, Hashable {
  /// Its name.
  public var name: String
  /// Its value.
  public var value: String

  /// A header.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// What is told to one host alone; none of it crosses an origin, and none of it is attached again on the way back.
public struct Credentials: Sendable, Hashable {
  /// `name:password` for basic authentication.
  public var basic: String?
  /// The token for bearer authentication.
  public var bearer: String?
  /// Whether the user's netrc file is asked for a login, where nothing else gives one.
  public var netrc = false
  /// Headers.
  public var headers: [TransferHeader] = []
  /// Query parameters; they show in no result.
  public var query: [TransferHeader] = []
  /// Path of a cookie jar.
  public var cookies: String?

  /// Nothing.
  public init() {}
}

/// How a host is reached.
public struct HostWay: Sendable, Hashable {
  /// The versions of HTTP that are offered.
  public enum Version: Sendable, Hashable {
    /// HTTP/2 where TLS negotiates it, else HTTP/1.1.
    case automatic
    /// HTTP/1.1.
    case one
    /// HTTP/2, in the clear too.
    case two
  }

  /// The `User-Agent`; nil is the engine's own.
  public var userAgent: String?
  /// Address of a proxy; nil follows the environment, an empty text is none.
  public var proxy: String?
  /// Path of a file with certificates to trust; nil is the system's.
  public var ca: String?
  /// Path of a client certificate.
  public var certificate: String?
  /// Path of the client certificate's key.
  public var key: String?
  /// The versions of HTTP.
  public var version = Version.automatic
  /// The most streams on one connection of HTTP/2; nil is the usual number.
  public var streams: Int?
  /// The most bytes a second from this host, over all transfers.
  public var bandwidth: Int?

  /// The usual way.
  public init() {}
}

/// How long the phases of a transfer may take, how slow it may be, and how much may come.
public struct TransferLimits: Sendable, Hashable {
  /// For name, connection and TLS together.
  public var connect = Interval.seconds(10)
  /// From the request to the first byte of the answer.
  public var firstByte = Interval.seconds(30)
  /// Between two pieces of the answer.
  public var idle = Interval.seconds(30)
  /// For all of it, redirects included.
  public var total: Interval?
  /// The slowest allowed, in bytes a second over `speedWindow`; 0 is no bound.
  public var minimumSpeed = 1000
  /// The time over which the speed is taken.
  public var speedWindow = Interval.seconds(30)
  /// The most bytes, as delivered.
  public var maximumBytes: Int?

  /// The usual bounds.
  public init() {}
}
