import FlowBase
import FlowEvents
import Testing

private let head = #"{"imgflow":1,"seq":41,"type":"#
private let stamp = #","time":"2026-11-20T17:30:00.000000Z","ms":1204.331,"run":"01JD8Z6Q5W""#
private let item =
  #","item":"products/A1","index":16,"total":1000,"url":"https://h.example/a.jpg","source":"products","#
  + #""parent":"zip/7","stage":"fetch","attempt":2"#
private let error =
  #"{"code":"http.404","class":"permanent","message":"no such file","retryable":false,"http_status":404,"#
  + #""host":"h.example","attempt":2}"#
private let output =
  #""path":"a/256.webp","leg":{"w":256,"fmt":"webp"},"group":"cats","media":"image/webp","bytes":18231,"#
  + #""sha256":"9f","width":256,"height":192"#

/// The `data` of each sample, as it must be written.
private let expected: [EventType: String] = [
  .streamStart:
    #""schema":"1.0","tool":"0.1.0","manifest":"catalog.yaml","manifest_sha256":"9f86","resumed_from":"R0""#,
  .runStart: #""sources":["products"],"stages":["fetch","store"],"sinks":["log"],"output":"/out""#,
  .runState: #""from":"active","to":"paused","by":"ctl""#,
  .runProgress:
    #""items":{"total":10,"ok":3,"cached":1,"filtered":1,"failed":1,"cancelled":0},"bytes_in":5000,"#
    + #""items_per_s":2.5,"bytes_per_s":1000.123,"ratio":0.5,"eta_s":2,"in_flight":4,"stages":{}"#,
  .runEnd:
    #""result":"failure","exit":1,"items":{"total":1000,"ok":981,"cached":700,"filtered":12,"failed":7,"#
    + #""cancelled":0},"bytes_in":98213004,"errors":[{"code":"http.404","n":5},{"code":"tls.expired","n":2}],"#
    + #""events":{"stream.start":1,"item.progress":3100,"item.end":1000},"dropped":{"item.progress":12}"#,
  .sourceEnd: #""source":"products","items":10,"duplicates":1,"empty":false"#,
  .stageStart: #""stage":"thumbs","op":"resize""#,
  .stageEnd: #""stage":"thumbs","ok":8,"failed":1,"filtered":1,"ms":1500.000"#,
  .barrierStart: #""stage":"sheet","per":"group","group":"cats","items":7"#,
  .barrierEnd:
    #""stage":"sheet","per":"group","group":"cats","items":7,"status":"failed","outputs":[{"#
    + output + #"}],"error":"# + error,
  .itemStart: #""key":"A1","ratio":0,"why":"new""#,
  .itemProgress: #""bytes":524288,"size":1048576,"ratio":0.5"#,
  .itemRetry: #""attempt":2,"delay_ms":500.000,"error":"# + error,
  .itemError: #""error":"# + error,
  .itemEnd:
    #""status":"failed","cached":false,"shared":true,"attempts":2,"ratio":0.5,"outputs":[{"# + output
    + #"}],"error":"# + error
    + #","reason":"gone","final_url":null,"stages":[{"stage":"fetch","ms":12.000,"cached":true}]"#,
  .pluginStart: #""plugin":"acme.crop","version":"1.2","pid":77"#,
  .pluginCrash: #""plugin":"acme.crop","code":1,"signal":11,"stderr":"oh \"no\"\n""#,
  .pluginNoise: #""plugin":"acme.crop","line":"hello","n":3"#,
  .output: output,
  .sinkError: #""sink":"hook","error":"# + error + #","missed_from":9"#,
  .sinkDropped: #""sink":"hook","type":"item.progress","n":12"#,
  .control: #""verb":"pause","scope":"run","by":"ctl","accepted":true,"message":"paused""#,
  .log: #""level":"warn","message":"slow""#,
  .diagnostic:
    #""severity":"error","code":"E0103","message":"unknown key `widht` in `resize`","file":"catalog.yaml","#
    + #""line":31,"column":15,"length":5,"hint":"did you mean `width`?""#,
]

