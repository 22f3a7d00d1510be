internal import CSQLite

/// What SQLite refused, with its text copied at the moment of the failure.
public struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The extended result code.
    public let code: ResultCode
    /// The text of `sqlite3_errmsg`, or of `sqlite3_errstr` where there is no connection.
    public let message: String

    /// An error with a text of its own.
    public init(code: ResultCode, message: String) {
        self.code = code
        self.message = message
    }

    /// `code: message`, for logs.
    public var description: String { "SQLite \(code.rawValue): \(message)" }

    /// Copies the text at once: the next call on the connection overwrites it.
    init(_ code: Int32, of database: OpaquePointer?) {
        let text = database.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
        self.init(
            code: ResultCode(rawValue: code),
            message: text.map { String(cString: $0) } ?? "unknown error")
    }
}
