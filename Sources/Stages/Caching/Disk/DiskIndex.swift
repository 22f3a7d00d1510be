internal import Model
internal import SQLite

/// The index of the disk tier: one SQLite file, its statements, and the conversion of rows.
///
/// Owned by the disk thread.
final class DiskIndex {
    let connection: Connection
    /// The version before it was upgraded while opening; `nil` if it was not upgraded.
    let upgradedFrom: Int64?
    private var find: Statement
    private var readBody: Statement
    private var insertRow: Statement
    private var insertExtras: Statement
    private var insertTag: Statement
    private var deleteRow: Statement
    private var setAccessed: Statement
    private var setCaching: Statement
    private var selectOldest: Statement
    private var selectTotals: Statement
    private var selectNumber: Statement
    private var selectLargest: Statement
    private var scanRows: Statement
    private var scanTagged: Statement
    /// Keeps the directory open, through which the connection accesses its files until it is
    /// closed.
    private let directory: CacheDirectory
    private var isInTransaction = false

    /// Opens or creates the index.
    ///
    /// - Throws: `.badIndex` if it is damaged or has another version.
    init(_ name: String, in directory: CacheDirectory, policy: DiskPolicy) throws(DiskError) {
        self.directory = directory
        do {
            connection = try Connection(path: directory.filePath(name))
            upgradedFrom = try Self.prepare(connection, policy)
            let date = Self.column(policy.expireType)
            find = try connection.prepare(
                """
                SELECT \(IndexRow.columns), digest, media_type, extended, \(IndexRow.tagsColumn),
                    number
                FROM entries LEFT JOIN extras USING(number) WHERE key = ?
                """)
            readBody = try connection.prepare("SELECT body FROM entries WHERE number = ?")
            insertRow = try connection.prepare(
                """
                INSERT INTO entries(\(IndexRow.columns), number, key, charge, body)
                VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
                """)
            insertExtras = try connection.prepare(
                "INSERT OR REPLACE INTO extras(number, digest, media_type, extended) "
                    + "VALUES(?,?,?,?)")
            insertTag = try connection.prepare(
                "INSERT OR IGNORE INTO tags(number, tag) VALUES(?,?)")
            deleteRow = try connection.prepare("DELETE FROM entries WHERE number = ?")
            setAccessed = try connection.prepare(
                "UPDATE entries SET accessed = max(accessed, ?) WHERE key = ?")
            setCaching = try connection.prepare(
                """
                UPDATE entries SET expiry = ?, cache_control = ?
                WHERE key = ? AND etag IS ? AND last_modified IS ?
                """)
            selectOldest = try connection.prepare(
                """
                SELECT number, file_offset IS NOT NULL, charge FROM entries
                WHERE \(date) <= ? ORDER BY \(date) LIMIT ?
                """)
            selectTotals = try connection.prepare("SELECT entries, bytes FROM totals")
            selectNumber = try connection.prepare(
                "SELECT file_offset IS NOT NULL FROM entries WHERE number = ?")
            selectLargest = try connection.prepare("SELECT max(number) FROM entries")
            scanRows = try connection.prepare(
                """
                SELECT \(ScannedRow.columns) FROM entries
                WHERE number > ? AND number <= ? ORDER BY number LIMIT ?
                """)
            scanTagged = try connection.prepare(
                """
                SELECT \(ScannedRow.columns) FROM tags INDEXED BY by_tag JOIN entries USING(number)
                WHERE tags.number > ?1 AND tags.number <= ?2 AND tag = ?4
                ORDER BY tags.number LIMIT ?3
                """)
        } catch {
            throw DiskError(of: error)
        }
    }

    // MARK: - Reading

    /// Looks a key up.
    func finding(_ key: String) throws(DiskError) -> IndexFinding {
        try onIndex { () throws(SQLiteError) in
            try find.bind(key, 0)
            return try find.first { row in
                IndexRow(row).map { .entry($0) } ?? .damaged(row.int64(IndexRow.columnCount))
            } ?? .nothing
        }
    }

