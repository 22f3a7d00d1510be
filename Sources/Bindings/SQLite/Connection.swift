internal import CSQLite

/// One connection to a database file, owned by one thread at a time (`SQLITE_OPEN_NOMUTEX`).
///
/// Opened with WAL and `synchronous=NORMAL`: a transaction that has returned survives the death
/// of the process; a power failure may lose the last ones, but never tears one.
/// The deinit closes it; statements that are still alive keep the file open until they end.
public struct Connection: ~Copyable {
    let database: OpaquePointer

    /// Opens or creates the database file at `path`, and reads its header.
    ///
    /// - Throws: `.cannotOpen`, `.notADatabase`, `.corrupt`, `.readOnly`, `.ioError`.
    public init(path: String, configuration: Configuration = Configuration()) throws(SQLiteError) {
        database = try Self.open(path, configuration)
    }

    deinit {
        // v2: with statements still alive the connection lingers until the last one is finalized.
        sqlite3_close_v2(database)
    }

    /// Runs one or several statements without parameters and drops their rows.
    public borrowing func execute(_ sql: String) throws(SQLiteError) {
        try Self.execute(sql, on: database)
    }

    /// Compiles one statement that is kept and run many times (`SQLITE_PREPARE_PERSISTENT`).
    ///
    /// - Throws: `.error` for wrong SQL and for text after the first statement.
    public borrowing func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        try Statement(sql, on: database)
    }

    /// How many rows the last INSERT, UPDATE or DELETE changed.
    public var changes: Int { Int(sqlite3_changes64(database)) }

    /// The row id of the last successful INSERT on this connection.
    public var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(database) }

    /// `PRAGMA user_version`: the number of the schema; 0 in a new file.
    public borrowing func userVersion() throws(SQLiteError) -> Int64 {
        var statement = try prepare("PRAGMA user_version")
        return try statement.first { $0.int64(0) } ?? 0
    }

    /// Sets `PRAGMA user_version`.
    public borrowing func setUserVersion(_ version: Int32) throws(SQLiteError) {
        try execute("PRAGMA user_version=\(version)")
    }
}
