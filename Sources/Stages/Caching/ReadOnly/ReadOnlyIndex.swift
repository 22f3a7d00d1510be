internal import Linux
internal import SQLite

/// The index of a cache directory that somebody else made, read as it stands.
///
/// It may be damaged, of another version, or made to do harm: what it says is believed as far as it
/// is sound, and what a statement may cost is bounded.
final class ReadOnlyIndex {
    private let connection: Connection
    private let select: String

    /// Opens the index of that directory; nothing is made beside it.
    ///
    /// - Throws: as `Connection`, and `.error` where it has no entries.
    init(in root: borrowing FileDescriptor) throws(SQLiteError) {
        connection = try Connection(
            path: "/proc/self/fd/\(root.number)/\(DiskTier.indexName)",
            configuration: Connection.Configuration(creates: false, isImmutable: true))
        let columns = try SetAsideIndex.columns(connection)
        let tables = try SetAsideIndex.tables(connection)
        select = "SELECT \(columns), entries.number FROM \(tables) WHERE entries.key = ?"
        _ = try connection.prepare(select)
    }

    /// What there is of a key. A statement is prepared for each question, since its steps are
    /// counted as long as it lives.
    func finding(_ key: String) throws(SQLiteError) -> IndexFinding {
        var find = try connection.prepare(select)
        try find.bind(key, 0)
        return try find.first { row in
            IndexRow(row).map { .entry($0) } ?? .damaged(row.int64(IndexRow.columnCount))
        } ?? .nothing
    }

    /// Copies a body that lies in the index; false where there is none of that length.
    func copyBody(
        _ number: Int64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SQLiteError) -> Bool {
        var read = try connection.prepare("SELECT body FROM entries WHERE number = ?")
        try read.bind(number, 0)
        return try read.first { row in
            guard row.isBlob(0), row.blobLength(0) == buffer.count else { return false }
            row.blob(0).withUnsafeBytes { buffer.copyMemory(from: $0) }
            return true
        } ?? false
    }
}
