internal import CCurl
internal import FlowBase
internal import Glibc

/// What libcurl's failure means in our own codes.
struct CurlFault: Sendable {
  var code: CURLcode
  var host: String
  /// libcurl's own words.
  var words: String
  /// The system's error behind it; 0 where there was none.
  var systemError: Int32 = 0
  /// OpenSSL's verdict about the certificate.
  var certificate = 0
  /// The status of a proxy's answer to CONNECT.
  var proxyStatus = 0
  /// How far the hop had come.
  var step = Phase.Step.connect
  var hasHead = false
  var connectLimit = Interval.zero

  var fault: Fault {
    switch code {
    case CURLE_URL_MALFORMAT:
      return make("url.malformed", .permanent, "the address of \(host) is malformed")
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      return make("dns.temporary", .transient, "a name could not be resolved")
    case CURLE_COULDNT_CONNECT: return connectFault
    case CURLE_OPERATION_TIMEDOUT: return Phase.connectFault(step, connectLimit, host: host)
    case CURLE_PARTIAL_FILE: return truncated("ended before its announced length")
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER:
      return make("tls.handshake", .transient, "the TLS handshake with \(host) failed")
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
      return certificateFault
    case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE:
      return make("config.tls", .config, "a certificate or key for \(host) cannot be used")
    case CURLE_BAD_CONTENT_ENCODING: return truncated("has a transfer coding that cannot be undone")
    case CURLE_OUT_OF_MEMORY where isTalking && !hasHead:
      // What libcurl says of a single header that is longer than it takes.
      return make("header.too_large", .permanent, "a header of the answer is too long")
    case CURLE_PROXY: return make("net.proxy", .transient, "the proxy on the way to \(host) failed")
    case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_WRITE_ERROR:
      if proxyStatus >= 300 {
        return StatusFault.make(proxyStatus, retryAfter: nil, host: "the proxy", now: WallTime(microseconds: 0))
      }
      return hasHead
        ? truncated("broke off") : make("net.reset", .transient, "\(host) closed the connection without an answer")
    case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL:
      return make("net.protocol", .permanent, "\(host) does not answer in HTTP")
    default: return make("net.failed", .transient, "the request to \(host) failed (\(code.rawValue))")
    }
  }

  private var isTalking: Bool { step == .waiting || step == .body }

  private var connectFault: Fault {
    switch systemError {
    case ETIMEDOUT: Phase.connectFault(.connect, connectLimit, host: host)
    case ENETUNREACH, EHOSTUNREACH, ENETDOWN:
      make("net.unreachable", .transient, "there is no way to \(host) from here")
    case EMFILE, ENFILE:
      make("net.descriptors", .transient, "no file descriptor is left for a connection to \(host)")
    default: Fault("net.refused", .transient, "\(host) refused the connection", host: host)
    }
  }

  private var certificateFault: Fault {
    // X509_V_ERR_CERT_HAS_EXPIRED
    certificate == 10
      ? make("tls.expired", .auth, "the certificate of \(host) has expired")
      : make("tls.untrusted", .auth, "the certificate of \(host) is not trusted")
  }

  private func truncated(_ what: String) -> Fault {
    make("body.truncated", .transient, "the body from \(host) \(what)")
  }

  private func make(_ code: String, _ kind: FaultClass, _ message: String) -> Fault {
    Fault(code, kind, words.isEmpty ? message : "\(message): \(words)", host: host)
  }
}
