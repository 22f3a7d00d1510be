internal import CSQLite

/// The current row of a statement; it lives for the call it is given to.
///
/// Columns count from 0. Reading another type than the stored one converts as SQLite does.
public struct Row: ~Copyable {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) {
        self.handle = handle
    }

    /// Whether the column is NULL.
    public borrowing func isNull(_ column: Int) -> Bool {
        sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL
    }

    /// The column as an integer; NULL is 0.
    public borrowing func int64(_ column: Int) -> Int64 {
        sqlite3_column_int64(handle, Int32(column))
    }

    /// The column as an integer, or nil for NULL.
    public borrowing func optionalInt64(_ column: Int) -> Int64? {
        isNull(column) ? nil : int64(column)
    }

    /// The column as a text, or nil for NULL; bytes that are no UTF-8 are replaced.
    public borrowing func text(_ column: Int) -> String? {
        guard let start = sqlite3_column_text(handle, Int32(column)) else { return nil }
        let length = Int(sqlite3_column_bytes(handle, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
    }

    /// The column where it is stored as an integer; nil for anything else.
    public borrowing func storedInt64(_ column: Int) -> Int64? {
        guard sqlite3_column_type(handle, Int32(column)) == SQLITE_INTEGER else { return nil }
        return int64(column)
    }

    /// The column where it is stored as a text in UTF-8; nil for anything else.
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

    /// How many bytes the column's blob has; 0 for NULL and for the empty blob.
    public borrowing func blobLength(_ column: Int) -> Int {
        Int(sqlite3_column_bytes(handle, Int32(column)))
    }

    /// The bytes of the column's blob, in SQLite's memory, borrowed from the row.
    @_lifetime(borrow self)
    public borrowing func blob(_ column: Int) -> RawSpan {
        // The order matters: asking for the blob may convert, and the length is that of the result.
        let start = sqlite3_column_blob(handle, Int32(column))
        let length = Int(sqlite3_column_bytes(handle, Int32(column)))
        let bytes = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : length)
        return unsafe _overrideLifetime(bytes.bytes, borrowing: self)
    }
}
