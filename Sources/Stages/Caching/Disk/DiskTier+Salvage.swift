internal import Messages

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
