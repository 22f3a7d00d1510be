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
            if let crash = departure.crash, id == accused { accuse(job, crash) }
            guard let left = jobs[id] else { continue }
            if left.isWanted { lost(id) } else { forget(left) }
        }
    }

    /// The job with which the worker crashed or hung: one that it held, whatever it wrote down.
    package func crashed(_ departure: Departure) -> JobID? {
        guard let crash = departure.crash, let id = crash.job, let job = jobs[id],
            job.worker == departure.worker, job.attempt == crash.attempt
        else { return nil }
        return id
    }
}
