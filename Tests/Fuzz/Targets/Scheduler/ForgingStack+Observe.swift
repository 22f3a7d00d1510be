import Coordinator
import Model

// Checks the scheduler's actions against the known state.
extension ForgingStack {
    mutating func observe(_ action: SchedulerAction) throws(BrokenInvariant) {
        switch action {
        case .assign(let worker, let job): try assigned(job, to: worker)
        case .cancelJob(let worker, let job):
            try expect(workers[worker]?.held[job] != nil, "only a job that is held is cancelled")
        case .adjust(let worker, let change):
            try expect(workers[worker]?.held[change.id] != nil, "only a held job is adjusted")
        case .release(let worker, let blocks, _):
            for block in blocks { try released(block, of: worker) }
        case .touched(let worker, _):
            try expect(workers[worker]?.kind == .cache, "only the cache is told what was used")
        case .expel(let worker, _):
            try expect(workers.removeValue(forKey: worker) != nil, "a session ends once")
        case .reply(let client, let reply): try replied(reply, to: client)
        case .record, .granted: return
        case .progress(let client, let progress):
            try expect(isExpected(progress.token, by: client), "progress goes to a waiting client")
        case .failureCache(let client, _), .cache(let client, _), .prefetched(let client, _),
            .refused(let client, _, _):
            try expect(clients.contains(client), "only connected clients are answered")
        case .drained: throw BrokenInvariant(what: "nobody asked to drain")
        }
    }

    private mutating func replied(_ reply: Reply, to client: ClientID) throws(BrokenInvariant) {
        try expect(isExpected(reply.token, by: client), "one reply, to the client that asked")
        waiting[reply.token] = nil
        guard case .image(let image) = reply.outcome, let reference = image.reference else {
            return
        }
        try expect(
            reference.arena == .results && reference.producer?.kind == .cache,
            "clients read results/ only")
    }

    /// Whether a reply is due: to the client that sent the request, or to a departed client for a
    /// detached one.
    private func isExpected(_ token: Token, by client: ClientID) -> Bool {
        waiting[token].map { $0 == client }
            ?? (detached.contains(token) && !clients.contains(client))
    }

    private mutating func assigned(_ job: Job, to worker: WorkerID) throws(BrokenInvariant) {
        guard let record = workers[worker] else {
            throw BrokenInvariant(what: "a job goes to somebody")
        }
        try expect(record.kind == job.work.kind, "a job goes to its kind")
        try expect(record.held.count < record.window, "a job goes where there is credit")
        try expect(!held.contains { $0.job.id == job.id }, "a job is in one place")
        for input in job.work.inputs { try expect(isThere(input), "a job reads what is there") }
        workers[worker]?.held[job.id] = job
    }

    private func isThere(_ reference: BlockReference) -> Bool {
        workers.values.contains {
            $0.incarnation == reference.producer?.incarnation
                && $0.kind == reference.producer?.kind && isSound(reference, of: $0)
                && reference.arena == .stage && $0.handed.contains(reference.block)
        }
    }

    private mutating func released(_ block: BlockID, of worker: WorkerID) throws(BrokenInvariant) {
        guard let record = workers[worker] else {
            throw BrokenInvariant(what: "blocks are released to connected workers")
        }
        if workers[worker]?.evicted.remove(block) != nil { return }
        try expect(
            workers[worker]?.handed.remove(block) != nil,
            "block \(block.value) is released once, when it was handed over")
        let isRead = held.contains {
            $0.job.work.inputs.contains {
                $0.block == block && $0.producer?.incarnation == record.incarnation
            }
        }
        try expect(!isRead, "nothing is released while it is read")
    }
}
