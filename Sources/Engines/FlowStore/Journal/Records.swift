public import FlowBase

/// An item's number in the journal; it is given once and never again.
public typealias ItemID = Int

/// How an item stands.
public enum ItemStatus: Int, Sendable, Hashable, CaseIterable {
  /// Taken up, and not ended.
  case running = 0
  case ok = 1
  case filtered = 2
  case failed = 3
  case cancelled = 4

  /// The word that events and commands use.
  public var name: String {
    switch self {
    case .running: "running"
    case .ok: "ok"
    case .filtered: "filtered"
    case .failed: "failed"
    case .cancelled: "cancelled"
    }
  }
}

/// What the journal knows of an item.
public struct ItemRecord: Sendable, Hashable {
  /// Its number, from `JournalReader.item` or `Journal.makeItemID`.
  public var id: ItemID
  /// Its source's number, from `Journal.register`.
  public var source: Int
  /// Its key, unique within the source.
  public var key: String
  /// Its place in the source, from 1.
  public var index: Int
  /// Its address without secrets.
  public var url: String?
  /// How it stands.
  public var status: ItemStatus
  /// The number of the run that saw it last.
  public var run: Int
  /// A digest of everything that its result depends on.
  public var fingerprint: [UInt8]
  /// What is needed to tell its end again.
  public var facts: StoredFields
  /// The item that a stage made it from.
  public var parent: ItemID?
  /// Why it failed.
  public var fault: Fault?

  /// A record.
  public init(
    id: ItemID, source: Int, key: String, index: Int, url: String? = nil, status: ItemStatus, run: Int,
    fingerprint: [UInt8] = [], facts: StoredFields = [:], parent: ItemID? = nil, fault: Fault? = nil
  ) {
    self.id = id
    self.source = source
    self.key = key
    self.index = index
    self.url = url
    self.status = status
    self.run = run
    self.fingerprint = fingerprint
    self.facts = facts
    self.parent = parent
    self.fault = fault
  }
}

/// What a stage made of a leg of an item.
public struct ResultRecord: Sendable, Hashable {
  /// A temporary file that is kept for later stages or runs.
  public struct Kept: Sendable, Hashable {
    /// Its name in the temporary folder.
    public var name: String
    /// How many bytes it holds.
    public var bytes: Int
    /// Their SHA-256.
    public var sha256: Digest

    /// A kept file.
    public init(name: String, bytes: Int, sha256: Digest) {
      self.name = name
      self.bytes = bytes
      self.sha256 = sha256
    }
  }

  /// The item.
  public var item: ItemID
  /// The stage and leg, from `Journal.register`.
  public var node: Int
  /// How it ended.
  public var status: ItemStatus
  /// The number of the run that made it.
  public var run: Int
  /// What the result depends on, part by part, so that a miss can be explained.
  public var parts: StoredFields
  /// The item fields that the stage set, and what else is needed to go on from here.
  public var fields: StoredFields
  /// The bytes, where they are kept.
  public var kept: Kept?

  /// A record.
  public init(
    item: ItemID, node: Int, status: ItemStatus = .ok, run: Int, parts: StoredFields = [:], fields: StoredFields = [:],
    kept: Kept? = nil
  ) {
    self.item = item
    self.node = node
    self.status = status
    self.run = run
    self.parts = parts
    self.fields = fields
    self.kept = kept
  }
}

/// Whose an output is: a leg of an item, or a stage that gathers a group or the run.
public struct OutputOwner: Sendable, Hashable {
  /// The item; 0 for a stage that gathers.
  public var item: ItemID
  /// The stage and leg.
  public var node: Int
  /// The group's value as text, for a stage that gathers; empty for the whole run.
  public var group: String?

  /// A leg of an item.
  public static func item(_ item: ItemID, node: Int) -> OutputOwner {
    OutputOwner(item: item, node: node, group: nil)
  }
  /// A stage that gathers.
  public static func barrier(node: Int, group: String) -> OutputOwner {
    OutputOwner(item: 0, node: node, group: group)
  }

  /// The number under which its outputs are found: of barriers a negative hash, so that it is never an item's.
  var number: Int {
    guard let group else { return item }
    return Int(StableHash.of(group, String(node)) | .min)
  }
}

/// A published file, as the journal knows it.
public struct OutputRecord: Sendable, Hashable {
  /// Its path below the output directory.
  public var path: String
  /// Whose it is.
  public var owner: OutputOwner
  /// How many bytes it holds.
  public var bytes: Int
  /// Their SHA-256.
  public var sha256: Digest
  /// Its media type, where known.
  public var media: String?
  /// What the file system said of it when it was published: where this is unchanged, so is the content.
  public var stamp: FileStamp
  /// The number of the run that published it or found it unchanged.
  public var run: Int

  /// A record.
  public init(
    path: String, owner: OutputOwner, bytes: Int, sha256: Digest, media: String?, stamp: FileStamp, run: Int
  ) {
    self.path = path
    self.owner = owner
    self.bytes = bytes
    self.sha256 = sha256
    self.media = media
    self.stamp = stamp
    self.run = run
  }
}

/// What changes whenever a file's content does.
public struct FileStamp: Sendable, Hashable {
  /// When the content was last changed, in nanoseconds.
  public var modified: Int
  /// When the facts were last changed, in nanoseconds.
  public var changed: Int
  /// The file's number.
  public var inode: Int

  /// A stamp from its parts.
  public init(modified: Int, changed: Int, inode: Int) {
    self.modified = modified
    self.changed = changed
    self.inode = inode
  }

  /// The stamp of a file.
  public init(_ facts: FileFacts) {
    self.init(modified: facts.modified, changed: facts.changed, inode: Int(bitPattern: UInt(facts.inode)))
  }
}

extension ItemRecord {
  /// The number under which an item is found by its name.
  static func hash(source: Int, key: String) -> Int64 { StableHash.of(key, String(source)) }
}
