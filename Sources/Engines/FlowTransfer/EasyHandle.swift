internal import CCurl
internal import FlowBase
internal import Glibc

/// A handle of libcurl with what its callbacks need; used again and again, by one loop's thread only.
@safe final class EasyHandle {
  let handle: UnsafeMutableRawPointer
  private let errorText: UnsafeMutablePointer<CChar>
  private var headerList: UnsafeMutablePointer<curl_slist>?
  private var headers: [TransferHeader] = []
  private var addressList: UnsafeMutablePointer<curl_slist>?
  private var trust = Trust()

  private let clock: TurnClock

  /// The transfer that it works for.
  var transfer: Transfer?
  /// What the current hop has brought so far.
  var answer = Answer()
  /// Set by a callback that ends the transfer.
  var fault: Fault?
  /// Whether a body that nobody wants was cut off because it was long.
  var isDiscardCut = false
  /// An address that the policy has refused during this hop.
  var refusedAddress: NetworkAddress?
  /// How many sockets were opened during this hop.
  var openedSockets = 0
  /// Whether the hop has a connection on which its request can be sent; before that libcurl tells of the hop before.
  private var hasConnection = false
  /// Whether the connection goes to a proxy, whose own address is not asked about.
  private var isProxied = false
  private var hop: Hop?
  private var decoder: BodyDecoder?
  /// Whether no file descriptor was left for a socket of this hop.
  private(set) var isStarved = false
  private var headBytes = 0
  private var discarded = 0
  /// How many bytes of the body have come in this turn.
  private var inTurn = 0
  /// Whether it lets others go first, until the loop `resume`s it.
  var isResting = false

  /// What was found to be allowed: the next request on the connection mostly asks for the same.
  private struct Approval: Equatable {
    var peer: String
    var host: String
    var port: Int
    var policy: AddressPolicy
  }

  private var approval: Approval?

  /// Whose certificates are trusted, and who we are, for a hop.
  private struct Trust: Equatable {
    var ca: String?
    var certificate: String?
    var key: String?
  }

  /// The most bytes that all headers of an answer may take.
  static let headLimit = 128 * 1024
  /// The most bytes that are read of a body that nobody wants, so that its connection can be used again.
  static let discardLimit = 64 * 1024
  /// How often progress is told.
  static let progressInterval = Interval.milliseconds(100)

  init?(share: UnsafeMutableRawPointer?, clock: TurnClock) {
    self.clock = clock
    guard let handle = unsafe curl_easy_init() else { return nil }
    unsafe self.handle = unsafe handle
    unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    unsafe set(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(errorText))
    unsafe set(CURLOPT_SHARE, share)
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_NOPROGRESS, 1)
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    set(CURLOPT_TCP_NODELAY, 1)
    set(CURLOPT_BUFFERSIZE, EasyHandle.piece)
    set(CURLOPT_HTTP09_ALLOWED, 0)
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    // Who goes past the proxy is decided before; libcurl would let `no_proxy` speak against the manifest's.
    set(CURLOPT_NOPROXY, "")
    let me = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe set(CURLOPT_PRIVATE, me)
    unsafe set(CURLOPT_WRITEDATA, me)
    unsafe set(CURLOPT_HEADERDATA, me)
    unsafe set(CURLOPT_OPENSOCKETDATA, me)
    unsafe set(CURLOPT_PREREQDATA, me)
    _ = unsafe imgflow_set_bytes_callback(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
      guard let easy = unsafe EasyHandle.of(context), let bytes = unsafe bytes else { return 0 }
      if easy.mustWait() { return Int(CURL_WRITEFUNC_PAUSE) }
      return unsafe easy.take(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
    }
    _ = unsafe imgflow_set_bytes_callback(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
      guard let easy = unsafe EasyHandle.of(context), let bytes = unsafe bytes else { return 0 }
      let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
      return unsafe easy.take(line: line) ? size * count : 0
    }
    _ = unsafe imgflow_set_socket_callback(handle) { context, _, address in
      guard let easy = unsafe EasyHandle.of(context), let address = unsafe address else { return -1 }
      return unsafe easy.open(address)
    }
    _ = unsafe imgflow_set_request_callback(handle) { context, peer, _, _, _ in
      guard let easy = unsafe EasyHandle.of(context), let peer = unsafe peer else { return CURL_PREREQFUNC_ABORT }
      return unsafe easy.mayAsk(String(cString: peer)) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }
  }

