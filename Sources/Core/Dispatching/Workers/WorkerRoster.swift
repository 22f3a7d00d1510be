import ImageModel
import Messages
import Tables

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
