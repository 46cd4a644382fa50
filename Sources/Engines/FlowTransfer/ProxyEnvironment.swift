internal import CCurl
internal import FlowBase
internal import Glibc

/// The proxies that the environment names, by the customs of `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`.
struct ProxyEnvironment: Sendable, Hashable {
  var http = ""
  var https = ""
  var exceptions: [String] = []

  /// None.
  init() {}

  /// What an environment says; `HTTP_PROXY` in capitals does not count, as a CGI's client can set it.
  init(_ lookup: (String) -> String?) {
    let all = lookup("all_proxy") ?? lookup("ALL_PROXY") ?? ""
    http = lookup("http_proxy") ?? all
    https = lookup("https_proxy") ?? lookup("HTTPS_PROXY") ?? all
    let list = lookup("no_proxy") ?? lookup("NO_PROXY") ?? ""
    exceptions = list.lowercased().split { $0 == "," || $0 == " " }.map(String.init)
  }

  /// The environment of this process.
  static let ofProcess = ProxyEnvironment { name in
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  /// The proxy for an address; an empty text where there is none.
  func proxy(for url: URLParts) -> String {
    let proxy = url.scheme == "https" ? https : http
    return proxy.isEmpty || isExempt(url) ? "" : proxy
  }

  private func isExempt(_ url: URLParts) -> Bool {
    exceptions.contains { entry in
      if entry == "*" { return true }
      if let address = NetworkAddress(parsing: url.host), let range = AddressRange(parsing: entry) {
        return range.contains(address)
      }
      var name = entry[...]
      if let colon = name.lastIndex(of: ":"), let port = Int(name[name.index(after: colon)...]) {
        guard port == url.port else { return false }
        name = name[..<colon]
      }
      while name.first == "." || name.first == "*" { name = name.dropFirst() }
      return !name.isEmpty && (url.host == name || url.host.hasSuffix("." + name))
    }
  }
}
