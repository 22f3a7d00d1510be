package import ImageModel
package import Messages
import Tables

// Sessions of workers begin and end (SEMANTICS §7.4).
extension Dispatcher {
    /// The one cache, while it is there.
    package var cache: WorkerID? { roster.first(of: PoolID(.cache)) }

    /// Whether the worker has a session.
    package func contains(_ worker: WorkerID) -> Bool { roster.contains(worker) }

    /// A worker of a pool. It has to be able to do all that the pool is granted: workers of one
    /// pool are alike, so that none has to be looked for. There is one cache: with two of them a
    /// key would have two values.
    package mutating func workerJoined(
        _ worker: WorkerID, _ id: PoolID, _ incarnation: Incarnation, credit: UInt32,
        _ capabilities: WorkerCapabilities = .all
    ) {
        guard !roster.contains(worker) else { return }
        let (pool, kind) = (limits.pools[id], limits.pools[id].kind)
        guard (kind == .coordinator) == (worker == .coordinator),
            id != PoolID(.cache) || cache == nil
        else {
            let error = ImageError(.protocolViolation, "a \(kind.name) is connected already")
            return actions.append(.expel(worker, error))
        }
        if let missing = pool.grant.firstMissing(in: capabilities, for: kind) {
            return actions.append(.expel(worker, Self.cannotDoAll(pool.name, missing)))
        }
        let window = min(Int(credit), limits.jobs(ofOneIn: id))
        roster.join(worker, LiveWorker(kind: kind, pool: id, window: window))
        ledger.join(
            worker,
            BlockReference.Producer(kind: kind, incarnation: incarnation, pool: pool.name), id)
        figures.cancellations.joined(id, at: now)
    }

    /// A worker takes more jobs at a time, up to what its kind takes.
    package mutating func grew(_ worker: WorkerID, by more: UInt32) {
        guard let known = roster[worker] else { return }
        roster.widen(
            worker, to: min(known.window + Int(more), limits.jobs(ofOneIn: known.pool)))
    }

    /// A worker takes no job any more.
    package mutating func workerDraining(_ worker: WorkerID) { roster.drains(worker) }

    /// A worker broke the protocol, or is silent: its session is over.
    package mutating func expel(_ worker: WorkerID, _ error: ImageError) {
        guard roster.contains(worker) else { return }
        actions.append(.expel(worker, error))
        leave(worker, nil, isExpelled: true)
    }

    /// A worker is gone, with all that it made. Jobs that it held wait for `redistribute`.
    package mutating func workerGone(_ worker: WorkerID, _ crash: CrashRecord?) {
        leave(worker, crash, isExpelled: false)
    }

    private mutating func leave(_ worker: WorkerID, _ crash: CrashRecord?, isExpelled: Bool) {
        guard let known = roster[worker], roster.leave(worker) else { return }
        ledger.leave(worker)
        complete(
            .workerGone(
                Departure(
                    worker: worker, kind: known.kind, pool: known.pool, crash: crash,
                    isLost: crash == nil && !isExpelled && !known.isDraining)))
    }

    private static func cannotDoAll(_ pool: PoolName, _ missing: String) -> ImageError {
        ImageError(
            .protocolViolation,
            "a worker of the pool '\(pool)' cannot do '\(missing)', which the pool is granted: "
                + "grant the pool less, or give the worker a pool of its own")
    }
}

/// All workers, and whose turn it is.
struct WorkerRoster: Sendable {
    private var workers: [WorkerID: LiveWorker] = [:]
    private var pools: [Pool]

    /// The workers of one pool.
    private struct Pool: Sendable {
        /// The oldest session first.
        var members: [WorkerID] = []
        /// Whose turn it is.
        var turn = 0
    }

    /// Nobody is there in any of so many pools.
    init(pools count: Int) { pools = (0..<count).map { _ in Pool() } }

    /// All workers, the oldest session first.
    var ids: [WorkerID] { workers.keys.sorted() }

    func contains(_ worker: WorkerID) -> Bool { workers[worker] != nil }

    /// The worker of a pool with the oldest session.
    func first(of pool: PoolID) -> WorkerID? { pools[pool.index].members.first }

    /// The workers of a pool, the oldest session first.
    func members(of pool: PoolID) -> [WorkerID] { pools[pool.index].members }

