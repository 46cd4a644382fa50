import FlowBase
import FlowEvents
import FlowParts
import FlowTesting
import Testing

@testable import FlowBuiltins

private func event(_ seq: Int, _ payload: Payload = .log(.init(.info, "line"))) -> Event {
  Event(
    seq: seq, time: WallTime(microseconds: 1_795_195_800_000_000), elapsed: .milliseconds(seq), run: "R",
    payload: payload)
}

private func batch(_ form: WebhookForm, _ seqs: ClosedRange<Int>) -> EventBatch {
  let events = seqs.map { seq in
    var bytes: [UInt8] = []
    form.append(event(seq), name: "my job", to: &bytes)
    return bytes
  }
  return EventBatch(
    run: "R", sink: "hook", form: form.rawValue, first: seqs.lowerBound, last: seqs.upperBound, events: events)
}

private func body(_ form: WebhookForm, _ seqs: ClosedRange<Int>) throws -> Value {
  try JSONReader.read(form.body(of: batch(form, seqs)))
}

@Suite struct WebhookFormTests {
  @Test func `The signature is that of the vector, whatever the key's spelling`() throws {
    for secret in ["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] {
      let key = try WebhookKey(parsing: secret)
      #expect(
        key.signature(
          of: Array(#"{"test": 2432232314}"#.utf8), id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330)
          == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }
  }

  @Test func `Two keys sign twice`() throws {
    let keys = [try WebhookKey(parsing: "AAAA"), try WebhookKey(parsing: "BBBB")]
    let parts = WebhookKey.header(keys, [], id: "i", timestamp: 1).split(separator: " ")
    #expect(parts.count == 2 && parts[0] != parts[1] && parts.allSatisfy { $0.hasPrefix("v1,") })
  }

  @Test func `A key that is no base64 is refused with words that show none of it`() {
    #expect {
      try WebhookKey(parsing: "whsec_?secret?")
    } throws: { error in
      let fault = Fault(error)
      return fault.code == "config.sink" && !fault.message.contains("?secret?")
    }
  }

  @Test func `A single event is an object, several are a list`() throws {
    let one = try #require(try body(.native, 4...4).asMap)
    #expect(one["seq"] == 4)
    #expect(try body(.native, 4...6).asList?.compactMap { $0.asMap?["seq"]?.asInt } == [4, 5, 6])
  }

  @Test func `The standard form has type, timestamp and data, and a batch its events in data`() throws {
    let one = try #require(try body(.standard, 4...4).asMap)
    #expect(one.names == ["type", "timestamp", "data"])
    #expect(one["type"] == "log")
    #expect(one["timestamp"] == "2026-11-20T17:30:00.000000Z")
    #expect(one["data"]?.asMap?["seq"] == 4)
    let several = try #require(try body(.standard, 4...6).asMap)
    #expect(several["type"] == "imgflow.batch")
    #expect(several["data"]?.asList?.count == 3)
  }

  @Test func `CloudEvents carry the whole event`() throws {
    let one = try #require(try body(.cloudevents, 4...4).asMap)
    #expect(one["id"] == "R-4" && one["source"] == "imgflow:/my%20job/R" && one["type"] == "dev.imgflow.log.v1")
    #expect(one["sequence"] == "00000000000000000004" && one["specversion"] == "1.0")
    #expect(one["data"] == (try body(.native, 4...4)))
    #expect(WebhookForm.cloudevents.mediaType(of: batch(.cloudevents, 1...2)) == "application/cloudevents-batch+json")
  }
}

@Suite struct WebhookRetriesTests {
  private func steps(_ faults: [Fault]) -> [WebhookRetries.Step] {
    var retries = WebhookRetries()
    return faults.map { retries.handle($0, chance: 0.5) }
  }

  private func status(_ number: Int, retryAfter: Interval? = nil) -> Fault {
    Fault("http.\(number)", .permanent, "no", httpStatus: number, retryAfter: retryAfter)
  }

  @Test(arguments: [302, 408, 425, 429, 500, 503]) func `What may pass is tried again and again`(number: Int) {
    #expect(
      steps(Array(repeating: status(number), count: 7))
        == [1, 5, 30, 120, 300, 300, 300].map { .again(.seconds($0)) })
  }

