internal import CSQLite
internal import FlowBase

/// A connection to a SQLite database; one thread at a time uses it.
@safe final class Database {
  private let handle: OpaquePointer
  /// Where SQLite leaves the length of the log after each commit.
  private let logLength: UnsafeMutablePointer<Int32>
  /// The file's path, for messages.
  let path: String

  /// Counting SQLite's memory takes a lock at every allocation, and nobody asks for the counts.
  private static let isConfigured: Bool = {
    let isCounting = imgflow_sqlite_without_statistics() != SQLITE_OK
    return imgflow_sqlite_register() == SQLITE_OK && !isCounting
  }()

  /// Opens a database; `isReadOnly` neither makes nor changes one.
  init(path: String, isReadOnly: Bool) throws(Fault) {
    self.path = path
    _ = Database.isConfigured
    var opened: OpaquePointer?
    let flags =
      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
      | (isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    // A link on the way there is the user's own; only the file itself may be none, and SQLite refuses both.
    let folder = (try? PathText.real(PathText.parent(of: PathText.absolute(path)))) ?? PathText.parent(of: path)
    let real = PathText.join(folder, PathText.name(of: path))
    let code = unsafe sqlite3_open_v2(real, &opened, flags, IMGFLOW_SQLITE_FILES)
    guard let handle = unsafe opened, code == SQLITE_OK else {
      let fault = unsafe Database.fault(code, opened, path)
      unsafe sqlite3_close_v2(opened)
      throw fault
    }
    unsafe self.handle = handle
    unsafe logLength = .allocate(capacity: 1)
    unsafe logLength.initialize(to: 0)
    unsafe sqlite3_extended_result_codes(handle, 1)
    unsafe sqlite3_busy_timeout(handle, Database.patience)
    // Closing must change nothing, or a journal that was refused is another one afterwards.
    _ = unsafe imgflow_sqlite_without_checkpoint_on_close(handle)
  }

  deinit {
    unsafe sqlite3_close_v2(handle)
    unsafe logLength.deallocate()
  }

  /// How many milliseconds a statement waits for another connection.
  private static let patience: Int32 = 10_000

  /// Runs statements that give no rows.
  func run(_ text: String) throws(Fault) {
    let code = unsafe sqlite3_exec(handle, text, nil, nil, nil)
    if code != SQLITE_OK { throw fault(code) }
  }

  /// Prepares a statement that is used many times.
  func prepare(_ text: String) throws(Fault) -> Statement {
    var prepared: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let statement = unsafe prepared else { throw fault(code) }
    return unsafe Statement(statement, of: self)
  }

  /// The whole number that a statement gives first; nil without a row.
  func number(_ text: String) throws(Fault) -> Int? {
    let statement = try prepare(text)
    return try statement.step() ? statement.int(0) : nil
  }

  /// The first text of each row that a statement gives.
  func texts(_ text: String) throws(Fault) -> [String] {
    let statement = try prepare(text)
    var rows: [String] = []
    while try statement.step() { rows.append(statement.text(0)) }
    return rows
  }

  /// Leaves it to the caller when the log's pages are brought into the file; SQLite does so by itself otherwise.
  func leaveLogToCaller() {
    unsafe sqlite3_wal_hook(
      handle,
      { length, _, _, pages in
        unsafe length?.storeBytes(of: pages, as: Int32.self)
        return SQLITE_OK
      }, logLength)
  }

  /// How many pages the log has after what was committed since this was asked last; 0 where nothing was written.
  func takeLogPages() -> Int {
    defer { unsafe logLength.pointee = 0 }
    return Int(unsafe logLength.pointee)
  }

  /// Brings what nobody holds back of the log into the file.
  func copyLog() {
    // Whoever reads, or a full disk, is no fault of the commit before; the log keeps what is in it.
    _ = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
  }

  /// Brings all of the log into the file, and waits a moment until nobody reads in it, so that it begins anew.
  func restartLog() {
    unsafe sqlite3_busy_timeout(handle, 8)
    defer { unsafe sqlite3_busy_timeout(handle, Database.patience) }
    // One try waits for the place where somebody began to read, and is fooled by whoever reads on from there at once;
    // the next one sees that he has moved.
    for _ in 0..<3 {
      let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_RESTART, nil, nil)
      if code & 0xFF != SQLITE_BUSY { return }
    }
  }

  /// How many rows the last statement changed.
  var changes: Int { Int(unsafe sqlite3_changes(handle)) }

  /// Runs the body between BEGIN and COMMIT; what it throws undoes everything.
  func transaction<Result>(_ body: () throws(Fault) -> Result) throws(Fault) -> Result {
    try run("BEGIN IMMEDIATE")
    do {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      try? run("ROLLBACK")
      throw error
    }
  }

  /// The fault that a result code of SQLite stands for.
  func fault(_ code: Int32) -> Fault { unsafe Database.fault(code, handle, path) }

  private static func fault(_ code: Int32, _ handle: OpaquePointer?, _ path: String) -> Fault {
    let words = unsafe handle.map { unsafe String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
    switch code & 0xFF {
    case SQLITE_FULL:
      return Fault("disk.full", .local, "cannot write the journal \(path): \(words); free some space and run again")
    case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
      return Fault("disk.denied", .local, "cannot open the journal \(path): \(words); check its owner and mode")
    case SQLITE_IOERR:
      return Fault("disk.io", .local, "cannot read or write the journal \(path): \(words)")
    case SQLITE_CORRUPT, SQLITE_NOTADB: return damaged(path, words)
    case SQLITE_BUSY, SQLITE_LOCKED:
      return Fault("state.busy", .local, "another program holds the journal \(path) open for writing; end it")
    default: return .internal("journal", "the journal \(path) refused a statement: \(words) (\(code))")
    }
  }

  /// The fault of a journal that cannot be understood.
  static func damaged(_ path: String, _ words: String) -> Fault {
    let words = words.split(separator: "\n").last.map(String.init) ?? words
    return Fault(
      "state.damaged", .local,
      """
      the journal \(path) is damaged: \(words); nothing was changed. Put back a copy of it, or move its folder away: \
      the next run then starts from the beginning
      """)
  }
}
