package import ImageModel
package import Messages

// Jobs end without a result, or begin again.
extension Dispatcher {
    /// The job is over without a result.
    mutating func ended(_ job: ActiveJob, _ error: ImageError) {
        forget(job)
        if let probe = job.probe { return lost(probe.job) }
        complete(.failed(Completion.Ended(job), error))
    }

    /// The worker that held the job is gone, or gave it up: another one tries. `goesLast`: the job
    /// may have been the cause, and delays nobody else.
    mutating func lost(_ id: JobID, goesLast: Bool = false) {
        guard let job = jobs[id], job.isWanted else { return }
        guard job.losses + 1 < limits.attemptsMax, !job.isExpendable, !job.isOfForeignCache
        else {
            return ended(job, Self.workerLost)
        }
        jobs.lost(id)
        requeue(id, goesLast: goesLast)
    }

    /// A job that its worker did not finish goes to the front of its class, or behind all others,
    /// as a new attempt.
    mutating func requeue(_ id: JobID, goesLast: Bool = false) {
        jobs.requeue(id, goesLast: goesLast, at: now)
        figures.requeued += 1
    }

    /// Whether the job may wait for space outside, where there is none. One that waits and may not
    /// any more is *busy*: nobody waits for it who would see that it ends.
    package mutating func waitsForSpace(_ id: JobID, _ may: Bool) {
        guard let job = jobs[id], job.waitsForSpace != may else { return }
        jobs.waitsForSpace(id, may)
        if !may, job.place == .parked { ended(job, Self.noSpace) }
    }

    static let noSpace = ImageError.busy("there is no space for the payload")

    /// Work lost more workers than are given to it.
    package static let workerLost = ImageError(
        .workerLost, "too many workers were lost with this work: try again later")
}
