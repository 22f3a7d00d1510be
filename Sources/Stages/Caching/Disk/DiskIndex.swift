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
        try onIndex { () throws(SQLiteError) in try find.finding(key) }
    }

    /// Copies a body stored in the index; returns false if there is none of that length.
    func copyBody(
        _ number: Int64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(DiskError) -> Bool {
        try onIndex { () throws(SQLiteError) in try readBody.copyBody(number, into: buffer) }
    }

    /// Returns the location of the body of an entry; `nil` if there is no such entry.
    func place(ofNumber number: Int64) throws(DiskError) -> BodyPlace? {
        try selectNumber.first([.integer(number)]) { $0.int64(0) != 0 ? .file : .index }
    }

    /// Returns the largest number in use; 0 for an empty index.
    func largestNumber() throws(DiskError) -> Int64 {
        let largest = try selectLargest.first([]) { $0.int64(0) } ?? 0
        guard (0...IndexRow.foundNumberMax).contains(largest) else {
            throw DiskError(.badIndex, "index row has the invalid number \(largest)")
        }
        return largest
    }

    /// Returns the number of entries, or of those of one named cache, and their total size;
    /// recounts if the totals are invalid.
    func usage(of cache: String? = nil) throws(DiskError) -> DiskUsage {
        if let usage = try account(of: cache) { return usage }
        if cache == nil { try recount() } else { try recountCaches() }
        if let usage = try account(of: cache) { return usage }
        let what = cache == nil ? "in the index" : "of a cache in the index"
        throw DiskError(.badIndex, "the totals \(what) are invalid")
    }

    private func account(of cache: String?) throws(DiskError) -> DiskUsage? {
        func usage(_ row: borrowing Row) -> DiskUsage? {
            DiskUsage(entries: row.storedInt64(0), bytes: row.storedInt64(1))
        }
        guard let cache else { return try selectTotals.first([], usage) ?? nil }
        var select = try prepare("SELECT entries, bytes FROM cache_totals WHERE cache = ?")
        return try select.first([.text(cache)], usage)
            ?? DiskUsage(entries: 0, bytes: 0, overhead: 0)
    }

    /// Returns the oldest entries that are not newer than `limit`: of all by the relevant date, or
    /// of one cache by the date of that type. The empty name is the default cache.
    func oldest(
        of cache: (name: String, type: ExpireType)? = nil, upTo limit: UnixTime, count: Int
    ) throws(DiskError) -> [IndexVictim] {
        let range: [IndexValue] = [.integer(limit.milliseconds), .integer(Int64(count))]
        guard let cache else { return try selectOldest.victims(range) }
        let date = Self.column(cache.type)
        var select = try prepare(
            """
            SELECT number, file_offset IS NOT NULL, charge FROM entries
            WHERE \(Self.cache(of: "key")) = ? AND \(date) <= ? ORDER BY \(date) LIMIT ?
            """)
        return try select.victims([.text(cache.name)] + range)
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
        let range: [IndexValue] = [.integer(number), .integer(last), .integer(Int64(count))]
        if let tag {
            try scanTagged.forEach(range + [.text(tag)], look)
        } else {
            try scanRows.forEach(range, look)
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
        let (metadata, number) = (row.metadata, IndexValue.integer(row.number))
        if metadata.digest != nil || metadata.extendedData != nil {
            try insertExtras.run([
                number, IndexValue(metadata.digest?.bytes),
                IndexValue(metadata.extendedData?.mediaType),
                IndexValue(metadata.extendedData?.bytes),
            ])
        }
        for tag in metadata.tags { try insertTag.run([number, .text(tag)]) }
        let values = row.values + [number, .text(key), .integer(Int64(charge))]
        guard let inline else { return try insertRow.run(values + [.null]) }
        try onIndex { () throws(SQLiteError) in
            try insertRow.bind(values)
            try insertRow.run(binding: inline, values.count)
        }
    }

    /// Deletes an entry, if it exists.
    func delete(_ number: Int64) throws(DiskError) { try deleteRow.run([.integer(number)]) }

    /// Records the last use of an entry; an earlier time has no effect.
    func setAccessed(_ key: String, _ time: UnixTime) throws(DiskError) {
        try setAccessed.run([.integer(time.milliseconds), .text(key)])
    }

    /// Updates the caching information of a key's entry, if its validators match.
    func renew(_ key: String, _ renewal: Validity) throws(DiskError) {
        try setCaching.run([
            IndexValue(renewal.caching?.storedText),
            IndexValue(renewal.caching?.cacheControl.field), .text(key), IndexValue(renewal.etag),
            IndexValue(renewal.lastModified),
        ])
    }

    /// Returns free pages to the file system; returns false if no more pages are free.
    func shrink(pages: Int) throws(DiskError) -> Bool {
        var free = try prepare("PRAGMA freelist_count")
        let count = try free.first([]) { $0.int64(0) } ?? 0
        guard count > 0 else { return false }
        try execute("PRAGMA incremental_vacuum(\(pages))")
        guard count <= pages else { return true }
        // The file is truncated at a checkpoint, which waits for the device. That happens whenever
        // the log is full, and here for the rest.
        try emptyLog()
        return false
    }

    /// Copies the log to the file and truncates it. With an empty log the directory can be copied,
    /// and read by other processes.
    func emptyLog() throws(DiskError) { try execute("PRAGMA wal_checkpoint(TRUNCATE)") }

    /// Recomputes the totals of all entries.
    func recount() throws(DiskError) {
        try execute(
            """
            UPDATE totals SET (entries, bytes) =
                (SELECT count(*), coalesce(sum(charge), 0) FROM entries)
            """)
    }

    /// Sets future dates, which result from a clock that was set back, to now; returns true if
    /// there may be more.
    func correctDates(_ now: UnixTime, _ type: ExpireType, count: Int) throws(DiskError) -> Bool {
        var update = try prepare(
            """
            UPDATE entries SET accessed = min(accessed, ?1), stored = min(stored, ?1),
                created = min(created, ?1)
            WHERE number IN (SELECT number FROM entries WHERE \(Self.column(type)) > ?1 LIMIT ?2)
            """)
        try update.run([.integer(now.milliseconds), .integer(Int64(count))])
        return connection.changes == count
    }

    func execute(_ sql: String) throws(DiskError) {
        try onIndex { () throws(SQLiteError) in try connection.execute(sql) }
    }

    func prepare(_ sql: String) throws(DiskError) -> Statement {
        try onIndex { () throws(SQLiteError) in try connection.prepare(sql) }
    }
}

/// The location of a body.
enum BodyPlace {
    case index
    case file
}

/// A value for a parameter of a statement.
enum IndexValue {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case null

    init(_ text: String?) { self = text.map { IndexValue.text($0) } ?? .null }

    init(_ bytes: [UInt8]?) { self = bytes.map { IndexValue.blob($0) } ?? .null }
}

// Statements of the index. Unlike those of the module SQLite, these functions bind all parameters,
// in order, and throw the errors of the disk tier.
extension Statement {
    fileprivate mutating func run(_ values: [IndexValue]) throws(DiskError) {
        do {
            try bind(values)
            try run()
        } catch {
            throw DiskError(error)
        }
    }

    mutating func first<R>(
        _ values: [IndexValue], _ body: (borrowing Row) -> R
    ) throws(DiskError) -> R? {
        do {
            try bind(values)
            return try first(body)
        } catch {
            throw DiskError(error)
        }
    }

    mutating func forEach(
        _ values: [IndexValue], _ body: (borrowing Row) -> Bool
    ) throws(DiskError) {
        do {
            try bind(values)
            try forEach(body)
        } catch {
            throw DiskError(error)
        }
    }

    fileprivate mutating func victims(_ values: [IndexValue]) throws(DiskError) -> [IndexVictim] {
        var victims: [IndexVictim] = []
        var areSound = true
        try forEach(values) { row in
            if let victim = IndexVictim(row) {
                victims.append(victim)
            } else {
                areSound = false
            }
            return areSound
        }
        guard areSound else { throw DiskError(.badIndex, "index row has an impossible size") }
        return victims
    }

    fileprivate mutating func bind(_ values: [IndexValue]) throws(SQLiteError) {
        for (place, value) in values.enumerated() {
            switch value {
            case .integer(let number): try bind(number, place)
            case .text(let text): try bind(text, place)
            case .blob(let bytes):
                try bytes.span.withUnsafeBytes { (bytes) throws(SQLiteError) in
                    try bind(copying: bytes, place)
                }
            case .null: try bindNull(place)
            }
        }
    }

    /// Looks up the key in the first parameter; the columns are those of `IndexRow` and the number.
    mutating func finding(_ key: String) throws(SQLiteError) -> IndexFinding {
        try bind(key, 0)
        return try first { row in
            IndexRow(row).map { .entry($0) } ?? .damaged(row.int64(IndexRow.columnCount))
        } ?? .nothing
    }

    /// Copies the blob of the entry with the number in the first parameter; returns false if there
    /// is none of that length.
    mutating func copyBody(
        _ number: Int64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SQLiteError) -> Bool {
        try bind(number, 0)
        return try first { row in
            guard row.isBlob(0), row.blobLength(0) == buffer.count else { return false }
            row.blob(0).withUnsafeBytes { buffer.copyMemory(from: $0) }
            return true
        } ?? false
    }
}

extension IndexRow {
    /// The values of `columns`, in order.
    fileprivate var values: [IndexValue] {
        let info = metadata.info
        return [
            .integer(Int64(bodyLength)), .integer(Int64(bitPattern: checksum)),
            fileOffset.map { IndexValue.integer(Int64($0)) } ?? .null,
            .integer(created.milliseconds),
            .integer(stored.milliseconds), .integer(accessed.milliseconds),
            .integer(Int64(info.format.rawValue)), .integer(Int64(info.size.width)),
            .integer(Int64(info.size.height)), .integer(Int64(info.pages)),
            .integer(info.hasAlpha ? 1 : 0), IndexValue(metadata.contentType),
            IndexValue(metadata.etag), IndexValue(metadata.lastModified),
            IndexValue(metadata.caching?.cacheControl.field), .integer(Int64(info.stillOf ?? 0)),
            .integer(StoredSamples(info).column(metadata.revision)),
            IndexValue(metadata.caching?.storedText),
        ]
    }
}
