internal import ImageModel
internal import Messages

/// Something to do on the disk thread.
struct DiskRequest: Sendable {
    /// Names the answer.
    let ticket: UInt64
    let work: DiskWork
    /// When it was asked.
    let now: UnixTime

    /// Whether nobody waits for it: it gives way to reads and stores.
    var isChore: Bool {
        if case .maintain = work { return true }
        return false
    }

    /// Whether it only answers somebody: nothing changes if it is not done.
    var isQuestion: Bool {
        switch work {
        case .look, .read, .find: true
        case .write, .remove, .renew, .clear, .scan, .trim, .adopt, .touch, .maintain, .flush: false
        }
    }
}

/// What the disk thread does.
enum DiskWork: Sendable {
    /// Find the entry of a key, and read it at once where it is short and there is room for it.
    case look(String, Body.Home)
    /// Read a located body into memory that was reserved for it.
    case read(String, IndexRow, Body)
    /// Store these in one transaction.
    case write([PendingWrite])
    case remove(String)
    /// What the origin says of caching holds for the entry of a key, if that is of the same bytes.
    case renew(String, Validity)
    /// Whether there is an entry of a key.
    case find(String)
    case clear
    /// A bit of a walk over the entries.
    case scan(DiskScan)
    /// Begin to go down to the low-water mark.
    case trim
    /// Hold to these limits.
    case adopt(DiskPolicy)
    /// Note uses of keys.
    case touch([String])
    /// A bit of housekeeping.
    case maintain
    /// Write what is noted in memory only.
    case flush
}

/// What came of it.
struct DiskAnswer: Sendable {
    let ticket: UInt64
    let result: DiskResult
    /// The tier as it was then.
    let status: DiskStatus
}

/// The answer to each `DiskWork`.
enum DiskResult: Sendable {
    /// There is an entry, which is still to be read; or none.
    case located(IndexRow?)
    /// The entry and its body, which is whole.
    case fetched(IndexRow, Body)
    /// The entry of the body that was read; `nil` where that is missing or wrong.
    case read(IndexRow?)
    /// What became of each.
    case written([DiskWriteResult])
    /// The entry, if there is one.
    case found(IndexRow?)
    /// What a scan found; `nil` where the disk could not.
    case scanned(DiskScanStep?)
    /// Whether it is certain that the entries are gone.
    case removed(Bool)
    case done
    /// Whether there is more to do at once.
    case maintained(Bool)
}

/// How the disk tier is.
public struct DiskStatus: Sendable, Hashable {
    /// Works or not, and why not.
    public var health: DiskHealth
    /// Entries and bytes; `nil` while the index cannot be read.
    public var usage: DiskUsage?
    /// Entries that were found damaged and removed.
    public var damaged: Int
    /// Indexes that were set aside and rebuilt.
    public var rebuilt: Int
    /// Why the last of them was.
    public var setAsideReason: DiskError?
    /// The version of the index before it was upgraded as it was opened; `nil` where it was not.
    public var upgradedFrom: Int64?
    /// Since when it does not work.
    public var degradedSince: UnixTime?
    /// What was done since the process started.
    public var counts: DiskCounts
    /// What named caches have, as of about a second ago.
    public var caches: [String: DiskUsage]
}

extension DiskTier {
    /// Does one piece of work.
    func perform(_ request: DiskRequest) -> DiskAnswer {
        let now = request.now
        let result: DiskResult =
            switch request.work {
            case .look(let key, let home): look(key, home, now)
            case .read(let key, let row, let body): .read(read(key, row, body, now))
            case .write(let writes):
                withExtendedLifetime(writes) { .written(write(writes.map(\.diskWrite), now)) }
            case .find(let key): .found(locate(key, now))
            case .remove(let key): .removed(remove(key, now))
            case .renew(let key, let renewal): renewed(key, renewal, now)
            case .clear: .removed(clear(now))
            case .scan(let scan): .scanned(self.scan(scan, now))
            case .trim: trimmed()
            case .adopt(let policy): adopted(policy, now)
            case .touch(let keys): touched(keys, now)
            case .maintain: maintained(now)
            case .flush: flushed(now)
            }
        return DiskAnswer(ticket: request.ticket, result: result, status: status(now))
    }

    func status(_ now: UnixTime) -> DiskStatus {
        // In this order: the look at the index may find out that it is damaged.
        let usage = usage(now)
        return DiskStatus(
            health: health, usage: usage, damaged: damaged, rebuilt: rebuilt,
            setAsideReason: setAsideReason, upgradedFrom: upgradedFrom,
            degradedSince: degradedSince, counts: counts,
            caches: usageByCache)
    }

    /// Short bodies come with the first answer: a turn through the bus thread takes longer than to
    /// read them. What that thread has to make room for, and what is long, is only located.
    private func look(_ key: String, _ home: Body.Home, _ now: UnixTime) -> DiskResult {
        guard let row = locate(key, now) else { return .located(nil) }
        guard isThere(row, now) else { return .located(nil) }
        guard row.bodyLength < CacheStage.largeBytes,
            let body = try? Body(in: home, length: row.bodyLength)
        else { return .located(row) }
        return read(key, row, body, now).map { .fetched($0, body) } ?? .located(nil)
    }

    /// Reads a located body; its entry has the digest afterwards, also where an earlier version
    /// stored it without.
    private func read(_ key: String, _ row: IndexRow, _ body: Body, _ now: UnixTime) -> IndexRow? {
        guard read(key, row, into: body.target, now) else { return nil }
        var row = row
        row.metadata.digest = row.metadata.digest ?? body.digest
        return row
    }

    private func touched(_ keys: [String], _ now: UnixTime) -> DiskResult {
        touch(keys, now)
        return .done
    }

    private func maintained(_ now: UnixTime) -> DiskResult {
        let hasMore = maintain(now)
        if !hasMore { lookAtCaches() }
        return .maintained(hasMore)
    }

    private func renewed(_ key: String, _ renewal: Validity, _ now: UnixTime) -> DiskResult {
        renew(key, renewal, now)
        return .done
    }

    private func trimmed() -> DiskResult {
        trimNow()
        return .maintained(true)
    }

    private func adopted(_ policy: DiskPolicy, _ now: UnixTime) -> DiskResult {
        adopt(policy, now)
        return .done
    }

    private func flushed(_ now: UnixTime) -> DiskResult {
        flush(now)
        return .done
    }
}

/// What the disk tier did since the process started.
public struct DiskCounts: Sendable, Hashable {
    /// Entries and what they took, bytes.
    public struct Gone: Sendable, Hashable {
        /// How many.
        public var entries: UInt64 = 0
        /// What they took.
        public var bytes: UInt64 = 0

        mutating func add(_ victims: [IndexVictim]) {
            entries += UInt64(victims.count)
            bytes += victims.reduce(0) { $0 + UInt64(clamping: $1.charge) }
        }
    }

    /// Bytes of bodies and their headers that were written.
    public var bytesWritten: UInt64 = 0
    /// How often it began to go down to the low-water mark.
    public var trims: UInt64 = 0
    /// What went for the limits.
    public var trimmed = Gone()
    /// What went for its age.
    public var expired = Gone()
    /// How often it began to fail.
    public var failures: UInt64 = 0

    /// Nothing yet.
    public init() {}
}

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
