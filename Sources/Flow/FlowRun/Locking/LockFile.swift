public import FlowBase

/// What a manifest's items were when they were locked: a line an item, fit for review and merges.
public struct LockFile: Sendable, Hashable {
  /// One item, as it was.
  public struct Entry: Sendable, Hashable {
    /// The id of its source.
    public var source: String
    /// Its key within the source.
    public var key: String
    /// Its address, without values that are secret; nil where it has none.
    public var url: String?
    /// The digest of its bytes.
    public var digest: Digest
    /// How many they were.
    public var size: Int
    /// Their media type, where known.
    public var media: String?
    /// The server's own name for that version.
    public var etag: String?
    /// Where redirects led to.
    public var finalURL: String?

    /// An entry.
    public init(
      source: String, key: String, url: String?, digest: Digest, size: Int, media: String? = nil, etag: String? = nil,
      finalURL: String? = nil
    ) {
      self.source = source
      self.key = key
      self.url = url
      self.digest = digest
      self.size = size
      self.media = media
      self.etag = etag
      self.finalURL = finalURL
    }

    /// The item's name, `source/key`.
    public var name: String { source + "/" + key }
  }

  /// The entries, by the names of their items.
  public private(set) var entries: [String: Entry] = [:]

  /// An empty lock.
  public init() {}

  /// The lock file of a manifest.
  public static func path(of manifest: String) -> String { manifest + ".lock" }

  /// Takes an entry in; one of the same item is replaced.
  public mutating func set(_ entry: Entry) { entries[entry.name] = entry }
}

// MARK: Text

extension LockFile {
  private static let version = 1

  /// Reads a lock; `path` is for messages.
  public init(parsing bytes: [UInt8], path: String) throws(Fault) {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard let first = lines.first, let head = (try? JSONReader.read(first))?.asMap,
      let version = head["imgflow_lock"]?.asInt
    else {
      throw LockFile.damage(path, 1, "its first line is not {\"imgflow_lock\":1}")
    }
    guard version == LockFile.version else {
      throw LockFile.damage(path, 1, "it was written by another version of imgflow (form \(version))")
    }
    for (place, line) in lines.enumerated().dropFirst() where !line.isEmpty {
      if line.starts(with: Array("<<<<<<<".utf8)) || line.starts(with: Array(">>>>>>>".utf8)) {
        throw LockFile.damage(path, place + 1, "a merge has left both sides in it")
      }
      guard let map = (try? JSONReader.read(line))?.asMap, let entry = LockFile.entry(map) else {
        throw LockFile.damage(path, place + 1, "the line is no entry of a lock")
      }
      if entries[entry.name] != nil { throw LockFile.damage(path, place + 1, "\(entry.name) stands there twice") }
      set(entry)
    }
  }

  private static func damage(_ path: String, _ line: Int, _ words: String) -> Fault {
    Fault(
      "lock.unreadable", .config,
      "\(path):\(line): \(words); mend it, or remove it and write a new one with `imgflow lock`")
  }

  private static func entry(_ map: Fields) -> Entry? {
    guard let source = map["source"]?.asString, let key = map["key"]?.asString, let size = map["size"]?.asInt,
      let digest = map["digest"]?.asString.flatMap({ Digest(.sha256, parsing: $0) })
    else { return nil }
    return Entry(
      source: source, key: key, url: map["url"]?.asString, digest: digest, size: size, media: map["media"]?.asString,
      etag: map["etag"]?.asString, finalURL: map["final_url"]?.asString)
  }

  /// The lock as it is written: sorted, so that two people who lock the same write the same.
  public var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.value(.map(["imgflow_lock": .int(LockFile.version)]))
    writer.verbatim(UInt8(ascii: "\n"))
    let sorted = entries.values.sorted {
      ($0.source.utf8Bytes, $0.key.utf8Bytes) < ($1.source.utf8Bytes, $1.key.utf8Bytes)
    }
    for entry in sorted {
      writer.value(
        .map(
          Fields(
            names: ["source", "key", "url", "digest", "size", "media", "etag", "final_url"],
            values: [
              .string(entry.source), .string(entry.key), .text(entry.url), .string(entry.digest.integrity),
              .int(entry.size), .text(entry.media), .text(entry.etag), .text(entry.finalURL),
            ])))
      writer.verbatim(UInt8(ascii: "\n"))
    }
    return writer.bytes
  }

  /// The digest of the lock as it is written.
  public var digest: Digest { Digest.sha256(of: bytes) }
}

/// Bytes that are compared as numbers, so that the order is the same everywhere.
private struct ByteOrder: Comparable {
  let bytes: [UInt8]
  static func < (left: ByteOrder, right: ByteOrder) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}

extension String {
  fileprivate var utf8Bytes: ByteOrder { ByteOrder(bytes: Array(utf8)) }
}

extension Value {
  fileprivate static func text(_ text: String?) -> Value { text.map(Value.string) ?? .null }
}
