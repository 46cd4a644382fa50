internal import FlowBase

/// A key that signs webhooks, as Standard Webhooks has it.
struct WebhookKey: Hashable {
  private let bytes: [UInt8]

  /// Reads a key in base64, with or without the prefix `whsec_`.
  init(parsing text: String) throws(Fault) {
    var digits = text.hasPrefix("whsec_") ? String(text.dropFirst("whsec_".count)) : text
    while digits.utf8.count % 4 != 0 { digits += "=" }
    guard let bytes = Base64.decode(digits), !bytes.isEmpty else {
      throw Fault(
        "config.sink", .config,
        "the signing key of the webhook is no base64; `openssl rand -base64 32` makes one, with or without `whsec_`")
    }
    self.bytes = bytes
  }

  /// The signature of a message that goes out at a time, in seconds since 1970.
  func signature(of body: [UInt8], id: String, timestamp: Int) -> String {
    let message = Array("\(id).\(timestamp).".utf8) + body
    return "v1," + Base64.encode(MessageCode.sha256(of: message, key: bytes))
  }

  /// The header of several keys: each signs, so that one can be replaced while receivers still know the other.
  static func header(_ keys: [WebhookKey], _ body: [UInt8], id: String, timestamp: Int) -> String {
    keys.map { $0.signature(of: body, id: id, timestamp: timestamp) }.joined(separator: " ")
  }
}
