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
    mutating func next(of kind: WorkerKind) -> WorkerID? {
        let (members, turn) = byKind[Int(kind.rawValue)]
        var best: (index: Int, free: Int)?
        for step in members.indices {
            let index = (turn + step) % members.count
            let free = workers[members[index]]?.free ?? 0
            if free > best?.free ?? 0 { best = (index, free) }
        }
        guard let best else { return nil }
        byKind[Int(kind.rawValue)].turn = best.index + 1
        return members[best.index]
    }
}
