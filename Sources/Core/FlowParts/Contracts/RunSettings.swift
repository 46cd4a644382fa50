public import FlowBase

/// What the manifest says of the run as a whole, resolved and typed.
public struct RunSettings: Sendable, Hashable {
  /// The manifest's name.
  public var name: String
  /// The folder of the manifest.
  public var folder: String
  /// The absolute path of `output.dir`.
  public var outputFolder: String
  /// The default of `on_exists`.
  public var onExists: OnExists = .keep
  /// The most connections at once; nil finds its own height.
  public var connections: Int?
  /// The most bytes a second over all transfers.
  public var bandwidth: Int?
  /// The most bytes held in memory for pictures and small bodies.
  public var memory: Int?
  /// The most bytes of temporary files.
  public var temp: Int?
  /// The most cores that are used; nil is all.
  public var cpu: Int?
  /// Sizes of the pools that stages share.
  public var pools: [String: Int] = [:]
  /// How to treat each host.
  public var hosts: HostTable = HostTable()
  /// Whether private and loopback addresses may be reached without an `allow`.
  public var allowsPrivate = false
  /// Addresses (`host:port`) that stand literally in the manifest, and so count as allowed.
  public var literalHosts: Set<String> = []

  /// Settings.
  public init(name: String, folder: String, outputFolder: String) {
    self.name = name
    self.folder = folder
    self.outputFolder = outputFolder
  }
}

/// The `hosts` table: speed, courtesy, credentials and permission.
public struct HostTable: Sendable, Hashable {
  /// One line of the table.
  public struct Rule: Sendable, Hashable {
    /// `*`, a name, `*.example.com`, `host:port`, an address or a range of addresses; lower case.
    public var pattern: String
    /// The most connections at once; 0 stands for `auto`.
    public var connections: Int?
    /// The most streams on an HTTP/2 connection.
    public var streams: Int?
    /// The most bytes a second.
    public var bandwidth: Int?
    /// The most requests a second.
    public var rate: Double?
    /// The time between the starts of two requests.
    public var interval: Interval?
    /// The `User-Agent`.
    public var userAgent: String?
    /// Whether robots.txt is honoured.
    public var robots: Bool?
    /// `name:password` for basic authentication.
    public var basic: String?
    /// The token for bearer authentication.
    public var bearer: String?
    /// Whether `~/.netrc` is read for this host.
    public var netrc: Bool?
    /// Request headers; they go to this host alone.
    public var headers: [Header] = []
    /// Query parameters; they go to this host alone.
    public var query: [Header] = []
    /// Path of a cookie jar.
    public var cookies: String?
    /// Path of a file with certificates to trust.
    public var ca: String?
    /// Path of a client certificate.
    public var certificate: String?
    /// Path of the client certificate's key.
    public var key: String?
    /// Address of a proxy.
    public var proxy: String?
    /// `auto`, `1.1` or `2`.
    public var http: String?
    /// Whether a private address may be reached.
    public var allow: Bool?

    /// A line without any demand.
    public init(pattern: String) { self.pattern = pattern }
  }

  /// The lines, in the manifest's order.
  public var rules: [Rule]

  /// A table.
  public init(rules: [Rule] = []) { self.rules = rules }
}
