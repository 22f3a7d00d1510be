internal import CSQLite

/// A prepared statement, kept for many runs.
///
/// To run it, bind every parameter, then call `run`, `first` or `forEach`. These reset the
/// statement and clear its bindings when they return or throw, so no read lock or pointer is left
/// behind. Parameters and columns both count from 0 here (SQLite counts parameters from 1).
public struct Statement: ~Copyable {
    let handle: OpaquePointer

    init(_ sql: String, on database: OpaquePointer) throws(SQLiteError) {
        var prepared: OpaquePointer?
        var sql = sql
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        let (code, isSingle) = sql.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) { text in
                var rest: UnsafePointer<CChar>?
                let code = sqlite3_prepare_v3(
                    database, text.baseAddress, Int32(text.count), flags, &prepared, &rest)
                guard let rest, let start = text.baseAddress else { return (code, true) }
                return (code, Self.isBlank(text[(rest - start)...]))
            }
        }
        guard code == SQLITE_OK else { throw SQLiteError(code, of: database) }
        guard let prepared, isSingle else {
            sqlite3_finalize(prepared)
            throw SQLiteError(code: .error, message: "expected exactly one statement: \(sql)")
        }
        handle = prepared
    }

    deinit {
        // Returns the error of the last step again, which has been reported already.
        sqlite3_finalize(handle)
    }

    private static func isBlank(_ text: Slice<UnsafeBufferPointer<CChar>>) -> Bool {
        text.allSatisfy { $0 == 0x20 || $0 == 0x0a || $0 == 0x3b }
    }

    /// Runs the statement to completion and discards any rows.
    public mutating func run() throws(SQLiteError) {
        defer { rewind() }
        while try step() {}
    }

    /// Returns the result of `body` for the first row, or `nil` if there is none.
    public mutating func first<R>(_ body: (borrowing Row) -> R) throws(SQLiteError) -> R? {
        defer { rewind() }
        guard try step() else { return nil }
        return body(Row(handle))
    }

    /// Calls `body` with every row in order until it returns `false`.
    public mutating func forEach(_ body: (borrowing Row) -> Bool) throws(SQLiteError) {
        defer { rewind() }
        while try step() {
            guard body(Row(handle)) else { return }
        }
    }

    private func step() throws(SQLiteError) -> Bool {
        let code = sqlite3_step(handle)
        switch ResultCode(rawValue: code) {
        case .row: return true
        case .done: return false
        default: throw SQLiteError(code, of: sqlite3_db_handle(handle))
        }
    }

    func rewind() {
        // Returns the error of the step again.
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }
}

// Parameters count from 0. A failed bind (no such parameter, too big) also clears earlier bindings,
// so that a partially bound statement can't be run by mistake.
extension Statement {
    /// Binds NULL.
    public mutating func bindNull(_ index: Int) throws(SQLiteError) {
        try check(sqlite3_bind_null(handle, Int32(index + 1)))
    }

    /// Binds an integer.
    public mutating func bind(_ value: Int64, _ index: Int) throws(SQLiteError) {
        try check(sqlite3_bind_int64(handle, Int32(index + 1), value))
    }

    /// Binds a copy of a text.
    public mutating func bind(_ value: String, _ index: Int) throws(SQLiteError) {
        var value = value
        let handle = self.handle
        try check(
            value.withUTF8 { text in
                text.withMemoryRebound(to: CChar.self) {
                    csqlite_bind_text_transient(
                        handle, Int32(index + 1), $0.baseAddress, UInt64($0.count))
                }
            })
    }

    /// Binds a copy of the bytes. No bytes are bound as the empty blob, not NULL.
    public mutating func bind(copying bytes: UnsafeRawBufferPointer, _ index: Int)
        throws(SQLiteError)
    {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return try bindEmpty(index) }
        try check(
            csqlite_bind_blob_transient(handle, Int32(index + 1), start, UInt64(bytes.count)))
    }

    /// Runs the statement with `bytes` bound without a copy; they are only read during the call.
    ///
    /// Every other parameter must be bound before.
    public mutating func run(binding bytes: UnsafeRawBufferPointer, _ index: Int)
        throws(SQLiteError)
    {
        if let start = bytes.baseAddress, !bytes.isEmpty {
            try check(
                csqlite_bind_blob_static(handle, Int32(index + 1), start, UInt64(bytes.count)))
        } else {
            try bindEmpty(index)
        }
        try run()
    }

    private mutating func bindEmpty(_ index: Int) throws(SQLiteError) {
        try check(sqlite3_bind_zeroblob(handle, Int32(index + 1), 0))
    }

    private func check(_ code: Int32) throws(SQLiteError) {
        guard code == SQLITE_OK else {
            let error = SQLiteError(code, of: sqlite3_db_handle(handle))
            rewind()
            throw error
        }
    }
}

/// The current row of a statement, only valid during the call that receives it.
///
/// Columns count from 0. Reading a type other than the stored one converts like SQLite does.
public struct Row: ~Copyable {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) {
        self.handle = handle
    }

    /// Whether the column is NULL.
    public borrowing func isNull(_ column: Int) -> Bool {
        sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL
    }

    /// Returns the column as an integer; NULL is 0.
    public borrowing func int64(_ column: Int) -> Int64 {
        sqlite3_column_int64(handle, Int32(column))
    }

    /// Returns the column as a text, or `nil` for NULL. Invalid UTF-8 is replaced.
    public borrowing func text(_ column: Int) -> String? {
        guard let start = sqlite3_column_text(handle, Int32(column)) else { return nil }
        let length = Int(sqlite3_column_bytes(handle, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
    }

    /// Returns the column if it's stored as an integer, otherwise `nil`.
    public borrowing func storedInt64(_ column: Int) -> Int64? {
        guard sqlite3_column_type(handle, Int32(column)) == SQLITE_INTEGER else { return nil }
        return int64(column)
    }

    /// Returns the column if it's stored as a UTF-8 text, otherwise `nil`.
    public borrowing func storedText(_ column: Int) -> String? {
        guard sqlite3_column_type(handle, Int32(column)) == SQLITE_TEXT,
            let start = sqlite3_column_text(handle, Int32(column))
        else { return nil }
        let length = Int(sqlite3_column_bytes(handle, Int32(column)))
        let bytes = UnsafeBufferPointer(start: start, count: length)
        return String(validating: bytes, as: UTF8.self)
    }

    /// Whether the column is stored as a blob.
    public borrowing func isBlob(_ column: Int) -> Bool {
        sqlite3_column_type(handle, Int32(column)) == SQLITE_BLOB
    }

    /// Returns the length of the column's blob in bytes; 0 for NULL and for the empty blob.
    public borrowing func blobLength(_ column: Int) -> Int {
        Int(sqlite3_column_bytes(handle, Int32(column)))
    }

    /// Returns the bytes of the column's blob in SQLite's memory, borrowed from the row.
    @_lifetime(borrow self)
    public borrowing func blob(_ column: Int) -> RawSpan {
        // The order matters: reading the blob may convert it, and the length is that of the result.
        let start = sqlite3_column_blob(handle, Int32(column))
        let length = Int(sqlite3_column_bytes(handle, Int32(column)))
        let bytes = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : length)
        return unsafe _overrideLifetime(bytes.bytes, borrowing: self)
    }
}
