internal import FlowBase

/// What a browser, or a program such as curl, asks for.
public struct WebRequest: Sendable, Hashable {
  /// The method, such as `GET`.
  public var method: String
  /// The path as it was sent, without the query; it begins with a slash.
  public var path: String
  /// The parts of the query, decoded, in their order.
  public var query: [(name: String, value: String)] { WebRequest.pairs(rawQuery) }
  /// The query as it was sent, without the question mark.
  public var rawQuery: String
  /// The headers, their names in lower case, in their order.
  public var headers: [Header]
  /// The body.
  public var body: [UInt8]
  /// Whether the connection may serve another request.
  public var keepsAlive: Bool

  /// One line of the head.
  public struct Header: Sendable, Hashable {
    /// The name, in lower case.
    public var name: String
    /// The value, without the blanks around it.
    public var value: String

    /// A header.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A request.
  public init(
    _ method: String, _ path: String, query: String = "", headers: [Header] = [], body: [UInt8] = [],
    keepsAlive: Bool = true
  ) {
    self.method = method
    self.path = path
    rawQuery = query
    self.headers = headers
    self.body = body
    self.keepsAlive = keepsAlive
  }

  /// The value of a header that stands there once; nil where it is missing, or ambiguous.
  public func header(_ name: String) -> String? {
    let found = headers.filter { $0.name == name }
    return found.count == 1 ? found[0].value : nil
  }

  /// Whether a header stands there at all.
  public func has(_ name: String) -> Bool { headers.contains { $0.name == name } }

  /// The first part of the query of a name.
  public func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

  /// The value of a cookie.
  public func cookie(_ name: String) -> String? {
    for header in headers where header.name == "cookie" {
      for pair in header.value.split(separator: ";") {
        let text = pair.drop { $0 == " " }
        if text.hasPrefix(name + "=") { return String(text.dropFirst(name.count + 1)) }
      }
    }
    return nil
  }

  private static func pairs(_ text: String) -> [(name: String, value: String)] {
    text.split(separator: "&").map { part in
      let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let decode = { (text: String) in
        PercentEncoding.decode(String(text.map { $0 == "+" ? " " : $0 }))
      }
      return (decode(halves[0]), halves.count > 1 ? decode(halves[1]) : "")
    }
  }
}
