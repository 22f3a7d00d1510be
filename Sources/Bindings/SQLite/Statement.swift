internal import CSQLite

/// One prepared statement, kept for many runs.
///
/// A run is: bind every parameter, then `run`, `first` or `forEach`. These reset the statement
/// and clear its bindings when they return, also where they throw, so no read lock and no pointer
/// is left behind.
/// Parameters and columns are both counted from 0 here (SQLite counts parameters from 1).
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
            throw SQLiteError(code: .error, message: "not exactly one statement: \(sql)")
        }
        handle = prepared
    }

    deinit {
        // Its code repeats the error of the last step, which was reported then.
        sqlite3_finalize(handle)
    }

    private static func isBlank(_ text: Slice<UnsafeBufferPointer<CChar>>) -> Bool {
        text.allSatisfy { $0 == 0x20 || $0 == 0x0a || $0 == 0x3b }
    }

    /// Runs to the end and drops any rows.
    public mutating func run() throws(SQLiteError) {
        defer { rewind() }
        while try step() {}
    }

    /// The first row as `body` reads it, or nil where there is none.
    public mutating func first<R>(_ body: (borrowing Row) -> R) throws(SQLiteError) -> R? {
        defer { rewind() }
        guard try step() else { return nil }
        return body(Row(handle))
    }

    /// Calls `body` with every row in order, until it answers false.
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
        // Its code repeats the error of the step.
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }
}
