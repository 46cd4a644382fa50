internal import FlowBase

/// What is answered.
public struct WebAnswer: Sendable, Hashable {
  /// The status.
  public var status: Int
  /// The headers beside those that every answer has.
  public var headers: [WebRequest.Header]
  /// The body.
  public var body: [UInt8]

  /// An answer.
  public init(_ status: Int, headers: [WebRequest.Header] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Bytes of a media type.
  public static func bytes(_ body: [UInt8], media: String, status: Int = 200) -> WebAnswer {
    WebAnswer(status, headers: [.init("Content-Type", media)], body: body)
  }

  /// A JSON document.
  public static func json(_ body: [UInt8], status: Int = 200) -> WebAnswer {
    bytes(body, media: "application/json; charset=utf-8", status: status)
  }

  /// A refusal, as JSON: a code, and what to do in words.
  public static func refusal(_ status: Int, _ code: String, _ message: String) -> WebAnswer {
    var writer = JSONWriter()
    writer.value(.map(["error": .map(["code": .string(code), "message": .string(message)])]))
    return json(writer.bytes + [0x0A], status: status)
  }

  /// The answer with another header.
  public func with(_ name: String, _ value: String) -> WebAnswer {
    var answer = self
    answer.headers.append(.init(name, value))
    return answer
  }

  /// What goes over the wire; a stream's length is not known, and it ends with its connection.
  func wire(keepsAlive: Bool, isStream: Bool = false, withoutBody: Bool = false) -> [UInt8] {
    var text = "HTTP/1.1 \(status) \(Self.phrase(status))\r\n"
    for header in headers { text += "\(header.name): \(header.value)\r\n" }
    for header in Self.always where !headers.contains(where: { $0.name == header.name }) {
      text += "\(header.name): \(header.value)\r\n"
    }
    if !isStream { text += "Content-Length: \(body.count)\r\n" }
    text += keepsAlive && !isStream ? "\r\n" : "Connection: close\r\n\r\n"
    return withoutBody ? Array(text.utf8) : Array(text.utf8) + body
  }

  /// What every answer says, so that no browser makes more of it than it is.
  private static let always: [WebRequest.Header] = [
    .init("Cache-Control", "no-store"),
    .init("X-Content-Type-Options", "nosniff"),
    .init("Referrer-Policy", "no-referrer"),
    .init("Cross-Origin-Resource-Policy", "same-origin"),
    .init("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    .init("X-Frame-Options", "DENY"),
  ]

  private static func phrase(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 204: "No Content"
    case 303: "See Other"
    case 304: "Not Modified"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 413: "Content Too Large"
    case 415: "Unsupported Media Type"
    case 417: "Expectation Failed"
    case 421: "Misdirected Request"
    case 431: "Request Header Fields Too Large"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    default: status < 400 ? "OK" : "Error"
    }
  }
}

/// How a request is served.
public enum WebReply: Sendable {
  /// At once.
  case now(WebAnswer)
  /// When it is ready; nobody else waits for it.
  case later(@Sendable () async -> WebAnswer)
  /// By a stream that goes on until one side ends it.
  case stream(WebAnswer, any WebStream)
}

/// A stream of an answer's bytes that come as time goes by.
///
/// The server asks it, on its own thread, whenever the browser has taken what came before: a browser that takes nothing
/// costs nothing but its place.
public protocol WebStream: Sendable {
  /// Appends what has become known, at most about so many bytes; false where nothing more will come.
  mutating func next(into buffer: inout [UInt8], room: Int) -> Bool
}
