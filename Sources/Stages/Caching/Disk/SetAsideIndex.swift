internal import Messages
internal import SQLite
internal import XXHash

/// An index that was set aside, read for the bodies that lie in it alone: large ones have files.
///
/// It may be of another version, or damaged: what it says is believed as far as it is sound, and
/// where reading fails, that was all.
final class SetAsideIndex {
    /// A body that was saved.
    struct Saved {
        let key: String
        let row: IndexRow
        let body: [UInt8]
    }

    let name: String
    /// Whether it was set aside for its version alone, as far as is known yet.
    private(set) var isWhole = true
    private var select: Statement
    private var last: Int64 = 0
    /// Its files are reached through it, the last time when the connection ends.
    private let directory: CacheDirectory
    /// Bodies in one step.
    private static let batch = 32

    /// `nil` where it cannot be read, or has no entries.
    init?(name: String, in directory: CacheDirectory) {
        self.directory = directory
        do {
            let connection = try Connection(
                path: directory.filePath(name),
                configuration: Connection.Configuration(creates: false))
            isWhole = try connection.userVersion() != Int64(DiskIndex.schemaVersion)
            select = try connection.prepare(
                """
                SELECT \(try Self.columns(connection)), entries.number, key, body
                FROM \(try Self.tables(connection))
                WHERE entries.number > ? AND body IS NOT NULL
                ORDER BY entries.number LIMIT \(Self.batch)
                """)
        } catch {
            return nil
        }
        self.name = name
    }

    /// The next bodies, those that are damaged left out; `nil` at the end.
    func next() -> [Saved]? {
        var saved: [Saved] = []
        var count = 0
        do {
            try select.bind(last, 0)
            try select.forEach { row in
                count += 1
                last = max(last, row.int64(IndexRow.columnCount))
                if let body = Self.saved(row) { saved.append(body) }
                return true
            }
        } catch {
            isWhole = false
            return nil
        }
        return count == 0 ? nil : saved
    }

    private static func saved(_ row: borrowing Row) -> Saved? {
        let place = IndexRow.columnCount + 2
        guard let entry = IndexRow(row), entry.fileOffset == nil, row.isBlob(place),
            let key = row.storedText(place - 1)
        else { return nil }
        let body = row.blob(place).withUnsafeBytes { Array($0) }
        guard body.count == entry.bodyLength, XXH3.hash64(body.span.bytes) == entry.checksum else {
            return nil
        }
        return Saved(key: key, row: entry, body: body)
    }

    /// The columns of an entry; what the version does not have, as far as it can be done without.
    static func columns(_ connection: borrowing Connection) throws(SQLiteError) -> String {
        let there = try columns(of: "entries", connection)
        let extras = try columns(of: "extras", connection)
        let hasTags = try columns(of: "tags", connection).isSuperset(of: ["number", "tag"])
        let own = IndexRow.columnNames.map { name in
            there.contains(name) ? "entries.\(name)" : substitutes[name] ?? "NULL"
        }
        let parts = IndexRow.partNames.map { name in
            if name == "tags" { return hasTags ? IndexRow.tagsColumn : "NULL" }
            return extras.contains(name) && extras.contains("number") ? "extras.\(name)" : "NULL"
        }
        return (own + parts).joined(separator: ", ")
    }

    /// The tables of these columns.
    static func tables(_ connection: borrowing Connection) throws(SQLiteError) -> String {
        let hasExtras = try columns(of: "extras", connection).contains("number")
        return hasExtras ? "entries LEFT JOIN extras ON extras.number = entries.number" : "entries"
    }

    /// The columns of a table; none where there is no such table.
    private static func columns(
        of table: String, _ connection: borrowing Connection
    ) throws(SQLiteError) -> Set<String> {
        var there: Set<String> = []
        var names = try connection.prepare("SELECT name FROM pragma_table_info('\(table)')")
        try names.forEach { row in
            if let name = row.text(0) { there.insert(name) }
            return true
        }
        return there
    }

    private static let substitutes = [
        "created": "stored", "accessed": "stored", "pages": "1", "has_alpha": "0",
        "still_of": "0", "samples": "0",
    ]
}

extension DiskTier {
    /// Takes a few bodies of the index that was set aside into the new one; false where there are
    /// no more.
    func salvage(_ now: UnixTime, _ index: DiskIndex) throws(DiskError) -> Bool {
        guard let source = salvaging else { return false }
        guard let bodies = source.next() else {
            salvaging = nil
            // Of a damaged one somebody may want to find out more.
            if source.isWhole || isTooLarge(source.name) { try removeIndex(source.name) }
            return true
        }
        try index.transaction { () throws(DiskError) in
            for body in bodies { try takeIn(body, index) }
        }
        return true
    }

    /// Whether an index that was set aside would keep the entries from much of their space.
    func isTooLarge(_ name: String) -> Bool {
        policy.bytesMax > 0
            && directory.bytes(of: name) + directory.bytes(of: name + "-wal") > policy.bytesMax / 16
    }

    /// What is newer, was removed meanwhile or does not fit is left where it is.
    private func takeIn(_ saved: SetAsideIndex.Saved, _ index: DiskIndex) throws(DiskError) {
        guard
            !chores.wasRemoved(saved.key, saved.row.stored, tags: saved.row.metadata.tags),
            case .nothing = try index.finding(saved.key)
        else { return }
        let charge = Self.charge(
            key: saved.key, bodyLength: saved.body.count, headerLength: 0,
            partBytes: saved.row.metadata.partBytes)
        guard try fits(charge, saved.key, index) else { return }
        var row = saved.row
        row.number = nextNumber
        nextNumber += 1
        try saved.body.span.withUnsafeBytes { (bytes) throws(DiskError) in
            try index.insert(row, key: saved.key, charge: charge, inline: bytes)
        }
    }
}
