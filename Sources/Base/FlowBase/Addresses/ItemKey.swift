/// The keys of items whose source names none.
public enum ItemKey {
  /// The first 16 hex digits of the SHA-256 over the source's id, a line feed, and the canonical address.
  public static func make(source: String, url: WebAddress) -> String { make(source: source, text: url.canonical) }

  /// The same over any text, such as the path of a file.
  public static func make(source: String, text: String) -> String {
    Hex.encode(Digest.sha256(of: source + "\n" + text).bytes.prefix(8))
  }
}
