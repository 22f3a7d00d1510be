internal import CSQLite

/// An (extended) result code of SQLite.
///
/// The low byte is the primary code; `~=` matches a primary pattern against every extended code
/// of its family, so `case .ioError` also matches `SQLITE_IOERR_WRITE`.
public struct ResultCode: RawRepresentable, Sendable, Hashable {
    /// The number SQLite gave, extended where SQLite extends it.
    public let rawValue: Int32

    /// Wraps a code as SQLite gave it.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The family this code belongs to (the low byte).
    public var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }

    /// Whether `code` is `pattern`, or belongs to its family where `pattern` is a primary code.
    public static func ~= (pattern: ResultCode, code: ResultCode) -> Bool {
        pattern == code || pattern == code.primary
    }
}

extension ResultCode {
    /// `SQLITE_OK`
    public static let ok = ResultCode(rawValue: SQLITE_OK)
    /// `SQLITE_ERROR`: wrong SQL, or a missing table or column.
    public static let error = ResultCode(rawValue: SQLITE_ERROR)
    /// `SQLITE_BUSY`: another connection holds the lock longer than the busy timeout.
    public static let busy = ResultCode(rawValue: SQLITE_BUSY)
    /// `SQLITE_NOMEM`
    public static let outOfMemory = ResultCode(rawValue: SQLITE_NOMEM)
    /// `SQLITE_READONLY`: the file or the directory may not be written.
    public static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
    /// `SQLITE_IOERR`: the operating system reported an error.
    public static let ioError = ResultCode(rawValue: SQLITE_IOERR)
    /// `SQLITE_CORRUPT`: the file is damaged.
    public static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
    /// `SQLITE_FULL`: the disk is full.
    public static let full = ResultCode(rawValue: SQLITE_FULL)
    /// `SQLITE_CANTOPEN`: the file cannot be opened or created.
    public static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
    /// `SQLITE_TOOBIG`: a text or blob is over the length limit.
    public static let tooBig = ResultCode(rawValue: SQLITE_TOOBIG)
    /// `SQLITE_CONSTRAINT`: a UNIQUE, NOT NULL, CHECK or foreign key rule is violated.
    public static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
    /// `SQLITE_MISMATCH`: a value has not the type that its place needs.
    public static let mismatch = ResultCode(rawValue: SQLITE_MISMATCH)
    /// `SQLITE_MISUSE`: the library was called against its rules.
    public static let misuse = ResultCode(rawValue: SQLITE_MISUSE)
    /// `SQLITE_RANGE`: no parameter has that index.
    public static let range = ResultCode(rawValue: SQLITE_RANGE)
    /// `SQLITE_NOTADB`: the file is not a database.
    public static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
    /// `SQLITE_ROW`: `step` has a row.
    static let row = ResultCode(rawValue: SQLITE_ROW)
    /// `SQLITE_DONE`: `step` has no more rows.
    static let done = ResultCode(rawValue: SQLITE_DONE)
}
