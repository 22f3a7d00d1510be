internal import CSQLite
internal import Glibc

/// A connection to a database file, owned by one thread at a time (`SQLITE_OPEN_NOMUTEX`).
///
/// Opened with WAL and `synchronous=NORMAL`: a committed transaction survives the death of the
/// process; a power failure may lose the most recent ones but never tears one. Deinit closes the
/// connection; statements still alive keep the file open until they end.
public struct Connection: ~Copyable {
    let database: OpaquePointer

    /// Opens or creates the database file at `path`, and reads its header.
    ///
    /// - Throws: `.cannotOpen`, `.notADatabase`, `.corrupt`, `.readOnly`, `.ioError`.
    public init(path: String, configuration: Configuration = Configuration()) throws(SQLiteError) {
        database = try Self.open(path, configuration)
    }

    deinit {
        // v2: if statements are still alive, the connection closes when the last one is finalized.
        sqlite3_close_v2(database)
    }

    /// Runs one or more statements without parameters and discards their rows.
    public borrowing func execute(_ sql: String) throws(SQLiteError) {
        try Self.execute(sql, on: database)
    }

    /// Compiles one statement that's kept and run many times (`SQLITE_PREPARE_PERSISTENT`).
    ///
    /// - Throws: `.error` for invalid SQL and for text after the first statement.
    public borrowing func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        try Statement(sql, on: database)
    }

    /// The number of rows changed by the last INSERT, UPDATE or DELETE.
    public var changes: Int { Int(sqlite3_changes64(database)) }

    /// Returns `PRAGMA user_version`: the schema version; 0 in a new file.
    public borrowing func userVersion() throws(SQLiteError) -> Int64 {
        var statement = try prepare("PRAGMA user_version")
        return try statement.first { $0.int64(0) } ?? 0
    }

    /// Sets `PRAGMA user_version`.
    public borrowing func setUserVersion(_ version: Int32) throws(SQLiteError) {
        try execute("PRAGMA user_version=\(version)")
    }
}

extension Connection {
    /// The options for opening a connection.
    public struct Configuration: Sendable {
        /// How long a statement waits for another connection's lock, in milliseconds.
        public var busyTimeout: Int32
        /// The limit of this connection's page cache in KiB.
        public var pageCacheKiB: Int32
        /// Whether a missing file is created.
        public var creates: Bool
        /// Whether to open an untrusted file that nothing modifies, read-only: no files are created
        /// next to it, and the cost of statements is bounded.
        public var isImmutable: Bool

        /// Creates a configuration. The default page cache of 2 MiB holds the inner pages of an
        /// index of 100,000 entries and keeps the cache process small.
        public init(
            busyTimeout: Int32 = 1_000, pageCacheKiB: Int32 = 2_048, creates: Bool = true,
            isImmutable: Bool = false
        ) {
            self.isImmutable = isImmutable
            self.busyTimeout = busyTimeout
            self.pageCacheKiB = pageCacheKiB
            self.creates = creates
        }
    }
}

extension Connection {
    /// Opens and configures the database. On failure nothing stays open.
    static func open(
        _ path: String, _ configuration: Configuration
    ) throws(SQLiteError) -> OpaquePointer {
        var opened: OpaquePointer?
        guard GivenPaths.code == SQLITE_OK else { throw SQLiteError(GivenPaths.code, of: nil) }
        let name = configuration.isImmutable ? "file:\(path)?immutable=1" : path
        let code = sqlite3_open_v2(name, &opened, flags(configuration), GivenPaths.name)
        guard code == SQLITE_OK, let opened else {
            let error = SQLiteError(code, of: opened)
            sqlite3_close_v2(opened)
            throw error
        }
        do throws(SQLiteError) {
            sqlite3_busy_timeout(opened, configuration.busyTimeout)
            if configuration.isImmutable { bound(opened) }
            try execute(pragmas(configuration), on: opened)
        } catch {
            sqlite3_close_v2(opened)
            throw error
        }
        return opened
    }

    private static func flags(_ configuration: Configuration) -> Int32 {
        let flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW
        if configuration.isImmutable { return flags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI }
        return flags | SQLITE_OPEN_READWRITE | (configuration.creates ? SQLITE_OPEN_CREATE : 0)
    }

    /// Bounds the cost of an untrusted file, which may have views instead of tables and huge
    /// values: a statement may take a million steps, a value may have 1 MiB.
    private static func bound(_ database: OpaquePointer) {
        sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 1 << 20)
        sqlite3_progress_handler(database, 1_000_000, { _ in 1 }, nil)
    }

    static func execute(_ sql: String, on database: OpaquePointer) throws(SQLiteError) {
        let code = sqlite3_exec(database, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code, of: database) }
    }

    private static func pragmas(_ configuration: Configuration) -> String {
        // trusted_schema and cell_size_check: a damaged or malicious file must not run functions
        // from its schema, and an invalid page must be detected when it's read.
        let writing = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
        return """
            \(configuration.isImmutable ? "PRAGMA query_only=ON;" : writing)
            PRAGMA trusted_schema=OFF;
            PRAGMA cell_size_check=ON;
            PRAGMA temp_store=MEMORY;
            PRAGMA cache_size=-\(configuration.pageCacheKiB);
            """
    }
}

