internal import Linux

extension DiskTier {
    static let indexName = "index.sqlite"
    /// Indexes that are kept after they were set aside; the last one is overwritten beyond that.
    static let setAsideMax = 4

    /// Opens the index; sets a damaged one or one of another version aside and begins anew.
    func open(_ now: UnixTime) {
        do {
            try files.prepare()
            do {
                try begin()
            } catch  where error.kind == .badIndex {
                index = nil
                try setAside()
                try begin()
            }
            health = .healthy
        } catch {
            index = nil
            degrade(error, now)
        }
    }

    /// Sets the index aside while it is open, and begins anew from the files.
    func replaceIndex(_ now: UnixTime) {
        index = nil
        do {
            try setAside()
            open(now)
        } catch {
            degrade(error, now)
        }
    }

    /// Begins with an empty index and no files; what was there is removed bit by bit.
    func clear(_ now: UnixTime) -> Bool {
        do {
            // Files first: without the index alone they would be taken in again.
            try files.prepare()
            try files.discardAll()
            index = nil
            for name in Self.indexFiles { try removeFile(name) }
        } catch {
            degrade(error, now)
            return false
        }
        accesses = AccessBatch()
        open(now)
        return index != nil
    }

    private static let indexFiles = ["\(indexName)-wal", "\(indexName)-shm", indexName]

    /// Opens the index; numbers go on behind every entry and every file, chores begin again.
    private func begin() throws(DiskError) {
        let index = try DiskIndex(path: "\(directory.path)/\(Self.indexName)", policy: policy)
        self.index = index
        let largest = try index.largestNumber()
        // Only a new index does not know the files: their numbers are looked up then.
        let floor = largest > 0 ? largest : try files.largestNumber()
        nextNumber = max(nextNumber, floor + 1)
        chores = Chores()
        let bytes = try index.usage().bytes
        chores.isTrimming = policy.bytesMax > 0 && bytes > policy.bytesMax
    }

    /// Renames the index to `index.sqlite.bad-<n>`; its log first, so that a kill in between
    /// leaves an index that is bad as before.
    private func setAside() throws(DiskError) {
        rebuilt += 1
        let taken = try? Set(directory.root.openDirectory(".").entries())
        let number =
            (1...Self.setAsideMax).first { taken?.contains(Self.setAsideName($0)) == false }
            ?? Self.setAsideMax
        for suffix in ["-wal", ""] {
            try rename(Self.indexName + suffix, to: Self.setAsideName(number) + suffix)
        }
        try removeFile("\(Self.indexName)-shm")
    }

    private static func setAsideName(_ number: Int) -> String { "\(indexName).bad-\(number)" }

    private func rename(_ name: String, to newName: String) throws(DiskError) {
        do { try directory.root.rename(name, to: newName) } catch .noSuchFile { return } catch {
            throw DiskError(error, "cannot set \(name) aside")
        }
    }

    private func removeFile(_ name: String) throws(DiskError) {
        do { try directory.root.unlink(name) } catch .noSuchFile { return } catch {
            throw DiskError(error, "cannot remove \(name)")
        }
    }
}
