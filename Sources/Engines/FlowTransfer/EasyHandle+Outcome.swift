internal import CCurl
internal import FlowBase

extension EasyHandle {
  /// Where the hop that has just ended leads; nil where it has brought what was asked for.
  func redirected(_ transfer: Transfer, _ code: CURLcode) throws(Fault) -> Hop? {
    let host = transfer.hop.url.host
    if let fault { throw fault }
    // A status that is no success is the answer, however the words behind it ended.
    guard code == CURLE_OK || isDiscardCut || (answer.isComplete && answer.status >= 300) else {
      throw blockedFault ?? curlFault(code, transfer)
    }
    if answer.isSuccess {
      if let fault = truncatedStreamFault ?? missedRangeFault(transfer) { throw fault }
      return nil
    }
    if answer.status == 304, transfer.hop.isConditional(in: transfer.request) { return nil }
    if let location = answer.redirect {
      return try transfer.hop.following(location, status: answer.status, in: transfer.request)
    }
    throw StatusFault.make(answer.status, retryAfter: answer.retryAfter, host: host, now: SystemTime().wall())
  }

  /// Whether the head has come of an answer whose body nobody wants.
  var isRefusal: Bool { answer.isComplete && answer.status >= 300 && fault == nil }

  /// The fault of a part that did not bring what its Content-Range says; nobody else holds them against each other.
  private func missedRangeFault(_ transfer: Transfer) -> Fault? {
    guard answer.isContinuation, let range = answer.contentRange, transfer.bytes != range.total else { return nil }
    let host = transfer.hop.url.host
    if transfer.bytes < range.total {
      return Fault(
        "body.truncated", .transient, "\(host) sent \(transfer.bytes) of \(range.total) bytes", httpStatus: 206,
        host: host)
    }
    return Fault(
      "range.mismatch", .transient, "\(host) sent more than the part that was asked for", httpStatus: 206, host: host)
  }

  func result(of transfer: Transfer) -> TransferResult {
    var result = TransferResult(finalURL: transfer.hop.url.text, status: answer.status)
    result.bytes = transfer.bytes
    result.prefix = transfer.prefix
    result.wireBytes = transfer.wireBytes
    result.etag = answer.etag
    result.lastModified = answer.lastModified
    result.contentType = answer.contentType
    result.contentLength = answer.contentLength
    result.contentEncoding = answer.contentEncoding
    result.redirects = transfer.hop.number
    result.remoteAddress = text(CURLINFO_PRIMARY_IP)
    result.version =
      switch long(CURLINFO_HTTP_VERSION) {
      case Int(CURL_HTTP_VERSION_1_0): "1.0"
      case Int(CURL_HTTP_VERSION_2_0): "2"
      default: "1.1"
      }
    result.reusedConnection = long(CURLINFO_NUM_CONNECTS) == 0
    result.times = TransferResult.Times(
      name: time(CURLINFO_NAMELOOKUP_TIME_T), connect: time(CURLINFO_CONNECT_TIME_T),
      secure: time(CURLINFO_APPCONNECT_TIME_T), firstByte: time(CURLINFO_STARTTRANSFER_TIME_T),
      total: time(CURLINFO_TOTAL_TIME_T))
    return result
  }

  /// How far the present hop has come.
  func phase(of transfer: Transfer) -> Phase {
    let sent = time(CURLINFO_PRETRANSFER_TIME_T)
    var limits = transfer.request.limits
    // What it has of a limit of ours comes in pieces; a window begins anew where it was held.
    if let share = transfer.leastShare { limits.minimumSpeed = min(limits.minimumSpeed, max(1, share / 4)) }
    let step: Phase.Step =
      if transfer.hasAnswer {
        .body
      } else if sent > .zero {
        .waiting
      } else if long(CURLINFO_LOCAL_PORT) > 0 {
        // The time of the connection itself is only told once TLS stands as well.
        .secure
      } else if time(CURLINFO_NAMELOOKUP_TIME_T) > .zero || openedSockets > 0 {
        .connect
      } else {
        .name
      }
    return Phase(
      step: step, limits: limits, start: transfer.start, stepStart: transfer.hopStart + sent,
      lastByte: transfer.lastByte, windowStart: transfer.speedWindow.start,
      windowBytes: transfer.bytes - transfer.speedWindow.bytes)
  }

  private func curlFault(_ code: CURLcode, _ transfer: Transfer) -> Fault {
    CurlFault(
      code: code, host: transfer.hop.url.host, words: words, systemError: Int32(clamping: long(CURLINFO_OS_ERRNO)),
      certificate: long(CURLINFO_SSL_VERIFYRESULT), proxyStatus: long(CURLINFO_HTTP_CONNECTCODE),
      step: phase(of: transfer).step, hasHead: answer.isComplete,
      connectLimit: transfer.request.limits.connect
    ).fault
  }
}
