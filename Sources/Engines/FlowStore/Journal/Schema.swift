internal import FlowBase

/// The tables of the journal, and the check that a file is one.
enum Schema {
  /// `imgf` in ASCII: what tells a journal from another program's database.
  static let application = 0x696D_6766
  /// Raised with every change that an older imgflow cannot read.
  static let version = 1

  /// Makes the tables in an empty database.
  static func make(in database: Database) throws(Fault) {
    try database.transaction { () throws(Fault) in
      try database.run(text)
      try database.run("INSERT INTO meta VALUES ('token', '\(Entropy.token(8))')")
    }
  }

  /// Refuses what is no journal, or a journal of another version.
  static func check(_ database: Database) throws(Fault) {
    try check(
      database, application: database.number("PRAGMA application_id") ?? 0,
      version: database.number("PRAGMA user_version") ?? 0)
  }

  private static func check(_ database: Database, application: Int, version: Int) throws(Fault) {
    guard application == Schema.application else {
      throw Database.damaged(database.path, "it is not a journal of imgflow")
    }
    if version > Schema.version {
      throw Fault(
        "state.newer", .local,
        """
        the journal \(database.path) was written by a newer imgflow (schema \(version), this one reads \
        \(Schema.version)); use that version, or another state directory
        """)
    }
    if version < Schema.version { throw Database.damaged(database.path, "its schema \(version) was never released") }
    let present = try Set(database.texts("SELECT name FROM sqlite_schema WHERE type = 'table'"))
    let missing = tableNames.filter { !present.contains($0) }
    if !missing.isEmpty {
      throw Database.damaged(database.path, "it lacks the tables \(missing.joined(separator: ", "))")
    }
  }

  private static let tableNames = [
    "meta", "runs", "sources", "nodes", "items", "results", "outputs", "intents", "parked", "members", "barriers",
  ]

  // Items and outputs get their numbers in the order of arrival, so that writing appends; only the two indexes over
  // hashes are written at random. `intents` holds no more than one batch.
  private static let text = """
    PRAGMA application_id = \(application);
    PRAGMA user_version = \(version);
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE runs (
      number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, manifest TEXT NOT NULL, digest TEXT NOT NULL,
      started INTEGER NOT NULL, ended INTEGER, result TEXT, exit INTEGER, complete INTEGER NOT NULL, facts BLOB);
    CREATE TABLE sources (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, place INTEGER NOT NULL, run INTEGER, total INTEGER,
      items INTEGER NOT NULL DEFAULT 0, duplicates INTEGER NOT NULL DEFAULT 0, exhausted INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE nodes (
      id INTEGER PRIMARY KEY, stage TEXT NOT NULL, leg TEXT NOT NULL, place INTEGER NOT NULL, UNIQUE (stage, leg));
    CREATE TABLE items (
      id INTEGER PRIMARY KEY, source INTEGER NOT NULL, key TEXT NOT NULL, hash INTEGER NOT NULL, idx INTEGER NOT NULL,
      url TEXT, status INTEGER NOT NULL, run INTEGER NOT NULL, fingerprint BLOB, facts BLOB, parent INTEGER,
      code TEXT, class TEXT, host TEXT, message TEXT);
    CREATE INDEX items_by_hash ON items (hash);
    CREATE INDEX items_by_place ON items (source, idx);
    CREATE INDEX items_failed ON items (run, code) WHERE code IS NOT NULL;
    CREATE TABLE results (
      item INTEGER NOT NULL, node INTEGER NOT NULL, status INTEGER NOT NULL, run INTEGER NOT NULL, parts BLOB,
      fields BLOB, kept TEXT, bytes INTEGER, sha256 BLOB, PRIMARY KEY (item, node)) WITHOUT ROWID;
    CREATE INDEX results_kept ON results (kept) WHERE kept IS NOT NULL;
    CREATE TABLE outputs (
      id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, path TEXT NOT NULL, owner INTEGER NOT NULL, node INTEGER NOT NULL,
      grp TEXT, bytes INTEGER NOT NULL, sha256 BLOB NOT NULL, media TEXT, modified INTEGER NOT NULL,
      changed INTEGER NOT NULL, inode INTEGER NOT NULL, run INTEGER NOT NULL, ours INTEGER NOT NULL);
    CREATE INDEX outputs_by_hash ON outputs (hash);
    CREATE INDEX outputs_by_owner ON outputs (owner);
    CREATE TABLE intents (
      id INTEGER PRIMARY KEY, path TEXT NOT NULL, temporary TEXT, owner INTEGER NOT NULL, node INTEGER NOT NULL,
      grp TEXT, bytes INTEGER NOT NULL, sha256 BLOB NOT NULL, media TEXT, run INTEGER NOT NULL);
    CREATE TABLE parked (
      seq INTEGER PRIMARY KEY, gate INTEGER NOT NULL, item INTEGER NOT NULL, run INTEGER NOT NULL, state BLOB);
    CREATE INDEX parked_by_gate ON parked (gate, seq);
    CREATE TABLE members (
      barrier INTEGER NOT NULL, run INTEGER NOT NULL, grp TEXT NOT NULL, source INTEGER NOT NULL, idx INTEGER NOT NULL,
      item INTEGER NOT NULL, node INTEGER NOT NULL,
      PRIMARY KEY (barrier, run, grp, source, idx, item, node)) WITHOUT ROWID;
    CREATE TABLE barriers (
      node INTEGER NOT NULL, grp TEXT NOT NULL, digest BLOB NOT NULL, status INTEGER NOT NULL, run INTEGER NOT NULL,
      facts BLOB, code TEXT, class TEXT, host TEXT, message TEXT, PRIMARY KEY (node, grp)) WITHOUT ROWID;
    """
}
