import SQLite

/// The contents of a cache directory, read without the cache.
struct CacheFolder {
    private let path: String

    init(_ path: String) { self.path = path }

    /// Waits until the leftovers of a kill are removed, which the cache does step by step.
    func expectSwept(within limit: Duration = defaultTimeout) async throws {
        // There is no event for the cache's progress.
        try pollUntil("a clean cache directory", timeout: limit) { try leftovers().isEmpty }
    }

    /// The index is valid and consistent with the files.
    func expectSound() throws {
        let connection = try Connection(
            path: path + "/index.sqlite", configuration: Connection.Configuration(creates: false))
        var check = try connection.prepare("PRAGMA integrity_check")
        #expect(try check.first { $0.text(0) } == "ok")
        var rows = try connection.prepare("SELECT count(*), coalesce(sum(charge), 0) FROM entries")
        var totals = try connection.prepare("SELECT entries, bytes FROM totals")
        let counted = try rows.first { [$0.int64(0), $0.int64(1)] }
        #expect(try totals.first { [$0.int64(0), $0.int64(1)] } == counted)
        #expect(try leftovers() == [])
    }

    /// Files without a row, rows without a file, temporary files, and quarantined indexes.
    private func leftovers() throws -> [String] {
        let rows = try numbers()
        var found: Set<String> = []
        var others = DirectoryEntries.names(path).filter { $0.contains(".bad-") }
        for bucket in DirectoryEntries.names(path + "/files") {
            guard bucket.utf8.count == 2 else {
                others.append(bucket)
                continue
            }
            found.formUnion(DirectoryEntries.names("\(path)/files/\(bucket)"))
        }
        return (others + found.symmetricDifference(rows)).sorted()
    }

    /// The names of the files in the index.
    private func numbers() throws -> Set<String> {
        let connection = try Connection(
            path: path + "/index.sqlite", configuration: Connection.Configuration(creates: false))
        var select = try connection.prepare(
            "SELECT printf('%016x', number) FROM entries WHERE file_offset IS NOT NULL")
        var names: Set<String> = []
        try select.forEach { row in
            if let name = row.text(0) { names.insert(name) }
            return true
        }
        return names
    }
}
