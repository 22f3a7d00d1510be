internal import CSQLite

// Parameters count from 0. A failing bind (no such parameter, too big) also clears what was bound
// before it, so that no half-bound statement can be run by mistake.
extension Statement {
    /// Binds NULL.
    public mutating func bindNull(_ index: Int) throws(SQLiteError) {
        try check(sqlite3_bind_null(handle, Int32(index + 1)))
    }

    /// Binds an integer.
    public mutating func bind(_ value: Int64, _ index: Int) throws(SQLiteError) {
        try check(sqlite3_bind_int64(handle, Int32(index + 1), value))
    }

    /// Binds an integer, or NULL.
    public mutating func bind(_ value: Int64?, _ index: Int) throws(SQLiteError) {
        if let value { try bind(value, index) } else { try bindNull(index) }
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

    /// Binds a copy of a text, or NULL.
    public mutating func bind(_ value: String?, _ index: Int) throws(SQLiteError) {
        if let value { try bind(value, index) } else { try bindNull(index) }
    }

    /// Binds a copy of the bytes; no bytes are the empty blob, not NULL.
    public mutating func bind(copying bytes: UnsafeRawBufferPointer, _ index: Int)
        throws(SQLiteError)
    {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return try bindEmpty(index) }
        try check(
            csqlite_bind_blob_transient(handle, Int32(index + 1), start, UInt64(bytes.count)))
    }

    /// Runs the statement with `bytes` bound without a copy; they are read only during the call.
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
