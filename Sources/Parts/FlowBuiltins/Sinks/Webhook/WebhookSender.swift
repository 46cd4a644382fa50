internal import FlowBase
internal import FlowEvents
internal import FlowParts
internal import FlowTransfer

/// Posts batches, one at a time, and tries again as `WebhookRetries` says.
final class WebhookSender: Sendable {
  private let url: String
  private let keys: [WebhookKey]
  private let request: TransferRequest
  private let waits: [Interval]
  private let deadLetters: DeadLetters
  private let context: SinkContext
  private let wait: @Sendable (Interval) async throws -> Void
  /// Made with the first batch: a run that tells nothing needs no threads for it.
  private let engine = Guarded<TransferEngine?>(nil)

  init(
    _ config: Config, _ context: SinkContext, wait: @escaping @Sendable (Interval) async throws -> Void
  ) throws(Fault) {
    url = config.text("url") ?? ""
    var keys: [WebhookKey] = []
    for text in config.texts("secret") { keys.append(try WebhookKey(parsing: text)) }
    self.keys = keys
    self.context = context
    self.wait = wait
    waits = (config.value("waits")?.asList ?? []).compactMap { value in
      (value.asInt ?? FieldType.interval.convert(value)?.asInt).map { Interval(nanoseconds: $0) }
    }
    deadLetters = DeadLetters(folder: context.keep ?? context.folder)
    let table = context.settings.hosts
    var request = TransferRequest(url: url, method: .post, addresses: AddressPolicy(context.settings)) { host, port in
      HostWay(HostSettings.resolve(table, host: host, port: port))
    }
    request.redirects = 0
    let timeout = config.interval("timeout") ?? .seconds(15)
    request.limits.connect = min(timeout, request.limits.connect)
    request.limits.firstByte = timeout
    request.limits.idle = timeout
    request.limits.total = timeout
    request.limits.minimumSpeed = 0
    request.headers = (config.value("headers")?.asMap ?? [:]).map { TransferHeader($0.0, $0.1.text) }
    if let host = HostSettings.ofHost(in: url, table) { request.credentials = Credentials(host) }
    self.request = request
  }

  /// Delivers a batch or puts it aside, however long that takes; what it was put aside for is given back.
  func send(_ batch: EventBatch) async throws -> Fault? {
    let form = WebhookForm(rawValue: batch.form) ?? .standard
    let body = form.body(of: batch)
    var retries = WebhookRetries(waits: waits)
    while true {
      let fault: Fault
      do throws(Fault) {
        try await post(batch, body, form.mediaType(of: batch))
        return nil
      } catch {
        fault = error
      }
      try Task.checkCancellation()
      if fault.kind == .cancelled { throw fault }
      switch retries.handle(fault, chance: Double.random(in: 0...1)) {
      case .again(let span):
        context.log(.debug, "webhook \(context.id): \(fault.message) (\(fault.code)); again in \(span.words)")
        try await wait(span)
      case .putAside: return try putAside(batch, body, fault)
      case .stop: throw given(up: fault)
      }
    }
  }

  private func post(_ batch: EventBatch, _ body: [UInt8], _ mediaType: String) async throws(Fault) {
    let timestamp = SystemTime().wall().microseconds / 1_000_000
    let id = "msg_\(batch.id)"
    var request = request
    request.body = body
    request.headers += [
      TransferHeader("Content-Type", mediaType), TransferHeader("webhook-id", id),
      TransferHeader("webhook-timestamp", "\(timestamp)"),
      TransferHeader("imgflow-seq", "\(batch.first)-\(batch.last)"),
    ]
    if !keys.isEmpty {
      let signature = WebhookKey.header(keys, body, id: id, timestamp: timestamp)
      request.headers.append(TransferHeader("webhook-signature", signature))
    }
    let engine = engine.withLock { engine in
      if let engine { return engine }
      let made = TransferEngine(loops: 1, idleConnections: 1)
      engine = made
      return made
    }
    _ = try await engine.perform(request, into: Unread())
  }

  private func putAside(_ batch: EventBatch, _ body: [UInt8], _ fault: Fault) throws(Fault) -> Fault {
    try deadLetters.add(batch, body, url: Redaction.url(url), fault: fault)
    let words =
      "\(fault.message), three times: \(batch.events.count) events were put aside in \(deadLetters.path)"
    context.log(.warn, "webhook \(context.id): \(words)")
    return Fault("sink.rejected", .permanent, words, httpStatus: fault.httpStatus, host: fault.host)
  }

  private func given(up fault: Fault) -> Fault {
    guard fault.httpStatus == 410 else { return fault }
    return Fault(
      "sink.gone", .permanent,
      "\(fault.message): this run sends nothing more to it; what is told waits for the next run, or for `imgflow flush`",
      httpStatus: 410, host: fault.host)
  }

  /// Takes the body of an answer that nobody reads.
  private final class Unread: ByteSink, Sendable {
    func write(_ bytes: UnsafeRawBufferPointer) throws(Fault) {}
  }
}
