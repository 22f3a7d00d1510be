import ImageModel
import Messages

// Workers come and go (SEMANTICS §7.4).
extension Scheduler {
    /// There is one cache: with two of them a key would have two values.
    mutating func workerJoined(
        _ worker: WorkerID, _ kind: WorkerKind, _ incarnation: Incarnation, credit: UInt32
    ) {
        guard !roster.contains(worker) else { return }
        guard (kind == .coordinator) == (worker == .coordinator), kind != .cache || cache == nil
        else {
            let error = ImageError(.protocolViolation, "a \(kind.name) is connected already")
            return actions.append(.expel(worker, error))
        }
        let window = min(Int(credit), limits.creditMax.jobs(kind))
        roster.join(worker, LiveWorker(kind: kind, window: window))
        ledger.join(worker, BlockReference.Producer(kind: kind, incarnation: incarnation))
        if kind == .cache { cache = worker }
        cancellations.joined(kind, at: now)
    }

    /// A worker takes more jobs at a time, up to what its kind takes.
    mutating func grew(_ worker: WorkerID, by more: UInt32) {
        guard let known = roster[worker] else { return }
        roster[worker]?.window = min(
            known.window + Int(more), limits.creditMax.jobs(known.kind))
    }

    /// A worker broke the protocol, or is silent: its session is over.
    mutating func expel(_ worker: WorkerID, _ error: ImageError) {
        guard roster.contains(worker) else { return }
        actions.append(.expel(worker, error))
        workerGone(worker)
    }

    /// A worker is gone. Jobs that it held are done by another; what it had made is lost, and with
    /// it every piece of work that needs it: queued or running, it is given up, and its requests
    /// begin again. They find what was stored meanwhile, so that no more is repeated than must be.
    mutating func workerGone(_ worker: WorkerID, _ crash: CrashRecord? = nil) {
        guard let kind = roster[worker]?.kind, roster.leave(worker) else { return }
        ledger.leave(worker)
        if worker == cache { cacheGone(worker) }
        for node in results.ids
        where results.contains(node) && results[node].product?.block.worker == worker {
            dissolve(node, .again)
        }
        // With a result end the decodes of what is laid over it.
        for node in decodes.ids
        where decodes.contains(node) && decodes[node].pixels?.block.worker == worker {
            dissolve(node, .again)
        }
        for node in sources.ids
        where sources.contains(node) && sources[node].kept?.block.worker == worker {
            lose(node)
        }
        endTranscodes { $0.reads(from: worker) }
        weighAgain(after: worker)
        endDisputes(about: worker)
        // Each goes before the one that was put in front last.
        let held = jobs.values.filter { $0.worker == worker }.map(\.id)
        for id in held.sorted(by: >) {
            guard let job = jobs[id] else { continue }
            vacate(job)
            if let stoppedAt = job.stoppedAt {
                cancellations.ended(kind, with: job.stage, since: stoppedAt)
            }
            if let crash, crash.job == id, crash.attempt == job.attempt { accuse(job, crash) }
            guard let left = jobs[id] else { continue }
            if left.purpose == nil { forget(left) } else { lost(id) }
        }
    }

    /// The cache is gone, and with it everything that it had in memory. Queries and deliveries
    /// wait for its return; images whose reply has not gone out yet are made again.
    private mutating func cacheGone(_ worker: WorkerID) {
        cache = nil
        hits.removeAll()
        touches.removeAll()
        resultBlocks.leave(worker)
        for id in requests.ids {
            guard requests[id].pending?.block?.worker == worker else { continue }
            switch requests[id].standing {
            case .original(let node, let seat): sources[node].watchers.leave(seat)
            case .transcode(let node, let seat): transcodes[node].watchers.leave(seat)
            case .moving, .lookup, .overlays, .result: continue
            }
            requests[id].pending = nil
            requests[id].standing = .moving
            moving.append(.again(id))
        }
    }
}
