import ImageModel
package import Messages

// Jobs of workers that are gone.
extension Dispatcher {
    /// Jobs that a worker held which is gone are done by another, as far as anybody wants them
    /// still: whoever needed what it had made has given up by now, and begins again.
    package mutating func redistribute(after departure: Departure) {
        let worker = departure.worker
        endDisputes(about: worker)
        // Each goes before the one that was put in front last.
        let held = jobs.values.filter { $0.worker == worker }.map(\.id)
        let accused = crashed(departure)
        for id in held.sorted(by: >) {
            guard let job = jobs[id] else { continue }
            vacate(job)
            if let stoppedAt = job.stoppedAt {
                figures.cancellations.ended(departure.pool, with: job.stage, since: stoppedAt)
            }
            let isBlamed = isBlamed(job, for: departure)
            if let crash = departure.crash, id == accused { accuse(job, crash) }
            if isBlamed { accuseOfLoss(job) }
            guard let left = jobs[id] else { continue }
            if left.isWanted {
                lost(id, goesLast: id == accused || isBlamed)
            } else {
                forget(left)
            }
        }
    }

    /// Whether the loss of a worker is held against a job: the kernel kills a process that takes
    /// too much memory, and that leaves no record. Only of workers that do one job at a time is it
    /// known which job that was; one that was told to stop may have ended its worker by that, and
    /// one that had just begun took no memory yet.
    private func isBlamed(_ job: ActiveJob, for departure: Departure) -> Bool {
        departure.isLost && job.stoppedAt == nil && job.isWanted
            && (job.kind == .decode || job.kind == .transform)
            && job.heldSince.adding(milliseconds: limits.lossMilliseconds) <= now
    }

    /// The job with which the worker crashed or hung: one that it held, whatever it wrote down.
    package func crashed(_ departure: Departure) -> JobID? {
        guard let crash = departure.crash, let id = crash.job, let job = jobs[id],
            job.worker == departure.worker, job.attempt == crash.attempt
        else { return nil }
        return id
    }
}
