import Dispatching
import ImageModel
package import Messages
import Tables

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

/// How far an external cache is whose entries are removed in steps.
struct StepwiseRemoval: Hashable, Sendable {
    /// What is gone.
    private(set) var removed = EntryCount()
    /// Entries that were looked at.
    private(set) var examined: UInt64 = 0
    /// Entries of the cache before the removal, as far as it knows; 0: it does not say.
    private(set) var total: UInt64 = 0
    /// Steps that were done.
    private(set) var steps = 0

    /// Steps after which it counts as endless.
    static let stepsMax = 1 << 20

    /// A step has been done.
    mutating func add(_ step: EntryPage) {
        steps += 1
        removed.add(step.disk)
        examined = examined.addingClamped(step.examined)
        total = step.total == 0 ? 0 : step.total.addingClamped(removed.entries)
    }

    /// Entries that were not looked at, about; `nil` where nobody knows.
    var left: UInt64? { total == 0 ? nil : total > examined ? total - examined : 0 }
}

extension CacheErrand {
    /// What it has come to so far.
    var progress: EntryPage {
        var page = page
        for removal in removals.values {
            page.disk.add(removal.removed)
            page.examined = page.examined.addingClamped(removal.examined)
            page.total = page.total.addingClamped(max(removal.total, removal.examined))
        }
        if removals.values.contains(where: { $0.left == nil }) { page.total = 0 }
        return page
    }

    /// Adds what is left to the error that ends a removal in steps; other errors stay as they are.
    func stopped(_ part: CachePart, by error: ImageError) -> ImageError {
        guard case .foreign(_, let name, _) = part, let removal = removals[name] else {
            return error
        }
        let left = removal.left.map { "about \($0) entries" } ?? "an unknown number of entries"
        var details = error.details
        details["removed"] = "\(removal.removed.entries)"
        details["left"] = removal.left.map { "\($0)" }
        return ImageError(
            error.code,
            error.message + "; \(removal.removed.entries) entries of it are removed, \(left) were "
                + "not examined: repeat the command to go on", details: details)
    }
}

extension CachePart {
    /// Whether it goes on with a removal in steps.
    var isLaterStep: Bool {
        if case .entry(let work) = work { work.inSteps && work.after != 0 } else { false }
    }
}

extension EntryPage {
    /// Whether it is the answer of a step after which others follow.
    var isUnfinished: Bool { next != 0 }
}

