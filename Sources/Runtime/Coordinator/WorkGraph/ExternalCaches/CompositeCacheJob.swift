import Model

/// A composite cache job: one that consists of several jobs, for the built-in cache and for
/// external ones. The submitter sees only its number.
///
///     next phase ──► jobs ──all answered──► next phase ──none left, or hit──► done
///                     └── external hit for a result ──► copied to where clients read ──► done
final class CompositeCacheJob: Alarmed {
    let id: JobID
    /// The submitted work.
    var submission: Submission
    var urgency: Urgency
    /// Whether nothing waits for this job.
    let isTail: Bool
    /// The position in the change log when the job began.
    let since: UInt64
    /// Phases, executed in order; the parts of one phase run concurrently.
    var phases: [[CachePart]]
    /// Parts to run after completion, without anything waiting for them.
    var tail: [CachePart] = []

    var running: [JobID: CachePart] = [:]
    /// A query that waits for a store in flight under its text in that cache.
    var held: CachePart?
    /// A hit of an external cache while the only running part copies it to where clients read.
    var copying: Copy?
    /// The part of a hit that the built-in cache is storing.
    var promotion: Promotion?
    /// The timeout for parts that haven't answered.
    var alarm: Instant?
    var isOver = false

    // The results so far.
    private var report = StoreReport(delivered: nil, tiers: .none)
    private var tiers = CacheTypes.none
    private(set) var page = EntryPage()
    /// Progress of stepwise removals by external cache name.
    var removals: [String: StepwiseRemoval] = [:]
    private var validity: Validity?
    /// The first relevant failure.
    var error: ImageError?
    var waited = 0.0
    var worked = 0.0
    /// The built-in cache, once it has taken part.
    var cache: WorkerID?

    /// A hit being copied to `results/`.
    struct Copy {
        let hit: CacheHit
        /// The block of the hit.
        let block: BlockHandle
        /// The part that found the hit.
        let part: CachePart
    }

    init(
        _ id: JobID, _ submission: Submission, _ parts: [CachePart], isTail: Bool,
        since position: UInt64
    ) {
        (self.id, self.submission, self.isTail, since) = (id, submission, isTail, position)
        urgency = isTail ? submission.urgency.unbounded : submission.urgency
        let (external, own) = (parts.filter(\.isExternal), parts.filter { !$0.isExternal })
        switch submission.spec.work {
        case _ where isTail: phases = [parts]
        case .query: phases = parts.map { [$0] }
        case .entry(let work) where work.action == .contains: phases = parts.map { [$0] }
        // If the reply waits for the stores, it waits for the external ones too; otherwise they run
        // after it.
        case .store(let work) where work.delivers && work.waitsForDisk:
            phases = [external, own].filter { !$0.isEmpty }
        case .store(let work) where work.delivers: (phases, tail) = ([own], external)
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
    var isUnderWay: Bool { !running.isEmpty || held != nil }

    /// The numbers of the running parts, oldest first.
    var jobs: [JobID] { running.keys.sorted() }

    /// The job to wait for, preferably that of the built-in cache.
    var awaited: JobID? {
        running.first { !$0.value.isExternal }?.key ?? running.keys.min()
    }

    /// Whether the work only queries, so that a failure counts as a miss.
    private var isQuery: Bool {
        if case .entry(let work) = submission.spec.work { return work.wantsValidity }
        if case .query = submission.spec.work { return true }
        return false
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
    func note(_ result: JobResult, of part: CachePart) -> Bool {
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
    func note(_ failure: ImageError, of part: CachePart) {
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
