public import FlowBase
public import FlowParts
internal import FlowRecords

extension LoopbackServer {
  /// What the server answers, and how it misbehaves while doing so.
  public struct Response: Sendable {
    /// The bytes of a body.
    public enum Body: Sendable {
      /// These bytes.
      case bytes([UInt8])
      /// So many bytes of `pattern`, made while they are sent.
      case generated(Int)

      /// How many bytes there are.
      public var count: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .generated(let count): count
        }
      }
    }

    /// How the body's length is told.
    public enum Framing: Sendable {
      /// By a Content-Length that is true.
      case length
      /// By a Content-Length that says this.
      case announced(Int)
      /// In chunks of so many bytes.
      case chunked(Int)
      /// By the end of the connection.
      case untilClose
    }

    /// How the answer ends before its end.
    public enum Ending: Sendable {
      /// The connection is closed in order.
      case close
      /// The connection is reset.
      case reset
      /// Nothing more comes, and the connection stays.
      case stall
      /// A chunk whose size is no number.
      case brokenChunk
    }

    /// The status.
    public var status: Int
    /// The headers besides those of the framing.
    public var headers: [Header]
    /// The body.
    public var body: Body
    /// How its length is told.
    public var framing: Framing = .length
    /// The wait before the status line.
    public var delay: Interval = .zero
    /// So many bytes of the body at a time, each after so long a wait.
    public var pace: (bytes: Int, every: Interval)?
    /// After so many bytes of the body it ends, and how.
    public var ending: (after: Int, how: Ending)?
    /// Whether nothing at all is answered; the connection ends as `ending` says, or stays.
    public var isSilent = false
    /// So many interim answers (103) before the real one, each after a wait.
    public var interim: (count: Int, every: Interval)?
    /// Whether the connection is closed afterwards.
    public var closes = false

    /// An answer.
    public init(status: Int, headers: [Header] = [], body: Body = .bytes([])) {
      self.status = status
      self.headers = headers
      self.body = body
    }

    // Whole answers

    /// 200 with these bytes.
    public static func ok(_ body: [UInt8], type: String = "application/octet-stream") -> Response {
      Response(status: 200, headers: [Header("Content-Type", type)], body: .bytes(body))
    }

    /// 200 with this text.
    public static func ok(_ text: String, type: String = "text/plain; charset=utf-8") -> Response {
      ok(Array(text.utf8), type: type)
    }

    /// 200 with so many bytes of `pattern`.
    public static func generated(_ count: Int, type: String = "application/octet-stream") -> Response {
      Response(status: 200, headers: [Header("Content-Type", type)], body: .generated(count))
    }

    /// A status with a line of text.
    public static func status(_ status: Int) -> Response {
      Response(
        status: status, headers: [Header("Content-Type", "text/plain")],
        body: status == 204 || status == 304 ? .bytes([]) : .bytes(Array("status \(status)\n".utf8)))
    }

    /// A redirect.
    public static func redirect(to location: String, status: Int = 302) -> Response {
      Response(status: status, headers: [Header("Location", location)])
    }

    /// 429 with a Retry-After as written.
    public static func tooMany(retryAfter: String) -> Response {
      Response(status: 429, headers: [Header("Retry-After", retryAfter)], body: .bytes(Array("slow down\n".utf8)))
    }

    /// No answer: the connection stays open until the client leaves.
    public static var silence: Response {
      var response = Response(status: 200)
      response.isSilent = true
      return response
    }

    /// No answer: the connection is reset.
    public static var reset: Response {
      var response = silence
      response.ending = (0, .reset)
      return response
    }

    /// No answer: the connection is closed.
    public static var hangUp: Response {
      var response = silence
      response.ending = (0, .close)
      return response
    }

    // The same answer, but

    /// The same with a header more.
    public func header(_ name: String, _ value: String) -> Response {
      var response = self
      response.headers.append(Header(name, value))
      return response
    }

    /// The same after a wait.
    public func delayed(by interval: Interval) -> Response {
      var response = self
      response.delay = interval
      return response
    }

    /// The same, so many bytes at a time with a wait before each.
    public func dripping(_ bytes: Int, every interval: Interval) -> Response {
      var response = self
      response.pace = (max(1, bytes), interval)
      return response
    }

    /// The same, ended after so many bytes of the body.
    public func ending(_ how: Ending, after bytes: Int) -> Response {
      var response = self
      response.ending = (bytes, how)
      return response
    }

    /// The same after so many interim answers, each after a wait.
    public func precededBy(interim count: Int, every interval: Interval) -> Response {
      var response = self
      response.interim = (count, interval)
      return response
    }

    /// The same in chunks.
    public func chunked(of size: Int = 1024) -> Response {
      var response = self
      response.framing = .chunked(max(1, size))
      return response
    }

    /// The same with a Content-Length that says something else.
    public func announcing(_ length: Int) -> Response {
      var response = self
      response.framing = .announced(length)
      return response
    }

    /// The same, ended by the end of the connection alone.
    public func untilClose() -> Response {
      var response = self
      response.framing = .untilClose
      response.closes = true
      return response
    }

    /// The same with its bytes in gzip's form, and the header that says so.
    public func gzipped() -> Response {
      var response = header("Content-Encoding", "gzip")
      response.body = .bytes(Gzip.compress(bytes))
      return response
    }

    /// The same with headers of so many bytes in all.
    public func headerBomb(_ bytes: Int) -> Response {
      var response = self
      for number in 0..<max(1, bytes / 1024) {
        response.headers.append(Header("X-Bomb-\(number)", String(repeating: "x", count: 1000)))
      }
      return response
    }

    /// The body's bytes.
    public var bytes: [UInt8] {
      switch body {
      case .bytes(let bytes): bytes
      case .generated(let count): LoopbackServer.pattern(count)
      }
    }
  }

  /// The first bytes of an endless text in which no two lines are equal, for bodies of any length.
  public static func pattern(_ count: Int, from start: Int = 0) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
      // Eight bytes a step of a mixed counter: cheap, and no repetition that a splice could hide in.
      for place in 0..<max(0, count) {
        let offset = UInt64(start + place)
        let mixed = (offset >> 3) &* 0x9E37_79B9_7F4A_7C15
        unsafe buffer[place] = UInt8(truncatingIfNeeded: mixed >> ((offset & 7) * 8))
      }
      filled = max(0, count)
    }
  }
}
