package import ImageModel
package import Messages

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