  @Test func `A receiver that cannot be reached is tried again too`() {
    #expect(steps([Fault("net.refused", .transient, "no")]) == [.again(.seconds(1))])
    #expect(steps([Fault("dns.nxdomain", .permanent, "no")]) == [.again(.seconds(1))])
  }

  @Test func `What is refused three times is put aside`() {
    #expect(steps([status(400), status(500), status(404), status(422)]).last == .putAside)
    #expect(steps([status(400), status(500), status(404)]).contains(.putAside) == false)
  }

  @Test func `Gone is gone`() { #expect(steps([status(410)]) == [.stop]) }

  @Test func `An address that is not allowed is no matter of time`() {
    #expect(steps([Fault("url.blocked", .permanent, "no")]) == [.stop])
  }

  @Test func `Retry-After is honoured, up to ten minutes, and never means at once`() {
    #expect(steps([status(429, retryAfter: .seconds(40))]) == [.again(.seconds(40) + .milliseconds(100))])
    #expect(steps([status(503, retryAfter: .seconds(7200))]) == [.again(.seconds(600))])
    #expect(steps([status(503, retryAfter: .zero)]) == [.again(.seconds(1))])
  }

  @Test func `Waits are spread by a fifth either way`() {
    for (chance, milliseconds) in [(0.0, 800), (1.0, 1200)] {
      var retries = WebhookRetries()
      #expect(retries.handle(status(500), chance: chance) == .again(.milliseconds(milliseconds)))
    }
  }
}

@Suite struct WebhookSenderTests {
  private static let secret = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  private func sender(_ server: LoopbackServer, _ place: TempPlace) throws -> WebhookSender {
    var context = SinkContext(id: "hook", run: "R", folder: place.path)
    context.settings.literalHosts = ["127.0.0.1:\(server.port)"]
    context.keep = place.path
    let config = Config([
      .init("url", .value(.string("\(server.url)/hook"))), .init("secret", .value([.string(Self.secret)])),
      .init("timeout", .value(.int(Interval.milliseconds(300).nanoseconds))),
    ])
    return try WebhookSender(config, context) { _ in }
  }

  @Test func `The same id and body go out until they are taken, each try with a signature of its own time`()
    async throws
  {
    let place = try TempPlace()
    let server = try LoopbackServer(script: [
      "/hook": [
        .status(500), .redirect(to: "/elsewhere"), .tooMany(retryAfter: "1"), .silence, .reset, .status(408),
        .status(204),
      ]
    ])
    let fault = try await sender(server, place).send(batch(.standard, 3...5))
    #expect(fault == nil)
    let requests = server.requests
    #expect(requests.count == 7)
    #expect(requests.allSatisfy { $0.method == "POST" && $0.path == "/hook" })
    #expect(Set(requests.map(\.body)).count == 1)
    #expect(Set(requests.compactMap { $0.header("webhook-id") }) == ["msg_R-hook-3-5"])
    for request in requests {
      let time = try #require(request.header("webhook-timestamp").flatMap { Int($0) })
      let expected = try WebhookKey(parsing: Self.secret)
        .signature(of: request.body, id: "msg_R-hook-3-5", timestamp: time)
      #expect(request.header("webhook-signature") == expected)
      #expect(request.header("imgflow-seq") == "3-5")
      #expect(request.header("content-type") == "application/json")
    }
  }

  @Test func `What is refused is put aside with all that it takes to send it by hand`() async throws {
    let place = try TempPlace()
    let server = try LoopbackServer(script: ["/hook": [.status(422)]])
    let fault = try await sender(server, place).send(batch(.native, 0...0))
    #expect(fault?.code == "sink.rejected")
    #expect(server.requests.count == 3)
    let line = try #require(try JSONReader.read(SmallFiles.read(place.file("dead-letters.ndjson"))).asMap)
    #expect(line["id"] == "msg_R-hook-0-0" && line["code"] == "http.422")
    let body = try #require(line["body"]?.asString)
    #expect(Array(body.utf8) == server.requests.first?.body)
  }

  @Test func `A receiver that is gone is asked once`() async throws {
    let server = try LoopbackServer(script: ["/hook": [.status(410)]])
    let place = try TempPlace()
    await #expect {
      try await sender(server, place).send(batch(.native, 0...0))
    } throws: {
      Fault($0).code == "sink.gone"
    }
    #expect(server.requests.count == 1)
  }
}