/// SQLite's default VFS, except that paths are used as given.
///
/// SQLite resolves all links of a path and later opens the resolved path, also for its log. For
/// `/proc/self/fd/N/name` it would thus open whatever is then at the path the directory once had,
/// not what's in that directory. A link at the end of a path isn't followed.
enum GivenPaths {
    static let name = "given-paths"
    /// The result of registering the VFS, which happens once.
    static let code: Int32 = register()

    private static func register() -> Int32 {
        guard let own = sqlite3_vfs_find("unix"), let name = strdup(name) else {
            return SQLITE_NOMEM
        }
        // SQLite retains it for the lifetime of the process.
        let files = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        files.initialize(to: own.pointee)
        files.pointee.pNext = nil
        files.pointee.zName = UnsafePointer(name)
        files.pointee.xFullPathname = { _, path, size, full in
            guard let path, let full, strlen(path) < Int(size) else { return SQLITE_CANTOPEN }
            strcpy(full, path)
            return SQLITE_OK
        }
        return sqlite3_vfs_register(files, 0)
    }
}

/// A write transaction (`BEGIN IMMEDIATE`) that's rolled back unless it's committed.
///
/// It borrows its connection, so it can't outlive it. Transactions don't nest.
public struct Transaction: ~Copyable, ~Escapable {
    private let database: OpaquePointer

    @_lifetime(borrow connection)
    init(on connection: borrowing Connection) throws(SQLiteError) {
        database = connection.database
        try connection.execute("BEGIN IMMEDIATE")
    }

    /// Commits. If that fails, the whole transaction is rolled back.
    public consuming func commit() throws(SQLiteError) {
        let database = self.database
        let code = sqlite3_exec(database, "COMMIT", nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code, of: database) }
    }

    deinit {
        // SQLite itself rolls back after some errors (full, I/O); a second rollback would fail
        // then.
        if sqlite3_get_autocommit(database) == 0 {
            sqlite3_exec(database, "ROLLBACK", nil, nil, nil)
        }
    }
}

extension Connection {
    /// Begins a write transaction. It's committed by `commit()`, or rolled back when it's dropped.
    @_lifetime(borrow self)
    public borrowing func begin() throws(SQLiteError) -> Transaction {
        try Transaction(on: self)
    }
}

/// An SQLite error, with its text copied at the time of the failure.
public struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The extended result code.
    public let code: ResultCode
    /// The text of `sqlite3_errmsg`, or of `sqlite3_errstr` if there is no connection.
    public let message: String

    /// `code: message`, for logs.
    public var description: String { "SQLite \(code.rawValue): \(message)" }
}

extension SQLiteError {
    /// Copies the text at once: the next call on the connection overwrites it.
    init(_ code: Int32, of database: OpaquePointer?) {
        let text = database.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
        self.init(
            code: ResultCode(rawValue: code),
            message: text.map { String(cString: $0) } ?? "unknown error")
    }
}

/// An (extended) result code of SQLite.
///
/// The low byte is the primary code; `~=` matches a primary pattern against every extended code
/// of its family, so `case .ioError` also matches `SQLITE_IOERR_WRITE`.
public struct ResultCode: RawRepresentable, Sendable, Hashable {
    /// The number returned by SQLite, extended if SQLite extends it.
    public let rawValue: Int32

    /// Wraps a code returned by SQLite.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The primary code of the family (the low byte).
    public var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }

    /// Whether `code` is `pattern`, or belongs to its family if `pattern` is a primary code.
    public static func ~= (pattern: ResultCode, code: ResultCode) -> Bool {
        pattern == code || pattern == code.primary
    }
}

extension ResultCode {
    /// `SQLITE_OK`
    public static let ok = ResultCode(rawValue: SQLITE_OK)
    /// `SQLITE_ERROR`: invalid SQL, or a missing table or column.
    public static let error = ResultCode(rawValue: SQLITE_ERROR)
    /// `SQLITE_BUSY`: another connection has held the lock longer than the busy timeout.
    public static let busy = ResultCode(rawValue: SQLITE_BUSY)
    /// `SQLITE_NOMEM`
    public static let outOfMemory = ResultCode(rawValue: SQLITE_NOMEM)
    /// `SQLITE_READONLY`: the file or directory isn't writable.
    public static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
    /// `SQLITE_IOERR`: the operating system reported an error.
    public static let ioError = ResultCode(rawValue: SQLITE_IOERR)
    /// `SQLITE_CORRUPT`: the file is damaged.
    public static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
    /// `SQLITE_FULL`: the disk is full.
    public static let full = ResultCode(rawValue: SQLITE_FULL)
    /// `SQLITE_CANTOPEN`: the file can't be opened or created.
    public static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
    /// `SQLITE_CONSTRAINT`: a UNIQUE, NOT NULL, CHECK or foreign key constraint is violated.
    public static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
    /// `SQLITE_MISMATCH`: a value has the wrong type.
    public static let mismatch = ResultCode(rawValue: SQLITE_MISMATCH)
    /// `SQLITE_RANGE`: a parameter index is out of range.
    public static let range = ResultCode(rawValue: SQLITE_RANGE)
    /// `SQLITE_NOTADB`: the file isn't a database.
    public static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
    /// `SQLITE_ROW`: `step` has returned a row.
    static let row = ResultCode(rawValue: SQLITE_ROW)
    /// `SQLITE_DONE`: `step` has no more rows.
    static let done = ResultCode(rawValue: SQLITE_DONE)
}
