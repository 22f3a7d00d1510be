extension StackHarness {
    /// The total size in bytes of the segments of a kind.
    func arenaBytes(_ kind: WorkerKind) throws -> Int {
        try segments("arena/\(kind.name)").reduce(0) { $0 + $1.bytes }
    }

    /// The segments of each folder, for messages: their sizes in KB.
    func segmentTable() throws -> [String: [Int]] {
        let folders = WorkerKind.workers.map { "arena/\($0.name)" } + ["results"]
        return try Dictionary(
            uniqueKeysWithValues: folders.map { folder in
                (folder, try segments(folder).map { $0.bytes >> 10 })
            })
    }

    /// The segments in a folder; those removed meanwhile are skipped.
    func segments(_ folder: String) throws -> [(name: String, bytes: Int)] {
        let directory = try FileDescriptor.openDirectory("\(runtimeDirectory)/\(folder)")
        return try directory.entries().filter { !$0.hasPrefix(".") }.sorted().compactMap { name in
            guard let status = try? directory.status(of: name) else { return nil }
            return (name, status.size)
        }
    }
}

extension StackHarness {
    /// The sizes in KB of unlinked segments that are still mapped, by process name.
    var unlinkedButMapped: [String: [Int]] {
        var found: [String: [Int]] = [:]
        for child in children {
            let maps = FileBytes.text("/proc/\(child.processID)/maps") ?? ""
            for line in maps.split(separator: "\n") where line.hasSuffix("(deleted)") {
                let range = line.prefix { $0 != " " }.split(separator: "-")
                    .compactMap { UInt($0, radix: 16) }
                guard range.count == 2 else { continue }
                found["\(child.name) \(child.processID)", default: []]
                    .append(Int(range[1] - range[0]) >> 10)
            }
        }
        return found
    }
}
