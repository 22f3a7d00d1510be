package import ImageModel
import Messages

// Which pool does a job.
extension Dispatcher {
    /// The pool that gets the job: the first of its kind that is granted all that it needs. Where
    /// the only one may do everything, nothing is looked at. Throws what is missing.
    func route(_ submission: Submission) throws(ImageError) -> PoolID {
        let (pools, kind) = (limits.pools, submission.spec.kind)
        if case .fetch(let work) = submission.spec.work, case .pool(let name) = work.loader {
            return try pool(ofLoader: name, for: submission)
        }
        if let pool = submission.foreignCache { return pool }
        let isOpen = kind == .cache || pools.isOpen(kind)
        guard !isOpen || !submission.coders.isEmpty else { return PoolID(kind) }
        let needs = needs(of: submission)
        let pool =
            submission.coders.isEmpty
            ? try pools.pool(of: kind, for: needs) : try pools.coder(submission.coders, for: needs)
        guard pool != PoolID(kind) else { return pool }
        try checkRoom(in: pool, for: submission)
        return pool
    }

    /// Whether a pool of somebody else encodes what is wanted so.
    package func encodesElsewhere(_ output: OutputOptions) -> Bool {
        limits.pools.foreignEncodes(output)
    }

    /// The pool that a loader names. Pools are as they were when the stack was started; loaders are
    /// loaded anew.
    private func pool(
        ofLoader name: String, for submission: Submission
    ) throws(ImageError) -> PoolID {
        let id = PoolName(name).flatMap { limits.pools.id(of: $0) }
        guard let id, limits.pools.kind(of: id) == .download, limits.pools[id].trust == .foreign
        else {
            throw ImageError(
                .unsupportedScheme,
                "the pool '\(name)' of this loader was not there when the stack was started: start "
                    + "imagebus serve again")
        }
        guard needs(of: submission).areMet(by: limits.pools[id].grant) else {
            throw limits.pools.refusal(of: .download, needs(of: submission))
        }
        try checkRoom(in: id, for: submission)
        return id
    }

    func needs(of submission: Submission) -> JobNeeds {
        JobNeeds(
            submission.spec.work, input: submission.input.flatMap { ledger.format(of: $0) },
            isForeign: submission.isForeign)
    }

    /// A further pool has bounds of its own for what waits: at admission it was not known yet who
    /// would do the job. What its jobs read is output of an earlier stage that stays: all further
    /// pools together hold at most a quarter of its budget, and one job whatever it reads, so that
    /// one without workers does not stop the earlier stage. What steps of somebody else read stops
    /// nobody (`hasBudget`), and is as much as a stage may have made. `claimed`: what it reads was
    /// counted for another further pool, which it leaves.
    func checkRoom(
        in pool: PoolID, for submission: Submission, claimed: UInt64 = 0
    ) throws(ImageError) {
        let stage = submission.spec.stage
        let backlog = jobs.load(of: pool, stage).backlog
        let isStep = limits.pools[pool].isForeignTransformer
        let all = isStep ? jobs.bytesClaimedForSteps : jobs.bytesClaimedByFurtherPools
        let others = all - claimed
        let most = isStep ? limits.outputBytesMax.transform : inputBytesMax(of: stage)
        let fits = others == 0 || others + submission.inputBytes <= most
        guard fits, jobs.queued(in: pool) < limits.queuedJobsMax,
            backlog < limits.queuedCostMax[stage]
        else { throw .busy("too much waits for the pool '\(limits.pools[pool].name)'") }
    }

    private func inputBytesMax(of stage: JobStage) -> UInt64 {
        switch stage {
        case .decode: limits.outputBytesMax.download / 4
        case .transform: limits.outputBytesMax.decode / 4
        case .fetch, .query, .store: .max
        }
    }
}
