import Dispatching
import ImageModel
import Messages

/// A job of the cache that is done by several: our own cache, and programs of others. Whoever
/// submitted it knows its number alone.
///
///     next phase ──► jobs ──all answered──► next phase ──none left, or found──► over
///                     └── a result at another's ──► copied to where clients read ──► over
struct CacheErrand: Sendable {
    /// What was wanted.
    var submission: Submission
    /// How badly, now.
    var urgency: Urgency
    /// What is done one after the other; the parts of one phase are done at once.
    var phases: [[CachePart]]
    /// What is done once it is over, and nobody waits for.
    var tail: [CachePart] = []
    /// Whether nobody waits for it.
    var isTail = false

    /// What is being done.
    var running: [JobID: CachePart] = [:]
    /// A query that waits until what is stored under its text in that cache is there.
    var held: CachePart?
    /// What another cache found, while our own copies it to where clients read.
    var copying: Copy?
    /// The changes of entries that had ended as it began.
    let since: UInt64
    /// What our own cache keeps of a hit, while it takes it.
    var promotion: Promotion?
    /// When those that have not answered are not waited for any more.
    var alarm: Instant?

    // What came of it so far.
    var report = StoreReport(delivered: nil, tiers: .none)
    var tiers = CacheTypes.none
    var page = EntryPage()
    /// How far each external cache is whose entries are removed in steps, by its name.
    var removals: [String: StepwiseRemoval] = [:]
    var validity: Validity?
    /// The first failure that counts.
    var error: ImageError?
    var waited = 0.0
    var worked = 0.0
    /// Our own cache, once it did something.
    var cache: WorkerID?

    /// A hit on its way to `results/`.
    struct Copy: Sendable {
        let job: JobID
        let hit: CacheHit
        /// Who made the bytes.
        let producer: WorkerID
        /// Where they were found.
        let part: CachePart
    }

    init(_ submission: Submission, _ parts: [CachePart], since position: UInt64) {
        self.submission = submission
        since = position
        urgency = submission.urgency
        let foreign = parts.filter(\.isForeign)
        switch submission.spec.work {
        case .query: phases = parts.map { [$0] }
        case .entry(let work) where work.action == .contains: phases = parts.map { [$0] }
        // A reply that waits for stores waits for these; others go out before.
        case .store(let work) where work.delivers && work.waitsForDisk:
            phases = [foreign, parts.filter { !$0.isForeign }].filter { !$0.isEmpty }
        case .store(let work) where work.delivers:
            (phases, tail) = ([parts.filter { !$0.isForeign }], foreign)
        default: phases = [parts]
        }
        if parts.isEmpty, case .entry(let work) = submission.spec.work, !work.action.removes,
            work.action.isOfSeveral
        {
            error = ImageError(
                .notSupported,
                "another program holds this cache, and does not say what it has: entries can be "
                    + "looked for and removed")
        }
    }

    /// Whether something is under way.
    var isUnderWay: Bool { !running.isEmpty || held != nil || copying != nil }

    /// The job that it waits for, if it does for one: that of our own cache first.
    var awaited: JobID? {
        copying?.job ?? running.first { !$0.value.isForeign }?.key ?? running.keys.min()
    }

    /// Whether it only asks, so that what nobody can say is a miss.
    var isQuery: Bool {
        switch submission.spec.work {
        case .query: true
        case .entry(let work): work.wantsValidity
        case .store, .fetch, .decode, .transform, .paint: false
        }
    }

    /// What it is, when nothing is left to be done.
    var outcome: Result<JobResult, ImageError> {
        switch submission.spec.work {
        case .query: return error.map { .failure($0) } ?? .success(.miss)
        case .store(let work):
            if work.delivers ? report.delivered == nil : report.tiers.isEmpty, let error {
                return .failure(error)
            }
            return .success(.stored(report))
        case .entry(let work):
            if let error { return .failure(error) }
            if let validity { return .success(.validity(validity)) }
            return .success(work.action.isOfSeveral ? .entries(progress) : .entry(tiers))
        case .fetch, .decode, .transform, .paint:
            preconditionFailure("errands are of caches")
        }
    }

    /// A part has answered. Whether that is the end.
    mutating func note(_ result: JobResult, of part: CachePart) -> Bool {
        switch result {
        case .stored(let stored):
            report.tiers.formUnion(part.isForeign && !stored.tiers.isEmpty ? .disk : stored.tiers)
            guard !part.isForeign else { return false }
            report.delivered = stored.delivered
            report.digest = stored.digest
            report.skipped = stored.skipped
            return false
        case .entry(let gone):
            tiers.formUnion(gone)
            guard case .entry(let work) = submission.spec.work else { return false }
            return work.action == .contains && !work.wantsValidity && !gone.isEmpty
        case .entries(let more):
            page.add(more)
            return false
        case .validity(let known):
            validity = known
            return true
        case .hit: return true
        case .miss, .failed, .fetched, .decoded, .transformed: return false
        }
    }

    /// A part has failed, or was not asked. Of a query only our own cache counts.
    mutating func note(_ failure: ImageError, of part: CachePart) {
        if part.isForeign, isQuery { return }
        if error == nil || !part.isForeign { error = failure }
        if case .store = submission.spec.work, report.skipped == nil {
            report.skipped = failure.message
        }
    }
}

extension CachePart {
    /// Whether others do it.
    var isForeign: Bool {
        if case .foreign = self { true } else { false }
    }

    /// The text that it is about, where it is about one.
    var text: String? {
        switch work {
        case .query(let work): work.key
        case .store(let work): work.key
        case .entry(let work): work.key.isEmpty ? nil : work.key
        case .fetch, .decode, .transform, .paint: nil
        }
    }

    /// Whether it stores something.
    var isStore: Bool { if case .store = work { true } else { false } }

    /// Whether it removes entries.
    var removes: Bool { if case .entry(let work) = work { work.action.removes } else { false } }

    /// Whether it looks for an entry.
    var asks: Bool {
        switch work {
        case .query: true
        case .entry(let work): work.action == .contains
        case .store, .fetch, .decode, .transform, .paint: false
        }
    }
}

extension EntryPage {
    /// Counts those of another page as well.
    mutating func add(_ other: EntryPage) {
        entries += other.entries
        next = max(next, other.next)
        memory.add(other.memory)
        disk.add(other.disk)
    }
}

extension EntryCount {
    mutating func add(_ other: EntryCount) {
        entries =
            entries.addingReportingOverflow(other.entries).overflow
            ? .max : entries + other.entries
        bytes = bytes.addingReportingOverflow(other.bytes).overflow ? .max : bytes + other.bytes
    }
}
