import ImageModel
import Messages

// Which pool does a job, and which of its workers can.
extension Dispatcher {
    /// The pool that gets the job: the first of its kind that is granted all that it needs. Where
    /// the only one may do everything, nothing is looked at. Throws what is missing.
    func route(_ submission: Submission) throws(ImageError) -> PoolID {
        let (pools, kind) = (limits.pools, submission.spec.kind)
        guard !pools.isOpen(kind) else { return PoolID(kind) }
        let needs = needs(of: submission)
        guard let pool = pools.pool(of: kind, for: needs) else {
            throw pools.refusal(of: kind, needs)
        }
        guard pool != PoolID(kind) else { return pool }
        try checkRoom(in: pool, for: submission.spec.stage)
        return pool
    }

    func needs(of submission: Submission) -> JobNeeds {
        JobNeeds(submission.spec.work, input: submission.input.flatMap { ledger.format(of: $0) })
    }

    /// A further pool has bounds of its own for what waits: at admission it was not known yet who
    /// would do the job.
    private func checkRoom(in pool: PoolID, for stage: JobStage) throws(ImageError) {
        let waiting = queues[pool.index].count + unmet.count(in: pool)
        let backlog = loads[Self.load(of: pool, stage)].backlog
        guard waiting >= limits.queuedJobsMax || backlog >= limits.queuedCostMax[stage] else {
            return
        }
        throw .busy("too much waits for the pool '\(limits.pools[pool].name)'")
    }

    /// Where what waits is counted: by stage, and apart from it for each further pool, so that one
    /// without workers keeps nobody else waiting.
    static func load(of pool: PoolID, _ stage: JobStage) -> Int {
        let further = pool.index - WorkerKind.allCases.count
        return further < 0 ? Int(stage.rawValue) : JobStage.allCases.count + further
    }

    // MARK: - Workers that can do less than their pool may

    /// The worker that gets the job; `nil` where those that have room cannot do it.
    func worker(for id: JobID) -> WorkerID? {
        guard let job = jobs[id] else { return nil }
        guard roster.isPicky(job.pool) else { return roster.next(of: job.pool) }
        let needs = needs(of: job.submission)
        return roster.next(of: job.pool) { needs.areMet(by: $0.capabilities) }
    }

    /// The job had its turn, and who could do it is busy or not there: others go first.
    mutating func setAsideUnmet(_ id: JobID) {
        guard let job = jobs[id] else { return }
        let group = UnmetJobs.Group(pool: job.pool, needs: needs(of: job.submission))
        queues[job.pool.index].leave(job.ticket)
        jobs[id]?.place = .unmet(group)
        jobs[id]?.ticket = .none
        unmet.insert(id, in: group)
    }

    /// Jobs that stood aside have their turn again, one for each worker of the pool that has room
    /// and can do it. Whether there are any.
    mutating func callUnmet(in pool: PoolID) -> Bool {
        guard !unmet.isEmpty, unmet.isStirred(pool) else { return false }
        var hasCalled = false
        for worker in roster.members(of: pool) {
            guard let known = roster[worker], known.free > 0,
                let next = unmet.first(for: known, { jobs[$0]?.urgency.priority ?? .low })
            else { continue }
            unmet.remove(next.job, from: next.group)
            callBack(next.job)
            hasCalled = true
        }
        if !hasCalled { unmet.calm(pool) }
        return hasCalled
    }

    private mutating func callBack(_ id: JobID) {
        guard var job = jobs[id] else { return }
        job.place = .queued
        job.ticket = queues[job.pool.index].putBack(job)
        jobs[id] = job
    }
}