extension UInt64 {
    fileprivate func addingClamped(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

/// All errands, whose jobs are whose, and what is known of caches of others.
struct CacheErrands: Sendable {
    private var errands: [JobID: CacheErrand] = [:]
    /// Whose a job is.
    private var owners: [JobID: JobID] = [:]
    private var alarms = Heap<Alarm>()
    /// Stores at others that are under way, by text, and the queries that wait for them.
    private(set) var storing: [String: Int] = [:]
    private var holding: [String: [JobID]] = [:]
    /// Texts that could not be removed from caches of others: what these have is not believed until
    /// they were. The oldest first.
    private var doubted: [String: UInt64] = [:]
    private var doubts = Fifo<(text: String, serial: UInt64)>()
    private var lastDoubt: UInt64 = 0
    /// Errands that promote a hit.
    private var promotions: Set<JobID> = []
    /// By pool.
    var circuits: [String: CacheCircuit] = [:]
    private(set) var figures: [String: ForeignCacheFigures] = [:]

    private struct Alarm: Comparable, Sendable {
        let at: Instant
        let errand: JobID

        static func < (left: Alarm, right: Alarm) -> Bool {
            (left.at, left.errand) < (right.at, right.errand)
        }
    }

    /// Texts that are not believed, at most: those beyond it may be served once more.
    private static let doubtsMax = 65_536

    // MARK: - Errands

    var isEmpty: Bool {
        errands.isEmpty && owners.isEmpty && storing.isEmpty && holding.isEmpty
            && promotions.isEmpty
    }

    /// The oldest first.
    var ids: [JobID] { errands.keys.sorted() }

    /// Whether that is the number of one.
    func contains(_ id: JobID) -> Bool { errands[id] != nil }

    subscript(id: JobID) -> CacheErrand? {
        _read { yield errands[id] }
        _modify { yield &errands[id] }
    }

    mutating func begin(_ id: JobID, _ errand: CacheErrand) { errands[id] = errand }

    /// It is over; its jobs are nobody's any more.
    mutating func remove(_ id: JobID) -> CacheErrand? {
        guard let errand = errands.removeValue(forKey: id) else { return nil }
        if errand.promotion != nil { promotions.remove(id) }
        for job in errand.running.keys { owners[job] = nil }
        if let copy = errand.copying { owners[copy.job] = nil }
        if let text = errand.held?.text { stopHolding(id, text) }
        return errand
    }

    // MARK: - Jobs

    /// Whose the job is; `nil` where it is no errand's.
    func owner(of job: JobID) -> JobID? { owners.isEmpty ? nil : owners[job] }

    mutating func own(_ job: JobID, by id: JobID) { owners[job] = id }

    mutating func disown(_ job: JobID) { owners[job] = nil }

    // MARK: - Promotions

    /// Those that promote a hit, the oldest first.
    var promoting: [JobID] { promotions.isEmpty ? [] : promotions.sorted() }

    /// Our own cache takes a hit. One that is over already is ignored.
    mutating func beganPromotion(_ id: JobID, _ promotion: Promotion) {
        guard errands[id] != nil else { return }
        errands[id]?.promotion = promotion
        promotions.insert(id)
    }

    /// It took it, or is not to keep it any more.
    mutating func endedPromotion(_ id: JobID) {
        if promotions.remove(id) != nil { errands[id]?.promotion = nil }
    }

    // MARK: - Time

    /// The first alarm; it may be of an errand that is over.
    var nextAlarm: Instant? { alarms.first?.at }

    mutating func setAlarm(of id: JobID, at moment: Instant) {
        errands[id]?.alarm = moment
        alarms.push(Alarm(at: moment, errand: id))
    }

    /// The errand whose alarm rings; `nil` where that does not count any more.
    mutating func takeFirstAlarm() -> JobID? {
        guard let alarm = alarms.pop(), errands[alarm.errand]?.alarm == alarm.at else {
            return nil
        }
        return alarm.errand
    }

    /// Throws out alarms that do not count: those in front at once, others when they are the
    /// majority.
    mutating func forgetAlarms() {
        while let alarm = alarms.first, errands[alarm.errand]?.alarm != alarm.at {
            _ = alarms.pop()
        }
        guard alarms.count > 2 * errands.count + 64 else { return }
        alarms.keep { [errands] in errands[$0.errand]?.alarm == $0.at }
    }

    // MARK: - Stores under way

    mutating func beganStore(of text: String) { storing[text, default: 0] += 1 }

    /// A store has ended; the queries that may go on now.
    mutating func endedStore(of text: String) -> [JobID] {
        guard let count = storing[text] else { return [] }
        storing[text] = count > 1 ? count - 1 : nil
        return count > 1 ? [] : holding.removeValue(forKey: text) ?? []
    }

    /// A query waits for what is being stored under its text.
    mutating func hold(_ id: JobID, until text: String) { holding[text, default: []].append(id) }

    private mutating func stopHolding(_ id: JobID, _ text: String) {
        holding[text]?.removeAll { $0 == id }
        if holding[text]?.isEmpty == true { holding[text] = nil }
    }

    /// A query does not wait any more.
    mutating func release(_ id: JobID) {
        if let text = errands[id]?.held?.text { stopHolding(id, text) }
        errands[id]?.held = nil
    }

    // MARK: - What is not believed

    func isDoubted(_ text: String) -> Bool { !doubted.isEmpty && doubted[text] != nil }

    mutating func doubt(_ text: String) {
        guard doubted[text] == nil else { return }
        lastDoubt += 1
        doubted[text] = lastDoubt
        doubts.append((text, lastDoubt))
        while doubts.count > Self.doubtsMax, let oldest = doubts.popFirst() {
            // One that was believed since and is doubted again has a later turn.
            if doubted[oldest.text] == oldest.serial { doubted[oldest.text] = nil }
        }
    }

    mutating func believe(_ text: String) {
        if !doubted.isEmpty { doubted[text] = nil }
    }

    // MARK: - Figures

    mutating func count(_ pool: String, _ figure: WritableKeyPath<ForeignCacheFigures, UInt64>) {
        figures[pool, default: ForeignCacheFigures()][keyPath: figure] += 1
    }
}

/// Whether a cache of others is asked: not for a while after it was slow or failed several times in
/// a row, so that nobody waits for it each time.
///
///     asked ──5 faults in a row──► left alone ──1 s──► tried once ──answers──► asked
///                                      ▲                   │
///                                      └──twice as long────┘ fault
struct CacheCircuit: Hashable, Sendable {
    private enum State: Hashable, Sendable {
        /// It is asked; so many faults came in a row.
        case closed(faults: Int)
        /// It is not asked until then, and was not for so many milliseconds.
        case open(until: Instant, pause: Int)
        /// One question is under way; where it is not answered by then, the next one is asked.
        case trying(until: Instant, pause: Int)
    }

    private var state = State.closed(faults: 0)

    /// Faults in a row after which it is left alone.
    static let faultsMax = 5
    /// Milliseconds: the first time, and at most.
    static let pauses = 1_000...30_000

    /// Whether it is left alone, or tried.
    var isOpen: Bool {
        switch state {
        case .closed: false
        case .open, .trying: true
        }
    }

    /// Whether it may be asked something now; who gets a yes asks.
    mutating func admits(at now: Instant) -> Bool {
        switch state {
        case .closed: return true
        case .open(let until, let pause), .trying(let until, let pause):
            guard until <= now else { return false }
            state = .trying(until: now.adding(milliseconds: pause), pause: pause)
            return true
        }
    }

    /// It answered in time.
    mutating func answered() { state = .closed(faults: 0) }

    /// It was slow, failed, or is gone with what it was asked.
    mutating func failed(at now: Instant) {
        switch state {
        case .closed(let faults) where faults + 1 < Self.faultsMax:
            state = .closed(faults: faults + 1)
        case .closed: open(for: Self.pauses.lowerBound, at: now)
        // It was asked before, with others that failed.
        case .open: break
        case .trying(_, let pause): open(for: min(2 * pause, Self.pauses.upperBound), at: now)
        }
    }

    private mutating func open(for pause: Int, at now: Instant) {
        state = .open(until: now.adding(milliseconds: pause), pause: pause)
    }
}

/// What became of what a pool of caches of others was asked, since the start.
package struct ForeignCacheFigures: Hashable, Sendable {
    /// Queries that it answered with bytes.
    package var hits: UInt64 = 0
    /// Queries that it answered without any.
    package var misses: UInt64 = 0
    /// What it took, removed, or said of entries.
    package var writes: UInt64 = 0
    /// What failed, and what was lost with a worker.
    package var errors: UInt64 = 0
    /// What was not answered in time.
    package var slow: UInt64 = 0
    /// What it was not asked, since no worker is connected, too much waits, or it was slow or
    /// failed before: misses, and stores that were not made.
    package var skipped: UInt64 = 0
    /// Results among the hits that our own cache did not take for the images that they were said to
    /// be.
    package var refused: UInt64 = 0
    /// Hits that our own cache has kept.
    package var promoted: UInt64 = 0

    /// Nothing yet.
    package init() {}
}

extension Deriver {
    /// What became of what caches of others were asked, by pool.
    package var foreignCacheCounters: [StatusReport.Counter] {
        errands.figures.sorted { $0.key < $1.key }.flatMap { pool, figures in
            [
                ("Hits", figures.hits), ("Misses", figures.misses), ("Writes", figures.writes),
                ("Errors", figures.errors), ("Slow", figures.slow), ("Skipped", figures.skipped),
                ("Refused", figures.refused), ("Promoted", figures.promoted),
                ("LeftAlone", errands.circuits[pool]?.isOpen == true ? 1 : 0),
            ].map { StatusReport.Counter(name: "foreignCache\($0.0).\(pool)", value: $0.1) }
        }
    }
}