@Suite struct EncodingTests {
  @Test func `There is a sample of every type`() {
    #expect(Samples.payloads.map(\.type) == EventType.allCases)
  }

  @Test(arguments: Samples.payloads)
  func `Every type is written to the letter`(payload: Payload) throws {
    let subject = payload.type.isAboutItem || payload.type == .output ? item : ""
    let data = try #require(expected[payload.type])
    let line = "\(head)\"\(payload.type.rawValue)\"\(stamp)\(subject),\"data\":{\(data)}}"
    #expect(NDJSON.line(Samples.event(payload)) == line)
  }

  @Test(arguments: Samples.payloads)
  func `Every key that is written stands in the schema's table, in the same order`(payload: Payload) throws {
    let line = try JSONReader.read(Array(NDJSON.line(Samples.event(payload)).utf8))
    let data = try #require(line.asMap?["data"]?.asMap)
    #expect(data.names == payload.type.fields.map(\.name))
    for field in payload.type.fields { check(data[field.name] ?? .null, field) }
  }

  private func check(_ value: Value, _ field: DataField) {
    if value.isNull { #expect(field.isNullable, "\(field.name)") } else { check(value, field.kind, field.name) }
  }

  private func check(_ value: Value, _ kind: DataField.Kind, _ name: String) {
    switch kind {
    case .string: #expect(value.asString != nil, "\(name)")
    case .integer: #expect(value.asInt != nil, "\(name)")
    case .number: #expect(value.asDouble != nil, "\(name)")
    case .ratio: #expect((0...1).contains(value.asDouble ?? -1), "\(name)")
    case .boolean: #expect(value.asBool != nil, "\(name)")
    case .word(let words): #expect(words.contains(value.asString ?? ""), "\(name)")
    case .free, .counts: #expect(value.asMap != nil, "\(name)")
    case .list(let element): for each in value.asList ?? [] { check(each, element, name) }
    case .object(let fields):
      #expect(value.asMap?.names == fields.map(\.name), "\(name)")
      for field in fields { check(value.asMap?[field.name] ?? .null, field) }
    }
  }

  @Test func `What is unknown is null, and what does not apply has no key`() {
    let subject = ItemSubject(item: "s/1", index: 1, source: "s")
    let event = Event(
      seq: 0, time: WallTime(microseconds: 0), elapsed: .zero, run: "R", subject: subject,
      payload: .itemProgress(.init(bytes: 1, size: nil, ratio: nil)))
    #expect(
      NDJSON.line(event)
        == #"{"imgflow":1,"seq":0,"type":"item.progress","time":"1970-01-01T00:00:00.000000Z","ms":0.000,"run":"R","#
        + #""item":"s/1","index":1,"total":null,"url":null,"source":"s","data":{"bytes":1,"size":null,"ratio":null}}"#)
  }

  @Test func `A line stays one line, whatever a name holds`() {
    var bytes: [UInt8] = []
    NDJSON.append(Samples.event(.log(.init(.info, "a\nb\r\u{0}\u{2028}\"\\"))), to: &bytes)
    #expect(bytes.filter { $0 == 0x0A }.count == 1)
    #expect(bytes.last == 0x0A)
  }

  @Test func `The schema is JSON, has a rule for every type, and names the words of each choice`() throws {
    let schema = try JSONReader.read(Array(EventSchema.json.utf8))
    #expect(schema == EventSchema.schema)
    let rules = try #require(schema.asMap?["allOf"]?.asList)
    #expect(rules.count == EventType.allCases.count)
    #expect(schema.asMap?["$schema"]?.asString == "http://json-schema.org/draft-07/schema#")
  }

  @Test func `Only progress may be replaced, and only lines for debugging dropped`() {
    #expect(EventType.allCases.filter { $0.delivery == .newest } == [.runProgress, .itemProgress])
    #expect(Samples.event(.log(.init(.debug, ""))).delivery == .droppable)
    #expect(Samples.event(.log(.init(.info, ""))).delivery == .kept)
    #expect(EventType.allCases.allSatisfy { !$0.summary.isEmpty && $0.summary.hasSuffix(".") })
  }
}