    /// Copies a body stored in the index; returns false if there is none of that length.
    func copyBody(
        _ number: Int64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(DiskError) -> Bool {
        try onIndex { () throws(SQLiteError) in
            try readBody.bind(number, 0)
            return try readBody.first { row in
                guard row.isBlob(0), row.blobLength(0) == buffer.count else { return false }
                row.blob(0).withUnsafeBytes { buffer.copyMemory(from: $0) }
                return true
            } ?? false
        }
    }

    /// Returns the location of the body of an entry; `nil` if there is no such entry.
    func place(ofNumber number: Int64) throws(DiskError) -> BodyPlace? {
        try onIndex { () throws(SQLiteError) in
            try selectNumber.bind(number, 0)
            return try selectNumber.first { $0.int64(0) != 0 ? .file : .index }
        }
    }

    /// Returns the largest number in use; 0 for an empty index.
    func largestNumber() throws(DiskError) -> Int64 {
        let largest = try onIndex { () throws(SQLiteError) in
            try selectLargest.first { $0.int64(0) } ?? 0
        }
        guard (0...IndexRow.foundNumberMax).contains(largest) else {
            throw DiskError(.badIndex, "index row has the invalid number \(largest)")
        }
        return largest
    }

    /// Returns the number of entries and their total size; recounts if the totals are invalid.
    func usage() throws(DiskError) -> DiskUsage {
        if let usage = try account() { return usage }
        try recount()
        guard let usage = try account() else {
            throw DiskError(.badIndex, "the totals in the index are invalid")
        }
        return usage
    }

    private func account() throws(DiskError) -> DiskUsage? {
        try onIndex { () throws(SQLiteError) in
            try selectTotals.first {
                DiskUsage(entries: $0.storedInt64(0), bytes: $0.storedInt64(1))
            } ?? nil
        }
    }

    /// Returns the oldest entries by the relevant date that are not newer than `limit`.
    func oldest(upTo limit: UnixTime, count: Int) throws(DiskError) -> [IndexVictim] {
        var victims: [IndexVictim] = []
        var areSound = true
        try onIndex { () throws(SQLiteError) in
            try selectOldest.bind(limit.milliseconds, 0)
            try selectOldest.bind(Int64(count), 1)
            try selectOldest.forEach { row in
                if let victim = IndexVictim(row) {
                    victims.append(victim)
                } else {
                    areSound = false
                }
                return areSound
            }
        }
        guard areSound else { throw DiskError(.badIndex, "index row has an impossible size") }
        return victims
    }

    /// Passes at most `count` entries after a number to `body`, in order, until it returns false,
    /// which excludes that entry. Returns the number of rows read and the last accepted one;
    /// invalid rows are skipped. With `tag`, only entries with that tag are read.
    func scan(
        behind number: Int64, upTo last: Int64, count: Int, tag: String? = nil,
        _ body: (ScannedRow) -> Bool
    ) throws(DiskError) -> (seen: Int, last: (number: Int64, isCut: Bool)) {
        var seen = 0
        var end = (number: number, isCut: false)
        func look(_ row: borrowing Row) -> Bool {
            seen += 1
            if let entry = ScannedRow(row), !body(entry) {
                end.isCut = true
                return false
            }
            end.number = row.int64(0)
            return true
        }
        try onIndex { () throws(SQLiteError) in
            let range = [number, last, Int64(count)]
            guard let tag else {
                for (place, value) in range.enumerated() { try scanRows.bind(value, place) }
                return try scanRows.forEach(look)
            }
            for (place, value) in range.enumerated() { try scanTagged.bind(value, place) }
            try scanTagged.bind(tag, 3)
            try scanTagged.forEach(look)
        }
        return (seen, end)
    }

    // MARK: - Writing

    /// Runs `body` in one transaction, which succeeds or fails as a whole. Nested calls are part of
    /// the outer transaction.
    func transaction<R>(_ body: () throws(DiskError) -> R) throws(DiskError) -> R {
        guard !isInTransaction else { return try body() }
        isInTransaction = true
        defer { isInTransaction = false }
        return try Self.transaction(on: connection, body)
    }

    // The transaction borrows the connection, which is only possible for a parameter.
    private static func transaction<R>(
        on connection: borrowing Connection, _ body: () throws(DiskError) -> R
    ) throws(DiskError) -> R {
        do {
            let transaction = try connection.begin()
            let result = try body()
            try transaction.commit()
            return result
        } catch {
            throw DiskError(of: error)
        }
    }

    /// Inserts an entry; `inline` is its body if it is stored in the index. Must be called within a
    /// transaction.
    func insert(
        _ row: IndexRow, key: String, charge: Int, inline: UnsafeRawBufferPointer?
    ) throws(DiskError) {
        try onIndex { () throws(SQLiteError) in
            try insertParts(of: row)
            try bind(row)
            try insertRow.bind(row.number, 18)
            try insertRow.bind(key, 19)
            try insertRow.bind(Int64(charge), 20)
            guard let inline else {
                try insertRow.bindNull(21)
                return try insertRow.run()
            }
            try insertRow.run(binding: inline, 21)
        }
    }

    /// Deletes an entry, if it exists.
    func delete(_ number: Int64) throws(DiskError) {
        try onIndex { () throws(SQLiteError) in
            try deleteRow.bind(number, 0)
            try deleteRow.run()
        }
    }

    /// Records the last use of an entry; an earlier time has no effect.
    func setAccessed(_ key: String, _ time: UnixTime) throws(DiskError) {
        try onIndex { () throws(SQLiteError) in
            try setAccessed.bind(time.milliseconds, 0)
            try setAccessed.bind(key, 1)
            try setAccessed.run()
        }
    }

    /// Updates the caching information of a key's entry, if its validators match.
    func renew(_ key: String, _ renewal: Validity) throws(DiskError) {
        try onIndex { () throws(SQLiteError) in
            try setCaching.bind(renewal.caching?.storedText, 0)
            try setCaching.bind(renewal.caching?.cacheControl.field, 1)
            try setCaching.bind(key, 2)
            try setCaching.bind(renewal.etag, 3)
            try setCaching.bind(renewal.lastModified, 4)
            try setCaching.run()
        }
    }

    /// Returns free pages to the file system; returns false if no more pages are free.
    func shrink(pages: Int) throws(DiskError) -> Bool {
        try onIndex { () throws(SQLiteError) in
            var free = try connection.prepare("PRAGMA freelist_count")
            let count = try free.first({ $0.int64(0) }) ?? 0
            guard count > 0 else { return false }
            try connection.execute("PRAGMA incremental_vacuum(\(pages))")
            guard count <= pages else { return true }
            // The file is truncated at a checkpoint, which waits for the device. That happens
            // whenever the log is full, and here for the rest.
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return false
        }
    }

    // MARK: - Columns

    private func insertParts(of row: IndexRow) throws(SQLiteError) {
        let metadata = row.metadata
        if metadata.digest != nil || metadata.extendedData != nil {
            try insertExtras.bind(row.number, 0)
            try insertExtras.bind(copying: metadata.digest?.bytes, 1)
            try insertExtras.bind(metadata.extendedData?.mediaType, 2)
            try insertExtras.bind(copying: metadata.extendedData?.bytes, 3)
            try insertExtras.run()
        }
        for tag in metadata.tags {
            try insertTag.bind(row.number, 0)
            try insertTag.bind(tag, 1)
            try insertTag.run()
        }
    }

    private func bind(_ row: IndexRow) throws(SQLiteError) {
        let info = row.metadata.info
        try insertRow.bind(Int64(row.bodyLength), 0)
        try insertRow.bind(Int64(bitPattern: row.checksum), 1)
        try insertRow.bind(row.fileOffset.map { Int64($0) }, 2)
        try insertRow.bind(row.created.milliseconds, 3)
        try insertRow.bind(row.stored.milliseconds, 4)
        try insertRow.bind(row.accessed.milliseconds, 5)
        try insertRow.bind(Int64(info.format.rawValue), 6)
        try insertRow.bind(Int64(info.size.width), 7)
        try insertRow.bind(Int64(info.size.height), 8)
        try insertRow.bind(Int64(info.pages), 9)
        try insertRow.bind(info.hasAlpha ? 1 : 0, 10)
        try insertRow.bind(row.metadata.contentType, 11)
        try insertRow.bind(row.metadata.etag, 12)
        try insertRow.bind(row.metadata.lastModified, 13)
        try insertRow.bind(row.metadata.caching?.cacheControl.field, 14)
        try insertRow.bind(Int64(info.stillOf ?? 0), 15)
        try insertRow.bind(StoredSamples(info).column(row.metadata.revision), 16)
        try insertRow.bind(row.metadata.caching?.storedText, 17)
    }
}

extension Statement {
    /// Binds a copy of the bytes, or NULL.
    fileprivate mutating func bind(copying bytes: [UInt8]?, _ index: Int) throws(SQLiteError) {
        guard let bytes else { return try bindNull(index) }
        try bytes.span.withUnsafeBytes { (bytes) throws(SQLiteError) in
            try bind(copying: bytes, index)
        }
    }
}

/// The location of a body.
enum BodyPlace {
    case index
    case file
}

extension DiskIndex {
    /// Recomputes the totals of all entries.
    func recount() throws(DiskError) {
        try onIndex { () throws(SQLiteError) in
            try connection.execute(
                """
                UPDATE totals SET (entries, bytes) =
                    (SELECT count(*), coalesce(sum(charge), 0) FROM entries)
                """)
        }
    }

    /// Sets future dates, which result from a clock that was set back, to now; returns true if
    /// there may be more.
    func correctDates(_ now: UnixTime, _ type: ExpireType, count: Int) throws(DiskError) -> Bool {
        try onIndex { () throws(SQLiteError) in
            let date = Self.column(type)
            var update = try connection.prepare(
                """
                UPDATE entries SET accessed = min(accessed, ?1), stored = min(stored, ?1),
                    created = min(created, ?1)
                WHERE number IN (SELECT number FROM entries WHERE \(date) > ?1 LIMIT ?2)
                """)
            try update.bind(now.milliseconds, 0)
            try update.bind(Int64(count), 1)
            try update.run()
            return connection.changes == count
        }
    }
}
