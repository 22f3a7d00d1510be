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
                try setAside(for: error)
                try begin()
            }
            health = .healthy
        } catch {
            index = nil
            degrade(error, now)
        }
    }

    /// Sets the index aside while it is open, and begins anew from the files.
    func replaceIndex(_ reason: DiskError, _ now: UnixTime) {
        index = nil
        do {
            try setAside(for: reason)
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
            salvaging = nil
            for name in [Self.indexName] + Self.setAsideNames { try removeIndex(name) }
        } catch {
            degrade(error, now)
            return false
        }
        accesses = AccessBatch()
        open(now)
        return index != nil
    }

    /// Opens the index; numbers go on behind every entry and every file, chores begin again.
    private func begin() throws(DiskError) {
        try prepareIndex()
        let index = try DiskIndex(Self.indexName, in: directory, policy: policy)
        self.index = index
        upgradedFrom = index.upgradedFrom ?? upgradedFrom
        let largest = try index.largestNumber()
        // Only a new index does not know the files: their numbers are looked up then.
        let floor = largest > 0 ? largest : try files.largestNumber()
        nextNumber = max(nextNumber, floor + 1)
        chores = Chores()
        if try index.isSwept() { (chores.knownUpTo, chores.owesSwept) = (largest, false) }
        let usage = try usage(of: index)
        if policy.bytesMax > 0 && usage.total > policy.bytesMax
            || policy.countMax > 0 && usage.entries > policy.countMax
        {
            beginTrim()
        }
        try beginOwnTrims(index)
    }

    /// Makes the file, which SQLite gives its log the mode of, and narrows what is there.
    private func prepareIndex() throws(DiskError) {
        try onFiles("cannot open \(Self.indexName)") { () throws(Errno) in
            try directory.prepareFile(Self.indexName)
            for name in [Self.indexName] + Self.setAsideNames {
                for suffix in ["", "-wal", "-shm"] { try directory.narrow(name + suffix) }
            }
        }
    }

    /// Renames the index to `index.sqlite.bad-<n>`; its log first, so that a kill in between
    /// leaves an index that is bad as before. What only it has is taken out of it bit by bit.
    private func setAside(for reason: DiskError) throws(DiskError) {
        rebuilt += 1
        setAsideReason = reason
        salvaging = nil
        let taken = try? Set(directory.root.openDirectory(".").entries())
        let name =
            Self.setAsideNames.first { taken?.contains($0) == false }
            ?? Self.setAsideNames[Self.setAsideMax - 1]
        try removeIndex(name)
        for suffix in ["-wal", ""] {
            try rename(Self.indexName + suffix, to: name + suffix)
        }
        try removeFile("\(Self.indexName)-shm")
        salvaging = SetAsideIndex(name: name, in: directory)
        if salvaging == nil, isTooLarge(name) { try removeIndex(name) }
    }

    static let setAsideNames = (1...setAsideMax).map { "\(indexName).bad-\($0)" }

    /// Removes an index with its log, the log first.
    func removeIndex(_ name: String) throws(DiskError) {
        for suffix in ["-wal", "-shm", ""] { try removeFile(name + suffix) }
    }

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
