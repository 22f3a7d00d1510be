import Model

// Start and end of worker sessions (SEMANTICS §7.4).
extension Dispatcher {
    /// The built-in cache, if connected.
    var cache: WorkerID? { roster.first(of: PoolID(.cache)) }

    /// Whether the worker has a session.
    func contains(_ worker: WorkerID) -> Bool { roster.contains(worker) }

    /// Adds a worker to a pool. The worker must support everything that the pool is granted, so
    /// that all workers of a pool are interchangeable. Only one cache may be connected; with two, a
    /// key could have two values.
    func workerJoined(
        _ worker: WorkerID, _ id: PoolID, _ incarnation: Incarnation, credit: UInt32,
        _ capabilities: WorkerCapabilities = .all
    ) {
        guard !roster.contains(worker) else { return }
        let (pool, kind) = (limits.pools[id], limits.pools[id].kind)
        guard (kind == .coordinator) == (worker == .coordinator),
            id != PoolID(.cache) || cache == nil
        else {
            let error = ImageError(.protocolViolation, "a \(kind.name) is already connected")
            return shared.actions.append(.expel(worker, error))
        }
        if let missing = pool.grant.firstMissing(in: capabilities, for: kind) {
            return shared.actions.append(.expel(worker, Self.cannotDoAll(pool.name, missing)))
        }
        let window = min(Int(credit), limits.jobs(ofOneIn: id))
        roster.join(LiveWorker(worker, pool: id, window: window))
        ledger.join(
            worker,
            BlockReference.Producer(kind: kind, incarnation: incarnation, pool: pool.name), id)
        metrics.cancellations.joined(id, at: now)
    }

    /// Raises the number of concurrent jobs of a worker, up to the limit of its kind.
    func grew(_ worker: WorkerID, by more: UInt32) {
        guard let known = roster[worker] else { return }
        known.window = min(known.window + Int(more), limits.jobs(ofOneIn: known.pool))
    }

    /// Stops assigning jobs to a worker.
    func workerDraining(_ worker: WorkerID) { roster[worker]?.isDraining = true }

    /// Ends the session of a worker that violated the protocol or doesn't respond.
    func expel(_ worker: WorkerID, _ error: ImageError) {
        guard roster.contains(worker) else { return }
        shared.actions.append(.expel(worker, error))
        leave(worker, nil, isExpelled: true)
    }

    /// Removes a worker and all of its output. Its jobs wait for `redistribute`.
    func workerGone(_ worker: WorkerID, _ crash: CrashRecord?) {
        leave(worker, crash, isExpelled: false)
    }

    private func leave(_ worker: WorkerID, _ crash: CrashRecord?, isExpelled: Bool) {
        guard let known = roster.leave(worker) else { return }
        ledger.leave(worker)
        complete(
            .workerGone(
                Departure(
                    worker: worker, pool: known.pool, crash: crash,
                    isLost: crash == nil && !isExpelled && !known.isDraining)))
    }

    private static func cannotDoAll(_ pool: PoolName, _ missing: String) -> ImageError {
        ImageError(
            .protocolViolation,
            "a worker of the pool '\(pool)' does not support '\(missing)', which the pool is "
                + "granted: remove the grant, or move the worker to a separate pool")
    }
}

/// All workers, with round-robin state.
struct WorkerRoster {
    private(set) var workers: [WorkerID: LiveWorker] = [:]
    private var pools: [Pool]

    private struct Pool {
        /// Oldest session first.
        var members: [LiveWorker] = []
        /// The index of the next worker in round-robin order.
        var turn = 0
    }

    /// Creates an empty roster for `count` pools.
    init(pools count: Int) { pools = (0..<count).map { _ in Pool() } }

    /// All workers, oldest session first.
    var ids: [WorkerID] { workers.keys.sorted() }

    func contains(_ worker: WorkerID) -> Bool { workers[worker] != nil }

    /// The worker of the pool with the oldest session.
    func first(of pool: PoolID) -> WorkerID? { pools[pool.index].members.first?.id }

    /// The workers of the pool, oldest session first.
    func members(of pool: PoolID) -> [LiveWorker] { pools[pool.index].members }

    subscript(id: WorkerID) -> LiveWorker? { workers[id] }

    mutating func join(_ worker: LiveWorker) {
        workers[worker.id] = worker
        pools[worker.pool.index].members.append(worker)
    }

    /// Removes and returns a worker; `nil` if it had already left.
    mutating func leave(_ id: WorkerID) -> LiveWorker? {
        guard let worker = workers.removeValue(forKey: id) else { return nil }
        pools[worker.pool.index].members.removeAll { $0 === worker }
        return worker
    }

    /// Returns the worker with the most free slots, in round-robin order among equals; `nil` if all
    /// are busy.
    func next(of pool: PoolID) -> LiveWorker? {
        let (members, turn) = (pools[pool.index].members, pools[pool.index].turn)
        var best: LiveWorker?
        for step in members.indices {
            let worker = members[(turn + step) % members.count]
            if worker.free > best?.free ?? 0 { best = worker }
        }
        return best
    }

    /// Records a job given to a worker and advances the round-robin order.
    mutating func gave(_ worker: LiveWorker, as share: PlaceShare) {
        worker.count(1, as: share)
        let index = pools[worker.pool.index].members.firstIndex { $0 === worker }
        pools[worker.pool.index].turn = (index ?? 0) + 1
    }

    /// The total credit of the pool's workers that accept jobs.
    func credit(of pool: PoolID) -> WorkerCredit {
        var credit = WorkerCredit()
        for worker in pools[pool.index].members where !worker.isDraining {
            credit.window += worker.window
            credit.held += worker.jobs
            credit.heldLow += worker.lowJobs
            credit.heldExpendable += worker.expendableJobs
        }
        return credit
    }
}

/// A connected worker.
final class LiveWorker {
    let id: WorkerID
    let pool: PoolID
    /// The number of jobs that the worker accepts, queued or running; an outcome frees a slot.
    var window: Int
    /// The number of jobs that the worker holds, including canceled ones without an outcome.
    var jobs = 0
    /// Jobs of class low, as last communicated to the worker, without expendable ones.
    private(set) var lowJobs = 0
    private(set) var expendableJobs = 0
    var isDraining = false

    init(_ id: WorkerID, pool: PoolID, window: Int) {
        (self.id, self.pool, self.window) = (id, pool, window)
    }

    /// Adjusts the counts of jobs for a job with the given share.
    func count(_ change: Int, as share: PlaceShare) {
        jobs += change
        switch share {
        case .full: break
        case .low: lowJobs += change
        case .expendable: expendableJobs += change
        }
    }

    /// The number of jobs that the worker can take.
    var free: Int { isDraining ? 0 : max(0, window - jobs) }
}

/// How a job counts toward the limits of its worker.
enum PlaceShare: Sendable {
    /// The job is of a class above low.
    case full
    /// The job is of class low, which has a limited share.
    case low
    /// Counted with class low, but never blocks other work: it is dropped when other work waits.
    case expendable
}

/// The combined capacity of a pool's workers that accept jobs.
struct WorkerCredit: Hashable, Sendable {
    /// The number of jobs they can hold.
    var window = 0
    /// The number of jobs they hold, including canceled ones.
    var held = 0
    /// Of these, jobs of class low without expendable ones.
    var heldLow = 0
    /// Of these, expendable jobs.
    var heldExpendable = 0

    /// The number of jobs they can still take.
    var free: Int { max(0, window - held) }
}