    subscript(id: WorkerID) -> LiveWorker? { workers[id] }

    mutating func join(_ worker: WorkerID, _ record: LiveWorker) {
        workers[worker] = record
        pools[record.pool.index].members.append(worker)
    }

    /// It takes so many jobs at a time from now on.
    mutating func widen(_ worker: WorkerID, to window: Int) { workers[worker]?.window = window }

    /// It takes no job any more.
    mutating func drains(_ worker: WorkerID) { workers[worker]?.isDraining = true }

    /// `false` where it left before.
    mutating func leave(_ worker: WorkerID) -> Bool {
        guard let record = workers.removeValue(forKey: worker) else { return false }
        pools[record.pool.index].members.removeAll { $0 == worker }
        return true
    }

    /// The worker with the most room; among equals the one whose turn it is. `nil` where all are
    /// busy.
    func next(of pool: PoolID) -> WorkerID? {
        let (members, turn) = (pools[pool.index].members, pools[pool.index].turn)
        var best: (index: Int, free: Int)?
        for step in members.indices {
            let index = (turn + step) % members.count
            let free = workers[members[index]]?.free ?? 0
            if free > best?.free ?? 0 { best = (index, free) }
        }
        return best.map { members[$0.index] }
    }

    /// A worker got a job: it is the next one's turn.
    mutating func gave(_ worker: WorkerID, as share: PlaceShare) {
        let pool = workers.change(worker) {
            $0.jobs += 1
            $0.count(1, as: share)
            return $0.pool
        }
        guard let pool else { return }
        let index = pools[pool.index].members.firstIndex(of: worker)
        pools[pool.index].turn = (index ?? 0) + 1
    }

    /// A worker has one job less.
    mutating func tookBack(_ worker: WorkerID, as share: PlaceShare) {
        workers.change(worker) {
            $0.jobs -= 1
            $0.count(-1, as: share)
        }
    }

    /// A worker was told another class of a job that it has.
    mutating func changed(_ worker: WorkerID, from old: PlaceShare, to new: PlaceShare) {
        workers.change(worker) {
            $0.count(-1, as: old)
            $0.count(1, as: new)
        }
    }

    /// Of the workers of a pool that take jobs.
    func credit(of pool: PoolID) -> WorkerCredit {
        var credit = WorkerCredit()
        for id in pools[pool.index].members {
            guard let worker = workers[id], !worker.isDraining else { continue }
            credit.window += worker.window
            credit.held += worker.jobs
            credit.heldLow += worker.lowJobs
            credit.heldExpendable += worker.expendableJobs
        }
        return credit
    }
}

/// A worker that is connected.
package struct LiveWorker: Sendable {
    package let kind: WorkerKind
    package let pool: PoolID
    /// Jobs that it takes at a time, queued in it or running; an outcome frees its place.
    package internal(set) var window: Int
    /// Jobs that it holds, cancelled ones included until their outcome.
    package internal(set) var jobs = 0
    /// Those among them that it was told are of class low, without expendable ones.
    private(set) var lowJobs = 0
    /// Those among them that are expendable.
    private(set) var expendableJobs = 0
    package internal(set) var isDraining = false

    init(kind: WorkerKind, pool: PoolID, window: Int) {
        self.kind = kind
        self.pool = pool
        self.window = window
    }

    /// So many more, or fewer, jobs count as that.
    mutating func count(_ change: Int, as share: PlaceShare) {
        switch share {
        case .full: break
        case .low: lowJobs += change
        case .expendable: expendableJobs += change
        }
    }

    /// How many more jobs it takes.
    var free: Int { isDraining ? 0 : max(0, window - jobs) }
}

/// As what a job counts among those that workers hold.
enum PlaceShare: Sendable {
    /// Of the classes above low.
    case full
    /// Of class low, which has a share of its own.
    case low
    /// Of the share of class low, too, but in nobody's way: it ends where other work waits.
    case expendable
}

/// The workers of one pool that take jobs.
package struct WorkerCredit: Hashable, Sendable {
    /// Jobs that they take at a time.
    package var window = 0
    /// Jobs that they hold, cancelled ones included.
    package var held = 0
    /// Those among them of class low, without expendable ones.
    package var heldLow = 0
    /// Those among them that are expendable.
    package var heldExpendable = 0

    /// How many more they take.
    var free: Int { max(0, window - held) }
}
