import Model

/// A composite cache job: one that consists of several jobs, for the built-in cache and for
/// external ones. The submitter sees only its number.
///
///     next phase ──► jobs ──all answered──► next phase ──none left, or hit──► done
///                     └── external hit for a result ──► copied to where clients read ──► done
struct CompositeCacheJob: Sendable {
    /// The submitted work.
    var submission: Submission
    var urgency: Urgency
    /// Phases, executed in order; the parts of one phase run concurrently.
    var phases: [[CachePart]]
    /// Parts to run after completion, without anything waiting for them.
    var tail: [CachePart] = []
    /// Whether nothing waits for this job.
    var isTail = false

    var running: [JobID: CachePart] = [:]
    /// A query that waits for a store in flight under its text in that cache.
    var held: CachePart?
    /// A hit of an external cache while the built-in cache copies it to where clients read.
    var copying: Copy?
    /// The position in the change log when the job began.
    let since: UInt64
    /// The part of a hit that the built-in cache is storing.
    var promotion: Promotion?
    /// The timeout for parts that haven't answered.
    var alarm: Instant?

    // The results so far.
    var report = StoreReport(delivered: nil, tiers: .none)
    var tiers = CacheTypes.none
    var page = EntryPage()
    /// Progress of stepwise removals by external cache name.
    var removals: [String: StepwiseRemoval] = [:]
    var validity: Validity?
    /// The first relevant failure.
    var error: ImageError?
    var waited = 0.0
    var worked = 0.0
    /// The built-in cache, once it has taken part.
    var cache: WorkerID?

    /// A hit being copied to `results/`.
    struct Copy: Sendable {
        let job: JobID
        let hit: CacheHit
        /// The producer of the bytes.
        let producer: WorkerID
        /// The part that found the hit.
        let part: CachePart
    }

    init(_ submission: Submission, _ parts: [CachePart], since position: UInt64) {
        self.submission = submission
        since = position
        urgency = submission.urgency
        let external = parts.filter(\.isExternal)
        switch submission.spec.work {
        case .query: phases = parts.map { [$0] }
        case .entry(let work) where work.action == .contains: phases = parts.map { [$0] }
        // If the reply waits for the stores, it waits for the external ones too; otherwise they run
        // after it.
        case .store(let work) where work.delivers && work.waitsForDisk:
            phases = [external, parts.filter { !$0.isExternal }].filter { !$0.isEmpty }
        case .store(let work) where work.delivers:
            (phases, tail) = ([parts.filter { !$0.isExternal }], external)
        default: phases = [parts]
        }
        if parts.isEmpty, case .entry(let work) = submission.spec.work, !work.action.removes,
            work.action.affectsSeveral
        {
            error = ImageError(
                .notSupported,
                "an external cache cannot list or count its entries; it supports only lookups and "
                    + "removals")
        }
    }

    /// Whether any part is running.
    var isUnderWay: Bool { !running.isEmpty || held != nil || copying != nil }

    /// The job to wait for, preferably that of the built-in cache.
    var awaited: JobID? {
        copying?.job ?? running.first { !$0.value.isExternal }?.key ?? running.keys.min()
    }

    /// Whether the work only queries, so that a failure counts as a miss.
    var isQuery: Bool {
        switch submission.spec.work {
        case .query: true
        case .entry(let work): work.wantsValidity
        case .store, .fetch, .decode, .transform, .paint: false
        }
    }

