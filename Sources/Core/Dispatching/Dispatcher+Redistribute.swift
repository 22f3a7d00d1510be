import ImageModel
import Messages

// Jobs of workers that are gone.
extension Dispatcher {
    /// Jobs that a worker held which is gone are done by another, as far as anybody wants them
    /// still: whoever needed what it had made has given up by now, and begins again.
    package mutating func redistribute(after departure: Departure) {
        let worker = departure.worker
        endDisputes(about: worker)
        // Each goes before the one that was put in front last.
        let held = jobs.values.filter { $0.worker == worker }.map(\.id)
        for id in held.sorted(by: >) {
            guard let job = jobs[id] else { continue }
            vacate(job)
            if let stoppedAt = job.stoppedAt {
                figures.cancellations.ended(departure.pool, with: job.stage, since: stoppedAt)
            }
            if let crash = departure.crash, crash.job == id, crash.attempt == job.attempt {
                accuse(job, crash)
            }
            guard let left = jobs[id] else { continue }
            if left.isWanted { lost(id) } else { forget(left) }
        }
    }
}
