internal import Model
internal import SQLite
internal import XXHash

/// An index that was set aside, read for the bodies stored only in it; large ones have files.
///
/// It may have another version or be damaged: its contents are validated, and reading ends at the
/// first error.
final class QuarantinedIndex {
    /// A recovered body.
    struct Saved {
        let key: String
        let row: IndexRow
        let body: [UInt8]
    }

    let name: String
    /// Whether it was set aside only because of its version, as far as is known.
    private(set) var isWhole = true
    private var select: Statement
    private var last: Int64 = 0
    /// Keeps the directory open, through which the connection accesses its files until it is
    /// closed.
    private let directory: CacheDirectory
    /// The number of bodies per step.
    private static let batch = 32

    /// Returns `nil` if it can't be read or has no entries.
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

    /// Returns the next bodies without damaged ones; `nil` at the end.
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

    /// Returns the columns of an entry, with substitutes for optional columns that the version
    /// doesn't have.
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

    /// Returns the tables of these columns.
    static func tables(_ connection: borrowing Connection) throws(SQLiteError) -> String {
        let hasExtras = try columns(of: "extras", connection).contains("number")
        return hasExtras ? "entries LEFT JOIN extras ON extras.number = entries.number" : "entries"
    }

    /// Returns the columns of a table; empty if the table doesn't exist.
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
    /// Imports some bodies of the set-aside index into the new one; returns false if there are no
    /// more.
    func salvage(_ now: UnixTime, _ index: DiskIndex) throws(DiskError) -> Bool {
        guard let source = salvaging else { return false }
        guard let bodies = source.next() else {
            salvaging = nil
            // A damaged index is kept for analysis.
            if source.isWhole || isTooLarge(source.name) { try removeIndex(source.name) }
            return true
        }
        try index.transaction { () throws(DiskError) in
            for body in bodies { try importBody(body, index) }
        }
        return true
    }

    /// Returns whether a set-aside index would take too much of the entries' space.
    func isTooLarge(_ name: String) -> Bool {
        policy.bytesMax > 0
            && directory.bytes(of: name) + directory.bytes(of: name + "-wal") > policy.bytesMax / 16
    }

    /// Imports a body unless the key has a newer entry or was removed meanwhile, or the body
    /// doesn't fit.
    private func importBody(_ saved: QuarantinedIndex.Saved, _ index: DiskIndex) throws(DiskError) {
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