    /// The outcome once no phase is left.
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
            return .success(work.action.affectsSeveral ? .entries(progress) : .entry(tiers))
        case .fetch, .decode, .transform, .paint:
            preconditionFailure("composite jobs are cache jobs")
        }
    }

    /// Records the answer of a part. Returns whether it completes the job.
    mutating func note(_ result: JobResult, of part: CachePart) -> Bool {
        switch result {
        case .stored(let stored):
            report.tiers.formUnion(part.isExternal && !stored.tiers.isEmpty ? .disk : stored.tiers)
            guard !part.isExternal else { return false }
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

    /// Records a failed or skipped part. For queries, only the built-in cache counts.
    mutating func note(_ failure: ImageError, of part: CachePart) {
        if part.isExternal, isQuery { return }
        if error == nil || !part.isExternal { error = failure }
        if case .store = submission.spec.work, report.skipped == nil {
            report.skipped = failure.message
        }
    }
}

extension CachePart {
    /// Whether an external cache runs the part.
    var isExternal: Bool {
        if case .external = self { true } else { false }
    }

    /// The text of the entry that the part is about, if any.
    var text: String? {
        switch work {
        case .query(let work): work.key
        case .store(let work): work.key
        case .entry(let work): work.key.isEmpty ? nil : work.key
        case .fetch, .decode, .transform, .paint: nil
        }
    }

    /// Whether the part stores an entry.
    var isStore: Bool { if case .store = work { true } else { false } }

    /// Whether the part removes entries.
    var removes: Bool { if case .entry(let work) = work { work.action.removes } else { false } }

    /// Whether the part looks up an entry.
    var asks: Bool {
        switch work {
        case .query: true
        case .entry(let work): work.action == .contains
        case .store, .fetch, .decode, .transform, .paint: false
        }
    }
}

extension EntryPage {
    /// Adds the counts and entries of another page.
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

/// Progress of a stepwise removal from an external cache.
struct StepwiseRemoval: Hashable, Sendable {
    private(set) var removed = EntryCount()
    /// The number of entries examined.
    private(set) var examined: UInt64 = 0
    /// The number of entries before the removal, as reported by the cache; 0 if unknown.
    private(set) var total: UInt64 = 0
    /// The number of completed steps.
    private(set) var steps = 0

    /// The number of steps after which the removal is considered endless.
    static let stepsMax = 1 << 20

    /// Records a completed step.
    mutating func add(_ step: EntryPage) {
        steps += 1
        removed.add(step.disk)
        examined = examined.addingClamped(step.examined)
        total = step.total == 0 ? 0 : step.total.addingClamped(removed.entries)
    }

    /// The estimated number of entries not examined yet; `nil` if unknown.
    var left: UInt64? { total == 0 ? nil : total > examined ? total - examined : 0 }
}

extension CompositeCacheJob {
    /// The combined progress so far.
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

    /// Adds the progress of a stepwise removal to the error that ended it; other errors are
    /// returned unchanged.
    func stopped(_ part: CachePart, by error: ImageError) -> ImageError {
        guard case .external(_, let name, _) = part, let removal = removals[name] else {
            return error
        }
        let left = removal.left.map { "about \($0) entries" } ?? "an unknown number of entries"
        return ImageError(
            error.code,
            error.message
                + "; \(removal.removed.entries) of its entries were removed, \(left) were "
                + "not examined: repeat the command to continue"
        ) {
            $0 = error.typedDetails
            $0.removed = removal.removed.entries
            $0.left = removal.left
        }
    }
}

extension CachePart {
    /// Whether the part continues a stepwise removal.
    var isLaterStep: Bool {
        if case .entry(let work) = work { work.inSteps && work.after != 0 } else { false }
    }
}

extension EntryPage {
    /// Whether more steps follow this answer.
    var isUnfinished: Bool { next != 0 }
}

extension UInt64 {
    fileprivate func addingClamped(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

/// All composite cache jobs, the owners of their parts, and the state of external caches.
struct CompositeCacheJobs: Sendable {
    private var compositeJobs: [JobID: CompositeCacheJob] = [:]
    /// The composite job that owns each job.
    private var owners: [JobID: JobID] = [:]
    private var alarms = Heap<Alarm>()
    /// Stores to external caches in flight, by text, and the queries that wait for them.
    private(set) var storing: [String: Int] = [:]
    private var holding: [String: [JobID]] = [:]
    /// Texts whose removal from external caches failed. Hits for them are distrusted until they
    /// have been removed. Oldest first.
    private var distrusted: [String: UInt64] = [:]
    private var distrustQueue = Deque<(text: String, serial: UInt64)>()
    private var lastDistrust: UInt64 = 0
    /// Composite jobs that promote a hit.
    private var promotions: Set<JobID> = []
    /// By pool.
    var circuits: [String: CacheCircuit] = [:]
    private(set) var metrics: [String: ExternalCacheMetrics] = [:]

    private struct Alarm: Comparable, Sendable {
        let at: Instant
        let compositeJob: JobID

        static func < (left: Alarm, right: Alarm) -> Bool {
            (left.at, left.compositeJob) < (right.at, right.compositeJob)
        }
    }

    /// The largest number of distrusted texts; those beyond it may be served once more.
    private static let distrustedMax = 65_536

    // MARK: - Composite jobs

    var isEmpty: Bool {
        compositeJobs.isEmpty && owners.isEmpty && storing.isEmpty && holding.isEmpty
            && promotions.isEmpty
    }

    /// Oldest first.
    var ids: [JobID] { compositeJobs.keys.sorted() }

    /// Whether the number belongs to a composite job.
    func contains(_ id: JobID) -> Bool { compositeJobs[id] != nil }

    subscript(id: JobID) -> CompositeCacheJob? {
        _read { yield compositeJobs[id] }
        _modify { yield &compositeJobs[id] }
    }

    mutating func begin(_ id: JobID, _ compositeJob: CompositeCacheJob) {
        compositeJobs[id] = compositeJob
    }

    /// Removes a finished composite job and disowns its jobs.
    mutating func remove(_ id: JobID) -> CompositeCacheJob? {
        guard let compositeJob = compositeJobs.removeValue(forKey: id) else { return nil }
        if compositeJob.promotion != nil { promotions.remove(id) }
        for job in compositeJob.running.keys { owners[job] = nil }
        if let copy = compositeJob.copying { owners[copy.job] = nil }
        if let text = compositeJob.held?.text { stopHolding(id, text) }
        return compositeJob
    }

    // MARK: - Jobs

    /// Returns the composite job that owns a job, or `nil` if there is none.
    func owner(of job: JobID) -> JobID? { owners.isEmpty ? nil : owners[job] }

    mutating func own(_ job: JobID, by id: JobID) { owners[job] = id }

    mutating func disown(_ job: JobID) { owners[job] = nil }

    // MARK: - Promotions

    /// Composite jobs that promote a hit, oldest first.
    var promoting: [JobID] { promotions.isEmpty ? [] : promotions.sorted() }

    /// Records that the built-in cache is storing a hit. Ignored if the composite job is over.
    mutating func beganPromotion(_ id: JobID, _ promotion: Promotion) {
        guard compositeJobs[id] != nil else { return }
        compositeJobs[id]?.promotion = promotion
        promotions.insert(id)
    }

    /// Records that the promotion has ended or has been canceled.
    mutating func endedPromotion(_ id: JobID) {
        if promotions.remove(id) != nil { compositeJobs[id]?.promotion = nil }
    }

    // MARK: - Time

    /// The first timer, which may belong to a finished composite job.
    var nextAlarm: Instant? { alarms.first?.at }

    mutating func setAlarm(of id: JobID, at moment: Instant) {
        compositeJobs[id]?.alarm = moment
        alarms.push(Alarm(at: moment, compositeJob: id))
    }

    /// Removes the first timer and returns its composite job, or `nil` if the timer is obsolete.
    mutating func removeFirstAlarm() -> JobID? {
        guard let alarm = alarms.pop(), compositeJobs[alarm.compositeJob]?.alarm == alarm.at else {
            return nil
        }
        return alarm.compositeJob
    }

    /// Removes obsolete timers: those at the front immediately, the others once they are the
    /// majority.
    mutating func forgetAlarms() {
        while let alarm = alarms.first, compositeJobs[alarm.compositeJob]?.alarm != alarm.at {
            _ = alarms.pop()
        }
        guard alarms.count > 2 * compositeJobs.count + 64 else { return }
        alarms.keep { [compositeJobs] in compositeJobs[$0.compositeJob]?.alarm == $0.at }
    }

    // MARK: - Stores in flight

    mutating func beganStore(of text: String) { storing[text, default: 0] += 1 }

    /// Records the end of a store. Returns the queries that may continue.
    mutating func endedStore(of text: String) -> [JobID] {
        guard let count = storing[text] else { return [] }
        storing[text] = count > 1 ? count - 1 : nil
        return count > 1 ? [] : holding.removeValue(forKey: text) ?? []
    }

    /// Makes a query wait for the store in flight under its text.
    mutating func hold(_ id: JobID, until text: String) { holding[text, default: []].append(id) }

    private mutating func stopHolding(_ id: JobID, _ text: String) {
        holding[text]?.removeAll { $0 == id }
        if holding[text]?.isEmpty == true { holding[text] = nil }
    }

    /// Ends the waiting of a query.
    mutating func release(_ id: JobID) {
        if let text = compositeJobs[id]?.held?.text { stopHolding(id, text) }
        compositeJobs[id]?.held = nil
    }

    // MARK: - Distrusted texts

    func isDistrusted(_ text: String) -> Bool { !distrusted.isEmpty && distrusted[text] != nil }

    mutating func distrust(_ text: String) {
        guard distrusted[text] == nil else { return }
        lastDistrust += 1
        distrusted[text] = lastDistrust
        distrustQueue.append((text, lastDistrust))
        while distrustQueue.count > Self.distrustedMax, let oldest = distrustQueue.popFirst() {
            // A text that was trusted again and then distrusted has a later entry.
            if distrusted[oldest.text] == oldest.serial { distrusted[oldest.text] = nil }
        }
    }

    mutating func trust(_ text: String) {
        if !distrusted.isEmpty { distrusted[text] = nil }
    }

    // MARK: - Metrics

    mutating func count(_ pool: String, _ metric: WritableKeyPath<ExternalCacheMetrics, UInt64>) {
        metrics[pool, default: ExternalCacheMetrics()][keyPath: metric] += 1
    }
}

/// A circuit breaker for an external cache. After several consecutive timeouts or failures the
/// cache isn't queried for a while, so that requests don't wait for it each time.
///
///     closed ──5 consecutive failures──► open ──1 s──► trial query ──answer──► closed
///                                         ▲                │
///                                         └──backoff × 2───┘ failure
struct CacheCircuit: Hashable, Sendable {
    private enum State: Hashable, Sendable {
        /// Queries are sent; the payload is the number of consecutive failures.
        case closed(failures: Int)
        /// No queries are sent until then; `pause` is the current backoff in milliseconds.
        case open(until: Instant, pause: Int)
        /// A trial query is in flight; if it isn't answered in time, another one is sent.
        case trying(until: Instant, pause: Int)
    }

    private var state = State.closed(failures: 0)

    /// The number of consecutive failures that opens the circuit.
    static let failuresMax = 5
    /// The initial and the largest backoff in milliseconds.
    static let pauses = 1_000...30_000

    /// Whether the circuit is open or being tried.
    var isOpen: Bool {
        switch state {
        case .closed: false
        case .open, .trying: true
        }
    }

    /// Returns whether a query may be sent now; if so, the caller must send it.
    mutating func admits(at now: Instant) -> Bool {
        switch state {
        case .closed: return true
        case .open(let until, let pause), .trying(let until, let pause):
            guard until <= now else { return false }
            state = .trying(until: now.adding(milliseconds: pause), pause: pause)
            return true
        }
    }

    /// Records a timely answer.
    mutating func answered() { state = .closed(failures: 0) }

    /// Records a timeout, a failure, or the loss of the worker.
    mutating func failed(at now: Instant) {
        switch state {
        case .closed(let failures) where failures + 1 < Self.failuresMax:
            state = .closed(failures: failures + 1)
        case .closed: open(for: Self.pauses.lowerBound, at: now)
        // The query was sent before the circuit opened.
        case .open: break
        case .trying(_, let pause): open(for: min(2 * pause, Self.pauses.upperBound), at: now)
        }
    }

    private mutating func open(for pause: Int, at now: Instant) {
        state = .open(until: now.adding(milliseconds: pause), pause: pause)
    }
}

/// Metrics of the operations on one external cache pool since the start.
struct ExternalCacheMetrics: Hashable, Sendable {
    /// Queries answered with bytes.
    var hits: UInt64 = 0
    /// Queries answered without bytes.
    var misses: UInt64 = 0
    /// Completed stores, removals and entry operations.
    var writes: UInt64 = 0
    /// Failed operations, and those lost with a worker.
    var errors: UInt64 = 0
    /// Operations that timed out.
    var slow: UInt64 = 0
    /// Operations skipped because no worker was connected, the queue was full, or the circuit was
    /// open. They count as misses or as stores not performed.
    var skipped: UInt64 = 0
    /// Hits whose result the built-in cache rejected because it wasn't the declared image.
    var refused: UInt64 = 0
    /// Hits stored in the built-in cache.
    var promoted: UInt64 = 0
}

extension WorkGraph {
    /// Metrics of external caches, by pool.
    var externalCacheCounters: [StatusReport.Counter] {
        compositeJobs.metrics.sorted { $0.key < $1.key }.flatMap { pool, metrics in
            [
                ("Hits", metrics.hits), ("Misses", metrics.misses), ("Writes", metrics.writes),
                ("Errors", metrics.errors), ("Slow", metrics.slow), ("Skipped", metrics.skipped),
                ("Refused", metrics.refused), ("Promoted", metrics.promoted),
                ("LeftAlone", compositeJobs.circuits[pool]?.isOpen == true ? 1 : 0),
            ].map { StatusReport.Counter(name: "foreignCache\($0.0).\(pool)", value: $0.1) }
        }
    }
}
