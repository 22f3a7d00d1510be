import ImageModel
import Messages

/// All workers, and whose turn it is.
struct WorkerRoster: Sendable {
    private var workers: [WorkerID: LiveWorker] = [:]
    /// By raw value of the kind: the oldest session first, and whose turn it is.
    private var byKind: [(members: [WorkerID], turn: Int)] = WorkerKind.allCases.map { _ in ([], 0)
    }

    /// All workers, the oldest session first.
    var ids: [WorkerID] { workers.keys.sorted() }

    func contains(_ worker: WorkerID) -> Bool { workers[worker] != nil }

    /// The worker of a kind with the oldest session.
    func first(of kind: WorkerKind) -> WorkerID? { byKind[Int(kind.rawValue)].members.first }

    /// The workers of a kind, the oldest session first.
    func members(of kind: WorkerKind) -> [WorkerID] { byKind[Int(kind.rawValue)].members }

    subscript(id: WorkerID) -> LiveWorker? {
        get { workers[id] }
        _modify { yield &workers[id] }
    }

    mutating func join(_ worker: WorkerID, _ record: LiveWorker) {
        workers[worker] = record
        byKind[Int(record.kind.rawValue)].members.append(worker)
    }

    /// `false` where it left before.
    mutating func leave(_ worker: WorkerID) -> Bool {
        guard let record = workers.removeValue(forKey: worker) else { return false }
        byKind[Int(record.kind.rawValue)].members.removeAll { $0 == worker }
        return true
    }

    /// The worker with the most room; among equals the one whose turn it is. `nil` where all are
    /// busy.
    func next(of kind: WorkerKind) -> WorkerID? {
        let (members, turn) = byKind[Int(kind.rawValue)]
        var best: (index: Int, free: Int)?
        for step in members.indices {
            let index = (turn + step) % members.count
            let free = workers[members[index]]?.free ?? 0
            if free > best?.free ?? 0 { best = (index, free) }
        }
        return best.map { members[$0.index] }
    }

    /// A worker got a job: it is the next one's turn.
    mutating func gave(_ worker: WorkerID, low: Bool) {
        guard let kind = workers[worker]?.kind else { return }
        workers[worker]?.jobs += 1
        if low { workers[worker]?.lowJobs += 1 }
        let index = byKind[Int(kind.rawValue)].members.firstIndex(of: worker)
        byKind[Int(kind.rawValue)].turn = (index ?? 0) + 1
    }

    /// A worker has one job less.
    mutating func tookBack(_ worker: WorkerID, low: Bool) {
        workers[worker]?.jobs -= 1
        if low { workers[worker]?.lowJobs -= 1 }
    }

    /// A worker was told another class of a job that it has.
    mutating func changed(_ worker: WorkerID, from old: Priority, to new: Priority) {
        let step = (new == .low ? 1 : 0) - (old == .low ? 1 : 0)
        if step != 0 { workers[worker]?.lowJobs += step }
    }

    /// Of the workers of a kind that take jobs.
    func credit(of kind: WorkerKind) -> WorkerCredit {
        var credit = WorkerCredit()
        for id in byKind[Int(kind.rawValue)].members {
            guard let worker = workers[id], !worker.isDraining else { continue }
            credit.window += worker.window
            credit.held += worker.jobs
            credit.heldLow += worker.lowJobs
        }
        return credit
    }
}
