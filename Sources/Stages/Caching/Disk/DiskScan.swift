internal import ImageModel
internal import Messages

/// Which entries of the disk are meant.
struct DiskSelection: Sendable {
    let selection: EntrySelection
    /// Those stored later are not meant; `nil`: whenever they were stored.
    let storedUpTo: UnixTime?

    init(_ selection: EntrySelection, _ now: UnixTime) {
        self.selection = selection
        storedUpTo = selection.olderThanSeconds.map { seconds in
            let seconds = Int64(min(seconds, EntrySelection.secondsMax))
            return now.adding(milliseconds: -seconds * 1_000)
        }
    }

    /// Whether it means an entry of that stored text, of that date and with those tags; tags that
    /// are not told are those of the selection.
    func matches(_ text: String, _ stored: UnixTime, tags: [String]?) -> Bool {
        if let storedUpTo, stored > storedUpTo { return false }
        return selection.matches(text, tags: tags)
    }
}

/// A walk over the entries in the order of their numbers, a bit at a time.
struct DiskScan: Sendable {
    /// What is done with those that are meant.
    enum Purpose: Sendable, Hashable {
        /// They are described, so many at most.
        case list(Int)
        case count
        case remove
    }

    let selection: DiskSelection
    let purpose: Purpose
    /// It goes on behind this number.
    var after: Int64 = 0
    /// Entries with larger numbers came after its begin, and are not meant; `nil` before the first
    /// step.
    var upTo: Int64?

    /// Rows that one step looks at: a few milliseconds.
    static let rowsPerStep = 1_024

    /// Whether it removes an entry, or has removed it.
    func removes(_ text: String, _ row: IndexRow) -> Bool {
        row.number <= upTo ?? .max
            && selection.matches(text, row.stored, tags: row.metadata.tags)
    }
}

/// What one step of a scan found.
struct DiskScanStep: Sendable {
    var entries: [EntryDescription] = []
    /// Those that were listed, counted or removed.
    var count = EntryCount()
    /// Where the next step goes on; `nil`: that was the last one.
    var next: Int64?
    var upTo: Int64
}

extension DiskScanStep {
    /// Only these were removed: the next step goes on behind them.
    fileprivate mutating func cut(behind removed: [IndexVictim]) {
        next = removed.last?.number
        count = EntryCount()
        for victim in removed { count.add(victim.charge) }
    }
}

/// An entry as a scan sees it.
struct ScannedRow {
    let victim: IndexVictim
    let key: String
    let stored: UnixTime
    let description: EntryDescription
}

extension DiskTier {
    /// One step; `nil` where the disk cannot.
    func scan(_ scan: DiskScan, _ now: UnixTime) -> DiskScanStep? {
        attempt(now) { (index) throws(DiskError) in
            let upTo = scan.upTo ?? (nextNumber - 1)
            if scan.purpose == .count, scan.selection.selection.isAll {
                let usage = try index.usage()
                let count = EntryCount(
                    entries: UInt64(clamping: usage.entries), bytes: UInt64(clamping: usage.bytes))
                return DiskScanStep(count: count, upTo: upTo)
            }
            if scan.purpose == .remove { keepOut(scan.selection) }
            return try step(scan, upTo: upTo, index)
        }
    }

    private func step(
        _ scan: DiskScan, upTo: Int64, _ index: DiskIndex
    ) throws(DiskError) -> DiskScanStep {
        var step = DiskScanStep(upTo: upTo)
        var victims: [IndexVictim] = []
        var keyBytes = 0
        let rowsMax = DiskScan.rowsPerStep
        let tag = scan.selection.selection.tag
        let (seen, last) = try index.scan(behind: scan.after, upTo: upTo, count: rowsMax, tag: tag)
        { row in
            guard scan.selection.matches(row.key, row.stored, tags: nil) else { return true }
            if case .list(let limit) = scan.purpose {
                keyBytes += row.key.utf8.count
                let isFull = step.entries.count >= limit
                let isLong = keyBytes > EntryPage.keyBytesMax && !step.entries.isEmpty
                if isFull || isLong { return false }
                step.entries.append(row.description)
            }
            step.count.add(row.victim.charge)
            victims.append(row.victim)
            return true
        }
        if seen == rowsMax || last.isCut { step.next = last.number }
        if scan.purpose == .remove, !victims.isEmpty {
            chores.isShrinking = true
            let removed = try dropSome(victims, index)
            if removed.count < victims.count { step.cut(behind: removed) }
        }
        return step
    }

    /// What is still taken in from files and an older index is not to bring removed entries back.
    private func keepOut(_ selection: DiskSelection) {
        guard chores.isSweeping || salvaging != nil, !chores.noteRemoved(selection) else { return }
        salvaging = nil
        chores.adoptsFiles = false
    }
}
