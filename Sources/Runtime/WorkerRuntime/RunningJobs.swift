import Messages

/// The jobs that the executor was given and has not ended, under names of its own.
///
/// The coordinator counts its jobs anew in each of its lives, and a job that was abandoned with the
/// last one may still run: under the coordinator's name its outcome would pass for another's.
struct RunningJobs {
    private var last: UInt64 = 0
    private var names: [JobID: JobID] = [:]
    /// By own name; `nil` for one that was abandoned.
    private var running: [JobID: JobID?] = [:]

    /// Whether the executor does nothing.
    var isEmpty: Bool { running.isEmpty }

    /// Whether something runs that nobody waits for: a crash may be its fault.
    var hasAbandoned: Bool { running.count > names.count }

    /// Those that were not abandoned, by the coordinator's names.
    var wanted: [JobID] { Array(names.keys) }

    /// A job is given to the executor; returns its own name.
    mutating func begin(_ job: JobID) -> JobID {
        last += 1
        let own = JobID(last)
        names[job] = own
        running[own] = job
        return own
    }

    /// The own name of a job that was not abandoned.
    func own(_ job: JobID) -> JobID? { names[job] }

    /// The coordinator's name of a job; `nil` for one that was abandoned.
    func job(_ own: JobID) -> JobID? { running[own].flatMap { $0 } }

    /// The executor has ended it; returns the coordinator's name as `job(_:)`.
    mutating func end(_ own: JobID) -> JobID? {
        guard let job = running.removeValue(forKey: own).flatMap({ $0 }) else { return nil }
        names[job] = nil
        return job
    }

    /// Nobody waits for what runs now.
    mutating func abandonAll() {
        names.removeAll()
        for own in running.keys { running[own] = .some(nil) }
    }
}
