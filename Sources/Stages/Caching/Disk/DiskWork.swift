internal import Model

/// A request to the disk thread.
struct DiskRequest: Sendable {
    /// Identifies the answer.
    let ticket: UInt64
    let work: DiskWork
    /// When it was submitted.
    let now: UnixTime

    /// Whether it is maintenance, which has lower priority than reads and stores.
    var isChore: Bool {
        if case .maintain = work { return true }
        return false
    }

    /// Whether it only reads, so that dropping it changes nothing.
    var isQuestion: Bool {
        switch work {
        case .look, .read, .find: true
        case .write, .remove, .renew, .clear, .scan, .trim, .adopt, .touch, .maintain, .flush: false
        }
    }
}

enum DiskWork: Sendable {
    /// Find the entry of a key, and read it immediately if it is small and memory is available.
    case look(String, Body.Home)
    /// Read a located body into memory reserved for it.
    case read(String, IndexRow, Body)
    /// Store these bodies in one transaction.
    case write([PendingWrite])
    case remove(String)
    /// Update the caching information of a key's entry, if its bytes are the same.
    case renew(String, Validity)
    /// Check whether a key has an entry.
    case find(String)
    case clear
    /// One step of a scan over the entries.
    case scan(DiskScan)
    /// Start trimming to the low-water mark.
    case trim
    /// Apply these limits.
    case adopt(DiskPolicy)
    /// Record uses of keys.
    case touch([String])
    /// One step of maintenance.
    case maintain
    /// Write data that is only in memory.
    case flush
}

struct DiskAnswer: Sendable {
    let ticket: UInt64
    let result: DiskResult
    /// The status of the tier after the request.
    let status: DiskStatus
}

enum DiskResult: Sendable {
    /// An entry that is still to be read; `nil` if there is none.
    case located(IndexRow?)
    /// The entry and its verified body.
    case fetched(IndexRow, Body)
    /// The entry of the body that was read; `nil` if that is missing or wrong.
    case read(IndexRow?)
    case written([DiskWriteResult])
    /// The entry, if it exists.
    case found(IndexRow?)
    /// The result of a scan step; `nil` if the disk failed.
    case scanned(DiskScanStep?)
    /// Whether the entries are certainly gone.
    case removed(Bool)
    case done
    /// Whether there is more to do immediately.
    case maintained(Bool)
}

package struct DiskStatus: Sendable, Hashable {
    /// Whether it works, and if not, why.
    package var health = DiskHealth.healthy {
        didSet { if case .healthy = health { degradedSince = nil } }
    }
    /// Entries and bytes; `nil` while the index can't be read.
    package var usage: DiskUsage?
    /// The number of damaged entries that were removed.
    package var damaged = 0
    /// The number of indexes that were set aside and rebuilt.
    package var rebuilt = 0
    /// The reason for the last of them.
    package var quarantineReason: DiskError?
    /// The version of the index before it was upgraded while opening; `nil` if it was not upgraded.
    package var upgradedFrom: Int64?
    package var degradedSince: UnixTime?
    /// Counters since the process started.
    package var counts = DiskCounts()
    /// The usage of named caches, up to about a second old.
    package var caches: [String: DiskUsage] = [:]
}

extension DiskTier {
    func perform(_ request: DiskRequest) -> DiskAnswer {
        let result = perform(request.work, request.now)
        return DiskAnswer(ticket: request.ticket, result: result, status: status(request.now))
    }

    private func perform(_ work: DiskWork, _ now: UnixTime) -> DiskResult {
        switch work {
        case .look(let key, let home): return look(key, home, now)
        case .read(let key, let row, let body): return .read(read(key, row, body, now))
        case .write(let writes):
            return withExtendedLifetime(writes) { .written(write(writes.map(\.diskWrite), now)) }
        case .find(let key): return .found(locate(key, now))
        case .remove(let key): return .removed(remove(key, now))
        case .clear: return .removed(clear(now))
        case .scan(let scan): return .scanned(self.scan(scan, now))
        case .trim:
            trimNow()
            return .maintained(true)
        case .maintain:
            let hasMore = maintain(now)
            if !hasMore, let usage = try? index?.usageByCache() { state.caches = usage }
            return .maintained(hasMore)
        case .renew(let key, let renewal): renew(key, renewal, now)
        case .adopt(let policy): adopt(policy, now)
        case .touch(let keys): touch(keys, now)
        case .flush: flush(now)
        }
        return .done
    }

    func status(_ now: UnixTime) -> DiskStatus {
        // May reveal that the index is damaged.
        state.usage = usage(now)
        return state
    }

