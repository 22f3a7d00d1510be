internal import CSQLite

/// A write transaction (`BEGIN IMMEDIATE`) that is rolled back unless it is committed.
///
/// It borrows its connection, so it cannot outlive it. Transactions do not nest.
public struct Transaction: ~Copyable, ~Escapable {
    private let database: OpaquePointer

    @_lifetime(borrow connection)
    init(on connection: borrowing Connection) throws(SQLiteError) {
        database = connection.database
        try connection.execute("BEGIN IMMEDIATE")
    }

    /// Commits. If that fails, the transaction is rolled back and nothing of it remains.
    public consuming func commit() throws(SQLiteError) {
        let database = self.database
        let code = sqlite3_exec(database, "COMMIT", nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code, of: database) }
    }

    deinit {
        // SQLite itself rolls back after some errors (full, I/O); asking twice is an error then.
        if sqlite3_get_autocommit(database) == 0 {
            sqlite3_exec(database, "ROLLBACK", nil, nil, nil)
        }
    }
}

extension Connection {
    /// Begins a write transaction; it ends with `commit()`, or is rolled back where it is dropped.
    @_lifetime(borrow self)
    public borrowing func begin() throws(SQLiteError) -> Transaction {
        try Transaction(on: self)
    }
}
