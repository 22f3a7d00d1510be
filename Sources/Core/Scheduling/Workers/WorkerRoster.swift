import Messages

/// All workers, and whose turn it is.
struct WorkerRoster: Sendable {
    private var workers: [WorkerID: LiveWorker] = [:]
    private var byKind: [WorkerKind: [WorkerID]] = [:]
    private var turns: [WorkerKind: Int] = [:]

    /// All workers, the oldest session first.
    var ids: [WorkerID] { workers.keys.sorted() }

    func contains(_ worker: WorkerID) -> Bool { workers[worker] != nil }

    /// The workers of a kind, the oldest session first.
    func members(of kind: WorkerKind) -> [WorkerID] { byKind[kind] ?? [] }

    subscript(id: WorkerID) -> LiveWorker? {
        get { workers[id] }
        _modify { yield &workers[id] }
    }

    mutating func join(_ worker: WorkerID, _ record: LiveWorker) {
        workers[worker] = record
        byKind[record.kind, default: []].append(worker)
    }

    mutating func leave(_ worker: WorkerID) -> LiveWorker? {
        guard let record = workers.removeValue(forKey: worker) else { return nil }
        byKind[record.kind]?.removeAll { $0 == worker }
        return record
    }

    /// The worker with the most room; among equals the one whose turn it is. `nil` where all are
    /// busy.
    mutating func next(of kind: WorkerKind) -> WorkerID? {
        guard let members = byKind[kind], !members.isEmpty else { return nil }
        let start = turns[kind, default: 0]
        var best: (index: Int, free: Int)?
        for step in members.indices {
            let index = (start + step) % members.count
            let free = workers[members[index]]?.free ?? 0
            if free > best?.free ?? 0 { best = (index, free) }
        }
        guard let best else { return nil }
        turns[kind] = best.index + 1
        return members[best.index]
    }
}
