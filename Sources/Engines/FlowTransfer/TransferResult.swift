public import FlowBase

/// How a transfer went.
public struct TransferResult: Sendable, Hashable {
  /// The address that answered, behind all redirects, without user info and secret query parameters.
  public var finalURL: String
  /// The status: 2xx, or 304 for a conditional request.
  public var status: Int
  /// The bytes that the sink got.
  public var bytes = 0
  /// The body's first bytes, as many as the request asked to keep.
  public var prefix: [UInt8] = []
  /// The bytes of bodies that came over the network, redirects' included.
  public var wireBytes = 0
  /// `ETag`, as sent.
  public var etag: String?
  /// `Last-Modified`, as sent.
  public var lastModified: String?
  /// `Content-Type`, as sent.
  public var contentType: String?
  /// `Content-Length`, of the encoded bytes.
  public var contentLength: Int?
  /// `Content-Encoding`, where the body came encoded.
  public var contentEncoding: String?
  /// How many redirects were followed.
  public var redirects = 0
  /// The address that was connected to last.
  public var remoteAddress: String?
  /// The version of HTTP, as `1.1` or `2`.
  public var version = "1.1"
  /// Whether the last request found an open connection.
  public var reusedConnection = false
  /// The times of the last request.
  public var times = Times()

  /// Times since the start of a request.
  public struct Times: Sendable, Hashable {
    /// Until the name was resolved.
    public var name = Interval.zero
    /// Until the connection stood.
    public var connect = Interval.zero
    /// Until TLS stood.
    public var secure = Interval.zero
    /// Until the first byte came.
    public var firstByte = Interval.zero
    /// Until the end.
    public var total = Interval.zero
  }
}
