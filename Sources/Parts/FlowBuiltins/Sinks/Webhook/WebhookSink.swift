internal import FlowBase
public import FlowEvents
public import FlowParts

/// Posts events to an address, signed, in batches, until they are taken.
public struct WebhookSink: SpooledSink {
  private let form: WebhookForm
  private let name: String
  /// Where the events wait, and what posts them.
  public let courier: Courier

  /// What is to be said of it.
  public static let part = SinkPart(
    PartSpec(
      name: "webhook", role: .sink, summary: "Posts events to an address, signed, in batches, until they are taken.",
      fields: [
        FieldSpec("url", .url, phase: .load, required: true, "Where to; redirects are not followed."),
        FieldSpec(
          "secret", .list(.string), phase: .load,
          "The key that signs, in base64, with or without `whsec_`; two sign twice, while one is being replaced."),
        FieldSpec("headers", .map(.string), phase: .load, "More request headers."),
        FieldSpec(
          "format", .choice(WebhookForm.allCases.map(\.rawValue)), phase: .load, default: "standard",
          "`standard` is `{ type, timestamp, data }`, `native` the event itself, `cloudevents` CloudEvents 1.0."),
        FieldSpec(
          "batch",
          .object([
            FieldSpec("events", .integer(1...1000), phase: .load, default: "100", "The most events."),
            FieldSpec("bytes", .byteCount, phase: .load, default: "256KiB", "The most bytes."),
            FieldSpec("wait", .interval, phase: .load, default: "2s", "How long the first waits for others."),
          ]), phase: .load, "How many events go out in one request."),
        FieldSpec("timeout", .interval, phase: .load, default: "15s", "The time for one try."),
        FieldSpec(
          "waits", .list(.interval), phase: .load, default: "[1s, 5s, 30s, 2m, 5m]",
          "The waits between tries, the last again and again; Retry-After is honoured."),
        FieldSpec(
          "spool",
          .object([
            FieldSpec("max", .byteCount, phase: .load, default: "256MB", "The most bytes that wait on disk.")
          ]), phase: .load, "What waits on disk while the receiver takes nothing."),
        FieldSpec(
          "drain", .interval, phase: .load, default: "30s",
          "How long the end of a run waits for deliveries; what is left goes out with the next run."),
      ], shorthand: "url",
      example: """
        sinks:
          - webhook: { url: https://ci.example.com/hooks/imgflow, secret: "${secret.HOOK}" }
            events: ["run.*", item.end]

        """)
  ) { (config, context) throws(Fault) in try WebhookSink(config, context) }

  init(
    _ config: Config, _ context: SinkContext, wait: @escaping @Sendable (Interval) async throws -> Void = pause
  ) throws(Fault) {
    form = config.text("format").flatMap(WebhookForm.init) ?? .standard
    name = context.settings.name
    let spool = EventSpool(
      folder: context.keep, run: context.run, sink: context.id, form: form.rawValue,
      limit: Self.inner("spool", "max", .byteCount, config) ?? 256_000_000)
    let sender = try WebhookSender(config, context, wait: wait)
    var rule = BatchRule()
    rule.events = Self.inner("batch", "events", .integer(1...1000), config) ?? rule.events
    rule.bytes = Self.inner("batch", "bytes", .byteCount, config) ?? rule.bytes
    rule.wait = Self.inner("batch", "wait", .interval, config).map { Interval(nanoseconds: $0) } ?? rule.wait
    courier = Courier(spool: spool, rule: rule, drain: config.interval("drain") ?? .seconds(30)) {
      try await sender.send($0)
    }
  }

  private static func inner(_ name: String, _ key: String, _ type: FieldType, _ config: Config) -> Int? {
    (config.value(name)?.asMap?[key]).flatMap { type.convert($0) }?.asInt
  }

  private static func pause(_ span: Interval) async throws {
    try await Task.sleep(nanoseconds: UInt64(max(0, span.nanoseconds)))
  }

  /// Appends the event in the form of the bodies.
  public func render(_ event: Event, into buffer: inout [UInt8]) { form.append(event, name: name, to: &buffer) }
  /// Nothing: what earlier runs have left is sent first, by the courier.
  public func open() async throws {}
  /// Nothing is held open.
  public func close() async throws {}
}
