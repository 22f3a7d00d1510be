import ImageModel
package import Messages

// Jobs are submitted, and nobody wants them any more.
extension Dispatcher {
    /// A new job, at the end of its queue. It holds the blocks that it reads. One that no pool is
    /// granted has failed at once.
    package mutating func submit(_ submission: Submission) -> JobID {
        submit(submission, probe: nil)
    }

    mutating func submit(_ submission: Submission, probe: ActiveJob.Probe?) -> JobID {
        let id = jobs.nextID()
        var job = ActiveJob(id, submission, probe: probe, at: now)
        do throws(ImageError) {
            job.pool = try route(submission)
        } catch {
            complete(.failed(Completion.Ended(job), error))
            return id
        }
        if let input = submission.input { ledger.hold(input) }
        for overlay in submission.overlays { ledger.hold(overlay) }
        jobs.enter(job)
        return id
    }

    /// Nobody wants the outcome any more; nothing more is said of the job. What waits is forgotten;
    /// a worker is told to stop, keeps its place, and keeps what it reads until it answers.
    package mutating func abandon(_ id: JobID) {
        guard let job = jobs[id] else { return }
        switch job.place {
        case .queued, .parked, .disputed, .delayed: forget(job)
        case .held(let worker):
            jobs.disown(id)
            if roster.contains(worker) { stop(id, at: worker) }
        }
    }

    /// Whether the job is there and no worker has it.
    package func isWaiting(_ id: JobID) -> Bool { jobs[id]?.isWaiting == true }

    /// The same of a transfer.
    package func isWaitingTransfer(_ id: JobID) -> Bool {
        jobs[id].map { $0.isWaiting && $0.kind == .download } ?? false
    }

    /// The pool whose job it is, where no worker of it is connected; `nil` where one has the job or
    /// may get it.
    package func missingWorkers(for id: JobID) -> MissingWorkers? {
        guard let job = jobs[id], job.isWaiting, roster.members(of: job.pool).isEmpty else {
            return nil
        }
        let pool = limits.pools[job.pool]
        return MissingWorkers(pool.name, kind: pool.kind, isForeign: pool.trust == .foreign)
    }

    /// Tells a worker once to stop; it has to answer within the silence that is granted.
    mutating func stop(_ id: JobID, at worker: WorkerID) {
        guard let job = jobs[id], !job.isStopped else { return }
        actions.append(.cancelJob(worker, id))
        let isShared = job.kind == .cache || job.kind == .download
        let silence = isShared ? limits.sharedSilenceMilliseconds : limits.silenceMilliseconds
        jobs.stop(id, at: now, alarm: now.adding(milliseconds: silence))
    }

    /// The job is over, and with it its holds.
    mutating func forget(_ job: ActiveJob) {
        jobs.remove(job.id)
        if let input = job.submission.input { drop(input) }
        for overlay in job.submission.overlays { drop(overlay) }
    }

    /// A worker holds the job no longer.
    mutating func vacate(_ job: ActiveJob) {
        guard let worker = job.worker else { return }
        roster.tookBack(worker, as: job.share)
        jobs.vacated(job)
    }
}
