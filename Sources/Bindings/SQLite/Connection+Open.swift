internal import CSQLite

extension Connection {
    /// Opens and configures; on failure nothing stays open.
    static func open(
        _ path: String, _ configuration: Configuration
    ) throws(SQLiteError) -> OpaquePointer {
        var opened: OpaquePointer?
        var flags =
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
            | SQLITE_OPEN_NOFOLLOW
        if configuration.creates { flags |= SQLITE_OPEN_CREATE }
        guard GivenPaths.code == SQLITE_OK else { throw SQLiteError(GivenPaths.code, of: nil) }
        let code = sqlite3_open_v2(path, &opened, flags, GivenPaths.name)
        guard code == SQLITE_OK, let opened else {
            let error = SQLiteError(code, of: opened)
            sqlite3_close_v2(opened)
            throw error
        }
        do throws(SQLiteError) {
            sqlite3_busy_timeout(opened, configuration.busyTimeout)
            try execute(pragmas(configuration), on: opened)
        } catch {
            sqlite3_close_v2(opened)
            throw error
        }
        return opened
    }

    static func execute(_ sql: String, on database: OpaquePointer) throws(SQLiteError) {
        let code = sqlite3_exec(database, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code, of: database) }
    }

    private static func pragmas(_ configuration: Configuration) -> String {
        // trusted_schema and cell_size_check: a damaged or planted file must not run functions
        // from its schema, and a wrong page is noticed when it is read.
        """
        PRAGMA journal_mode=WAL;
        PRAGMA synchronous=NORMAL;
        PRAGMA foreign_keys=ON;
        PRAGMA trusted_schema=OFF;
        PRAGMA cell_size_check=ON;
        PRAGMA temp_store=MEMORY;
        PRAGMA cache_size=-\(configuration.pageCacheKiB);
        """
    }
}