  deinit {
    unsafe curl_easy_cleanup(handle)
    unsafe curl_slist_free_all(headerList)
    unsafe curl_slist_free_all(addressList)
    unsafe errorText.deallocate()
  }

  /// The handle that a callback's context or a `CURLOPT_PRIVATE` stands for.
  static func of(_ context: UnsafeMutableRawPointer?) -> EasyHandle? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
  }

  /// How many bytes are taken from a connection at once; libcurl makes room for one more.
  ///
  /// With 32 KiB, bodies of 300 kB took half as many calls of the system again; more than this brings nothing.
  private static let piece = 128 * 1024 - 1
  /// How many bytes are taken from a connection before the others have their turn.
  private static let turnBytes = 512 * 1024

  /// libcurl's words about the last failure.
  var words: String { unsafe String(cString: errorText) }

  // MARK: Setting up

  /// Gets ready for a hop; the addresses are those of its host's name, nil where it needs none.
  func prepare(
    _ hop: Hop, of transfer: Transfer, way: HostWay, proxy: String, addresses: [NetworkAddress]?
  ) throws(Fault) {
    let request = transfer.request
    self.transfer = transfer
    self.hop = hop
    answer = Answer()
    fault = nil
    isDiscardCut = false
    refusedAddress = nil
    openedSockets = 0
    hasConnection = false
    headBytes = 0
    discarded = 0
    isStarved = false
    isProxied = !proxy.isEmpty
    decoder = nil
    unsafe errorText.pointee = 0
    if isProxied { try checkLiteralTarget(hop, policy: request.addresses) }

    let secrets = hop.hasCrossed ? Credentials() : request.credentials
    set(CURLOPT_URL, hop.url.adding(query: secrets.query))
    set(addresses: addresses, of: hop.url)
    let cookie = hop.hasCrossed ? nil : transfer.jar?.header(for: hop.url)
    try set(headers: hop.headers(of: request, way: way, cookie: cookie))
    switch hop.method {
    case .get: set(CURLOPT_HTTPGET, 1)
    case .head: set(CURLOPT_NOBODY, 1)
    case .post:
      set(CURLOPT_POST, 1)
      let body = request.body ?? []
      _ = unsafe imgflow_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
      unsafe body.withUnsafeBytes { bytes in
        unsafe set(
          CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress ?? UnsafeRawPointer(errorText)))
      }
    }
    set(CURLOPT_PROXY, proxy)
    set(trust: Trust(ca: way.ca, certificate: way.certificate, key: way.key))
    let version =
      switch way.version {
      case .automatic: CURL_HTTP_VERSION_2TLS
      case .one: CURL_HTTP_VERSION_1_1
      case .two: hop.url.scheme == "https" ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
      }
    set(CURLOPT_HTTP_VERSION, Int(version))
    set(CURLOPT_PIPEWAIT, way.version == .one || hop.url.scheme == "http" ? 0 : 1)
    // Halved by libcurl for each of several addresses, so that one dead address does not use up the whole time.
    set(CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(request.limits.connect.milliseconds.rounded(.up))))
  }

  /// Whether a connection is made for the hop, also where one is there that could take it.
  var takesNewConnection = false {
    didSet { if takesNewConnection != oldValue { set(CURLOPT_FRESH_CONNECT, takesNewConnection ? 1 : 0) } }
  }

  /// Lets go of the transfer, ready for another.
  func release() {
    transfer = nil
    isResting = false
    inTurn = 0
    hop = nil
    fault = nil
    decoder = nil
    answer = Answer()
  }

  private func set(headers: [TransferHeader]) {
    // Most requests to a host have the same.
    guard headers != self.headers else { return }
    self.headers = headers
    var list: UnsafeMutablePointer<curl_slist>?
    for header in headers {
      let line = header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)"
      if let longer = unsafe curl_slist_append(list, line) { unsafe list = unsafe longer }
    }
    unsafe set(CURLOPT_HTTPHEADER, UnsafeMutableRawPointer(list))
    unsafe curl_slist_free_all(headerList)
    unsafe headerList = unsafe list
  }

  /// Tells libcurl the addresses of a name, as many as the name has: it tries them in turn.
  private func set(addresses: [NetworkAddress]?, of url: URLParts) {
    guard let addresses else {
      if unsafe addressList != nil { unsafe set(CURLOPT_RESOLVE, UnsafeMutableRawPointer?.none) }
      return
    }
    let texts = addresses.map { $0.bytes.count == 16 ? "[\($0.text)]" : $0.text }.joined(separator: ",")
    // With the plus it is forgotten as if libcurl had resolved it itself.
    let list = unsafe curl_slist_append(nil, "+\(url.host):\(url.port):\(texts)")
    unsafe set(CURLOPT_RESOLVE, UnsafeMutableRawPointer(list))
    unsafe curl_slist_free_all(addressList)
    unsafe addressList = unsafe list
  }

  private func set(trust: Trust) {
    guard trust != self.trust else { return }
    self.trust = trust
    set(CURLOPT_CAINFO, trust.ca ?? EasyHandle.usualTrust)
    set(CURLOPT_SSLCERT, trust.certificate)
    set(CURLOPT_SSLKEY, trust.key)
  }

  /// The file of the certificates that libcurl trusts by itself.
  private static let usualTrust: String? = unsafe imgflow_usual_trust().map { unsafe String(cString: $0) }

  /// Behind a proxy nobody sees the address that is connected to, so the target counts as it is written.
  private func checkLiteralTarget(_ hop: Hop, policy: AddressPolicy) throws(Fault) {
    let written = hop.url.host == "localhost" ? "127.0.0.1" : hop.url.host
    guard let address = NetworkAddress(parsing: written) else { return }
    if !policy.allows(address, host: hop.url.host, port: hop.url.port) { throw EasyHandle.blocked(address, hop) }
  }

  static func blocked(_ address: NetworkAddress, _ hop: Hop) -> Fault {
    let name = hop.url.host == address.text ? address.text : "\(hop.url.host) is \(address.text), which"
    return Fault(
      "url.blocked", .permanent,
      "\(name) is a \(address.reach.rawValue) address; allow it under `hosts` if it is meant", host: hop.url.host)
  }

  /// The fault of an address that was refused, where no other address was left to try.
  var blockedFault: Fault? {
    guard let address = refusedAddress, let hop, openedSockets == 0 else { return nil }
    return EasyHandle.blocked(address, hop)
  }

  // MARK: Callbacks

  private func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    guard let hop, let transfer else { return -1 }
    if !isProxied {
      var bytes: [UInt8] = Array(repeating: 0, count: 16)
      let count = unsafe imgflow_address_bytes(address, &bytes)
      guard let peer = NetworkAddress(bytes: Array(bytes.prefix(count))) else { return -1 }
      if !transfer.request.addresses.allows(peer, host: hop.url.host, port: hop.url.port) {
        refusedAddress = peer
        return -1
      }
    }
    openedSockets += 1
    let socket = unsafe imgflow_open_socket(address)
    if socket < 0 && (errno == EMFILE || errno == ENFILE) { isStarved = true }
    return socket
  }

  /// Whether a connection that was opened for an earlier request may serve this one.
  private func mayAsk(_ peer: String) -> Bool {
    hasConnection = true
    guard openedSockets == 0, !isProxied, let hop, let transfer else { return true }
    let wanted = Approval(peer: peer, host: hop.url.host, port: hop.url.port, policy: transfer.request.addresses)
    if wanted == approval { return true }
    guard let address = NetworkAddress(parsing: peer) else { return false }
    if transfer.request.addresses.allows(address, host: hop.url.host, port: hop.url.port) {
      approval = wanted
      return true
    }
    fault = EasyHandle.blocked(address, hop)
    return false
  }

  private func take(line: UnsafeRawBufferPointer) -> Bool {
    guard let transfer else { return false }
    transfer.heard(at: clock.now)
    headBytes += line.count
    guard headBytes <= EasyHandle.headLimit else {
      fault = Fault(
        "header.too_large", .permanent, "the headers of the answer are longer than \(EasyHandle.headLimit) bytes",
        host: hop?.url.host)
      return false
    }
    // Trailers come behind the body and change nothing of what the head said.
    if answer.isComplete && transfer.hopBytes > 0 { return true }
    unsafe answer.take(line: line.assumingMemoryBound(to: UInt8.self))
    return answer.isComplete ? takeHead(of: transfer) : true
  }

  /// The head is whole: says whether the body may come.
  private func takeHead(of transfer: Transfer) -> Bool {
    transfer.hasAnswer = true
    // The time until now was that of the first byte.
    transfer.speedWindow = (clock.now, transfer.bytes)
    if let jar = transfer.jar, let hop, !hop.hasCrossed, !answer.cookies.isEmpty {
      jar.take(answer.cookies, from: hop.url)
    }
    if let coding = answer.transferCoding {
      fault = Fault(
        "encoding.unsupported", .permanent,
        "\(hop?.url.host ?? "") sends the body in the transfer coding `\(coding)`, which was not asked for",
        httpStatus: answer.status, host: hop?.url.host)
      return false
    }
    if let record = transfer.request.record {
      do throws(Fault) { try settle(record, transfer) } catch {
        fault = error
        return false
      }
    }
    if answer.isSuccess, !answer.isEncoded, hop?.method != .head,
      let limit = transfer.request.limits.maximumBytes, let length = answer.contentLength,
      length > limit - transfer.bytes
    {
      fault = tooLarge(limit)
      return false
    }
    if answer.isSuccess, let codings = answer.contentEncoding, hop?.method != .head {
      do throws(Fault) { decoder = try BodyDecoder(codings: codings, host: hop?.url.host ?? "") } catch {
        fault = error
        return false
      }
    }
    return true
  }

  /// Decides whether the body goes on where an earlier try ended, or begins anew.
  private func settle(_ record: ResumeRecord, _ transfer: Transfer) throws(Fault) {
    let offset = transfer.request.resumeAt
    if answer.status == 206, offset > 0 {
      guard record.fits(answer, after: offset) else {
        throw Fault(
          "range.mismatch", .transient, "the part that came is not what is missing", httpStatus: 206,
          host: hop?.url.host)
      }
      answer.isContinuation = true
      transfer.resume(at: offset, prefix: record.prefix)
    } else if answer.isSuccess {
      if offset > 0 { try transfer.request.restart?() }
      record.note(answer, isInsteadOfRest: offset > 0)
    }
  }

  /// The fault of a packed body that ended before its stream did.
  var truncatedStreamFault: Fault? {
    guard let decoder, let transfer, !decoder.isAtEnd else { return nil }
    let host = transfer.hop.url.host
    return Fault(
      "body.truncated", .transient,
      "the body from \(host) ended in the middle of its \(answer.contentEncoding ?? "") stream",
      httpStatus: answer.status, host: host)
  }

  /// Whether more has come than the bandwidth allows; the bytes come again once it is `resume`d.
  ///
  /// libcurl's own limit lets bursts of any length through where the server is near.
  private func mustWait() -> Bool {
    guard let transfer, let opening = transfer.bandwidth?.opening(for: transfer, at: clock.now) else { return false }
    transfer.isHeld = true
    clock.held.append((opening, transfer))
    return true
  }

  /// Goes on after `mustWait`, or once others have had their turn.
  func resume() {
    isResting = false
    unsafe curl_easy_pause(handle, CURLPAUSE_CONT)
  }

  /// Lets the other connections have their turn, and those that are to come, where enough has come.
  ///
  /// libcurl reads from one connection for as long as there is something, up to a hundred pieces: one file after the
  /// other would come, each from a host that could send them side by side. The streams of HTTP/2 are mixed by their host.
  private func restOften(_ count: Int) {
    inTurn += count
    guard inTurn >= EasyHandle.turnBytes else { return }
    inTurn = 0
    guard !isMultiplexed else { return }
    isResting = true
    clock.resting.append(self)
    unsafe curl_easy_pause(handle, CURLPAUSE_RECV)
  }

  private func take(body: UnsafeRawBufferPointer) -> Bool {
    // Where bytes were given out anew after a pause, libcurl goes on though they were not taken: nothing may follow them.
    guard fault == nil, let transfer else { return false }
    transfer.heard(at: clock.now)
    transfer.bandwidth?.took(body.count, by: transfer, at: clock.now)
    guard answer.isSuccess else {
      discarded += body.count
      isDiscardCut = discarded > EasyHandle.discardLimit
      return !isDiscardCut
    }
    do throws(Fault) {
      if let decoder {
        try unsafe decoder.update(body) { bytes throws(Fault) in try unsafe deliver(bytes, to: transfer) }
      } else {
        try unsafe deliver(body, to: transfer)
      }
      restOften(body.count)
      return true
    } catch {
      fault = error
      return false
    }
  }

  private func deliver(_ body: UnsafeRawBufferPointer, to transfer: Transfer) throws(Fault) {
    if let limit = transfer.request.limits.maximumBytes, transfer.bytes + body.count > limit { throw tooLarge(limit) }
    try unsafe transfer.sink.write(body)
    let missing = transfer.request.keptPrefix - transfer.prefix.count
    if missing > 0 {
      unsafe transfer.prefix.append(contentsOf: body.prefix(missing))
      transfer.request.record?.note(
        prefix: transfer.prefix, isWhole: transfer.prefix.count >= transfer.request.keptPrefix)
    }
    transfer.delivered(
      body.count, of: answer.isEncoded ? nil : answer.contentRange?.total ?? answer.contentLength, at: clock.now)
  }

  private func tooLarge(_ limit: Int) -> Fault {
    Fault(
      "body.too_large", .permanent, "the body is longer than \(ByteCount(limit).text)", httpStatus: answer.status,
      host: hop?.url.host)
  }

  // MARK: Options and facts

  func set(_ option: CURLoption, _ value: Int) { _ = unsafe imgflow_set_long(handle, option, value) }
  func set(_ option: CURLoption, _ value: String?) { _ = unsafe imgflow_set_text(handle, option, value) }
  func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) {
    _ = unsafe imgflow_set_pointer(handle, option, value)
  }
  func setSpeed(_ bytesPerSecond: Int) {
    _ = unsafe imgflow_set_offset(handle, CURLOPT_MAX_RECV_SPEED_LARGE, curl_off_t(bytesPerSecond))
  }

  func long(_ info: CURLINFO) -> Int {
    var value = 0
    _ = unsafe imgflow_get_long(handle, info, &value)
    return value
  }

  func offset(_ info: CURLINFO) -> Int {
    var value: curl_off_t = 0
    _ = unsafe imgflow_get_offset(handle, info, &value)
    return Int(value)
  }

  func text(_ info: CURLINFO) -> String? {
    var value: UnsafePointer<CChar>?
    _ = unsafe imgflow_get_text(handle, info, &value)
    return unsafe value.map { unsafe String(cString: $0) }
  }

  /// The local port of its connection, which tells connections apart; nil while it has none that is ready.
  var localPort: Int? {
    guard hasConnection else { return nil }
    let port = long(CURLINFO_LOCAL_PORT)
    return port > 0 ? port : nil
  }

  /// Whether the answer has come on a connection that carries several requests at once.
  var isMultiplexed: Bool { hasConnection && long(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0) }

  /// A time since the hop's start; zero while that point is not reached.
  func time(_ info: CURLINFO) -> Interval { Interval(nanoseconds: offset(info) * 1000) }
}
