internal import CSQLite
internal import FlowBase

/// A prepared statement: places are bound from 1, columns are read from 0.
@safe final class Statement {
  private let handle: OpaquePointer
  private let database: Database

  init(_ handle: OpaquePointer, of database: Database) {
    unsafe self.handle = handle
    self.database = database
  }

  deinit { unsafe sqlite3_finalize(handle) }

  // MARK: Binding

  /// Binds a whole number; nil is NULL.
  func bind(_ place: Int32, _ number: Int?) {
    if let number { unsafe sqlite3_bind_int64(handle, place, Int64(number)) } else { bindNull(place) }
  }

  /// Binds a whole number of 64 bits.
  func bind(_ place: Int32, _ number: Int64) { unsafe sqlite3_bind_int64(handle, place, number) }

  /// Binds a text; nil is NULL.
  func bind(_ place: Int32, _ text: String?) {
    guard var text else { return bindNull(place) }
    text.withUTF8 { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
        // An empty text has no address, and without one SQLite would store NULL.
        if let start = characters.baseAddress {
          _ = unsafe sqlite3_bind_text(handle, place, start, Int32(characters.count), copied)
        } else {
          _ = unsafe sqlite3_bind_text(handle, place, "", 0, nil)
        }
      }
    }
  }

  /// Binds bytes; nil is NULL.
  func bind(_ place: Int32, _ bytes: [UInt8]?) {
    guard let bytes else { return bindNull(place) }
    unsafe bytes.withUnsafeBytes { buffer in
      if let start = buffer.baseAddress {
        _ = unsafe sqlite3_bind_blob(handle, place, start, Int32(buffer.count), copied)
      } else {
        _ = unsafe sqlite3_bind_zeroblob(handle, place, 0)
      }
    }
  }

  private func bindNull(_ place: Int32) { unsafe sqlite3_bind_null(handle, place) }

  /// Says that SQLite is to copy what is bound.
  private var copied: sqlite3_destructor_type { unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

  // MARK: Running

  /// Goes to the next row; false after the last, and then the statement can be bound anew.
  func step() throws(Fault) -> Bool {
    let code = unsafe sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    let fault = code == SQLITE_DONE ? nil : database.fault(code)
    unsafe sqlite3_reset(handle)
    if let fault { throw fault }
    return false
  }

  /// Runs a statement that gives no rows.
  func run() throws(Fault) { if try step() { reset() } }

  /// Ends reading before the last row.
  func reset() { unsafe sqlite3_reset(handle) }

  // MARK: Columns

  /// Whether a column is NULL.
  func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// A column as a whole number; NULL is 0.
  func int(_ column: Int32) -> Int { Int(unsafe sqlite3_column_int64(handle, column)) }

  /// A column as a whole number; NULL is nil.
  func intIfAny(_ column: Int32) -> Int? { isNull(column) ? nil : int(column) }

  /// A column as a text; NULL is empty.
  func text(_ column: Int32) -> String {
    guard let text = unsafe sqlite3_column_text(handle, column) else { return "" }
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    return unsafe String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  /// Whether a column is this very text; no text is made of it.
  func holds(_ text: String, at column: Int32) -> Bool {
    guard let start = unsafe sqlite3_column_text(handle, column) else { return text.isEmpty }
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    let isSame = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
      guard bytes.count == count else { return false }
      for place in 0..<count where unsafe bytes[place] != start[place] { return false }
      return true
    }
    return isSame ?? (self.text(column) == text)
  }

  /// A column as a text; NULL is nil.
  func textIfAny(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

  /// A column's bytes; NULL is none.
  func bytes(_ column: Int32) -> [UInt8] {
    guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  }
}