    /// Returns small bodies with the lookup, because another round trip through the bus thread
    /// takes longer than reading them. Large bodies, and those for which the bus thread must evict
    /// first, are only located.
    private func look(_ key: String, _ home: Body.Home, _ now: UnixTime) -> DiskResult {
        guard let row = locate(key, now) else { return .located(nil) }
        guard isThere(row, now) else { return .located(nil) }
        guard row.bodyLength < CacheStage.largeBytes,
            let body = try? Body(in: home, length: row.bodyLength)
        else { return .located(row) }
        return read(key, row, body, now).map { .fetched($0, body) } ?? .located(nil)
    }

    /// Reads a located body; the returned entry has a digest even if an earlier version stored it
    /// without one.
    private func read(_ key: String, _ row: IndexRow, _ body: Body, _ now: UnixTime) -> IndexRow? {
        guard read(key, row, into: body.target, now) else { return nil }
        var row = row
        row.metadata.digest = row.metadata.digest ?? body.digest
        return row
    }
}

/// Counters of the disk tier since the process started.
package struct DiskCounts: Sendable, Hashable {
    /// A number of removed entries and their size in bytes.
    package struct Gone: Sendable, Hashable {
        package var entries: UInt64 = 0
        /// Their size in bytes.
        package var bytes: UInt64 = 0

        mutating func add(_ victims: [IndexVictim]) {
            entries += UInt64(victims.count)
            bytes += victims.reduce(0) { $0 + UInt64(clamping: $1.charge) }
        }
    }

    /// The bytes written for bodies and their headers.
    package var bytesWritten: UInt64 = 0
    /// How often a trim to the low-water mark was started.
    package var trims: UInt64 = 0
    /// Entries evicted because of limits.
    package var trimmed = Gone()
    package var expired = Gone()
    /// How often it became degraded.
    package var failures: UInt64 = 0
}

struct DiskSelection: Sendable {
    let selection: EntrySelection
    /// Excludes entries stored later; `nil` for no restriction.
    let storedUpTo: UnixTime?

    init(_ selection: EntrySelection, _ now: UnixTime) {
        self.selection = selection
        storedUpTo = selection.olderThanSeconds.map { seconds in
            let seconds = Int64(min(seconds, EntrySelection.secondsMax))
            return now.adding(milliseconds: -seconds * 1_000)
        }
    }

    /// Returns whether an entry with that stored key, date and tags matches; unknown tags count as
    /// matching.
    func matches(_ text: String, _ stored: UnixTime, tags: [String]?) -> Bool {
        if let storedUpTo, stored > storedUpTo { return false }
        return selection.matches(text, tags: tags)
    }
}

/// A scan over the entries in the order of their numbers, in steps.
struct DiskScan: Sendable {
    /// What to do with matching entries.
    enum Purpose: Sendable, Hashable {
        /// List them, up to this number.
        case list(Int)
        case count
        case remove
    }

    let selection: DiskSelection
    let purpose: Purpose
    /// The number after which it continues.
    var after: Int64 = 0
    /// Excludes entries with larger numbers, which were added after it began; `nil` before the
    /// first step.
    var upTo: Int64?

    /// The number of rows per step: a few milliseconds.
    static let rowsPerStep = 1_024

    /// Returns whether it removes an entry, or has removed it.
    func removes(_ text: String, _ row: IndexRow) -> Bool {
        row.number <= upTo ?? .max
            && selection.matches(text, row.stored, tags: row.metadata.tags)
    }
}

struct DiskScanStep: Sendable {
    var entries: [EntryDescription] = []
    /// The entries listed, counted or removed.
    var count = EntryCount()
    /// Where the next step continues; `nil` after the last one.
    var next: Int64?
    var upTo: Int64
}

extension DiskScanStep {
    /// Limits the step to the removed entries: the next one continues after them.
    fileprivate mutating func cut(behind removed: [IndexVictim]) {
        next = removed.last?.number
        count = EntryCount()
        for victim in removed { count.add(victim.charge) }
    }
}

/// An entry in a scan.
struct ScannedRow {
    let victim: IndexVictim
    let key: String
    let stored: UnixTime
    let description: EntryDescription
}

extension DiskTier {
    /// Performs one step; returns `nil` if the disk failed.
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

    /// Prevents files and an older index that are still being imported from restoring removed
    /// entries.
    private func keepOut(_ selection: DiskSelection) {
        guard chores.isSweeping || salvaging != nil, !chores.noteRemoved(selection) else { return }
        salvaging = nil
        chores.adoptsFiles = false
    }
}
