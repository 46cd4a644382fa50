internal import FlowBase
internal import FlowParts

/// Serves one connection, request by request, on its own thread.
struct LoopbackConnection {
  let core: LoopbackServer.Core
  let socket: Socket
  let number: Int

  private static let headLimit = 128 * 1024
  private static let bodyLimit = 64 * 1024 * 1024
  private static let piece = 64 * 1024

  func serve() {
    defer { core.close(socket) }
    var pending: [UInt8] = []
    while let request = nextRequest(&pending) {
      let response = core.answer(request)
      guard send(response, to: request) else { return }
      let wantsClose = request.header("Connection")?.lowercased() == "close"
      if response.closes || wantsClose { return }
    }
  }

  // Reading

  private func nextRequest(_ pending: inout [UInt8]) -> LoopbackServer.Request? {
    var searched = 0
    var headEnd: Int?
    while headEnd == nil {
      headEnd = endOfHead(pending, from: searched)
      if headEnd == nil {
        searched = max(0, pending.count - 3)
        guard pending.count < Self.headLimit, socket.read(into: &pending, atMost: 16 * 1024) else { return nil }
      }
    }
    guard let headEnd, var request = parse(pending[..<headEnd]) else { return nil }
    let length = request.header("Content-Length").flatMap { Int($0) } ?? 0
    guard (0...Self.bodyLimit).contains(length) else { return nil }
    while pending.count < headEnd + length {
      guard socket.read(into: &pending, atMost: Self.piece) else { return nil }
    }
    request.body = Array(pending[headEnd..<headEnd + length])
    pending.removeFirst(headEnd + length)
    return request
  }

  private func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
    guard bytes.count >= 4 else { return nil }
    for place in start..<(bytes.count - 3)
    where bytes[place] == 13 && bytes[place + 1] == 10 && bytes[place + 2] == 13 && bytes[place + 3] == 10 {
      return place + 4
    }
    return nil
  }

  private func parse(_ head: ArraySlice<UInt8>) -> LoopbackServer.Request? {
    var lines = head.split(separator: 10).map { line in
      String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
    }
    guard let first = lines.first else { return nil }
    let words = first.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3 else { return nil }
    lines.removeFirst()
    let headers = lines.compactMap { line -> Header? in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      return Header(String(line[..<colon]), String(value))
    }
    return LoopbackServer.Request(
      method: String(words[0]), target: String(words[1]), headers: headers, body: [], time: SystemTime().now(),
      attempt: 1, connection: number)
  }

  // Writing

  /// False where the connection is of no use any more.
  private func send(_ response: LoopbackServer.Response, to request: LoopbackServer.Request) -> Bool {
    if response.delay > .zero, !socket.linger(for: response.delay) { return false }
    for _ in 0..<(response.interim?.count ?? 0) {
      guard socket.write(Array("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".utf8)[...]),
        socket.linger(for: response.interim?.every ?? .zero)
      else { return false }
    }
    if response.isSilent { return end(response.ending?.how ?? .stall) }
    var outgoing = head(of: response)
    let hasBody = request.method != "HEAD" && response.status != 204 && response.status != 304
    guard hasBody else { return socket.write(outgoing[...]) }
    return sendBody(of: response, behind: &outgoing)
  }

  private func head(of response: LoopbackServer.Response) -> [UInt8] {
    var text = "HTTP/1.1 \(response.status) \(response.status < 400 ? "OK" : "No")\r\n"
    for header in response.headers { text += "\(header.name): \(header.value)\r\n" }
    switch response.framing {
    case .length:
      if response.status != 204 && response.status != 304 { text += "Content-Length: \(response.body.count)\r\n" }
    case .announced(let length): text += "Content-Length: \(length)\r\n"
    case .chunked: text += "Transfer-Encoding: chunked\r\n"
    case .untilClose: break
    }
    if response.closes { text += "Connection: close\r\n" }
    return Array((text + "\r\n").utf8)
  }

  private func sendBody(of response: LoopbackServer.Response, behind outgoing: inout [UInt8]) -> Bool {
    let count = response.body.count
    let limit = min(count, response.ending?.after ?? count)
    var step = response.pace?.bytes ?? Self.piece
    var chunkSize: Int?
    if case .chunked(let size) = response.framing {
      chunkSize = size
      step = min(step, size)
    }
    var place = 0
    while place < limit {
      if let pace = response.pace {
        guard socket.write(outgoing[...]) else { return false }
        outgoing.removeAll(keepingCapacity: true)
        guard socket.linger(for: pace.every) else { return false }
      }
      let size = min(step, limit - place)
      if chunkSize != nil { outgoing.append(contentsOf: "\(String(size, radix: 16))\r\n".utf8) }
      switch response.body {
      case .bytes(let bytes): outgoing.append(contentsOf: bytes[place..<place + size])
      case .generated: outgoing.append(contentsOf: LoopbackServer.pattern(size, from: place))
      }
      if chunkSize != nil { outgoing.append(contentsOf: "\r\n".utf8) }
      place += size
      if outgoing.count >= Self.piece {
        guard socket.write(outgoing[...]) else { return false }
        outgoing.removeAll(keepingCapacity: true)
      }
    }
    let isEnded = response.ending != nil
    if chunkSize != nil, !isEnded { outgoing.append(contentsOf: "0\r\n\r\n".utf8) }
    if case .brokenChunk? = response.ending?.how { outgoing.append(contentsOf: "no number\r\n".utf8) }
    guard outgoing.isEmpty || socket.write(outgoing[...]) else { return false }
    return response.ending.map { end($0.how) } ?? true
  }

  private func end(_ how: LoopbackServer.Response.Ending) -> Bool {
    switch how {
    case .close: break
    case .reset: socket.resetOnClose()
    case .stall:
      // Until the client leaves or the server stops; the bound is for tests that forget both.
      _ = socket.linger(for: .seconds(120))
    case .brokenChunk: socket.finishWriting()
    }
    return false
  }
}
