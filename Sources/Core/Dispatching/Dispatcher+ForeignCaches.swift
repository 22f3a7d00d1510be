package import Messages

// Caches that are somebody else's: what is asked of them is asked once, and of one pool.
extension Dispatcher {
    /// A number for work that is several jobs.
    package mutating func nextNumber() -> JobID { jobs.nextID() }

    /// Work that was several jobs is over.
    package mutating func conclude(_ completion: Completion) { complete(completion) }

    /// The pool of that name, where it was there when the stack was started.
    package func foreignCache(_ name: String) -> PoolID? {
        guard let id = PoolName(name).flatMap({ limits.pools.id(of: $0) }),
            limits.pools.isForeignCache(id)
        else { return nil }
        return id
    }

    /// Whether the worker is one of those.
    package func isForeignCache(_ worker: WorkerID) -> Bool {
        roster[worker].map { limits.pools.isForeignCache($0.pool) } ?? false
    }

    /// Why the pool cannot be asked one thing more; `nil` where it can. What waits for it is
    /// little, since it would come too late.
    package func obstacle(in pool: PoolID) -> ForeignCacheObstacle? {
        let credit = roster.credit(of: pool)
        guard credit.window > 0 else { return .missing }
        return jobs.queued(in: pool) < Self.queuedFactor * credit.window ? nil : .full
    }

    /// Whether caches of others may be given so many bytes more to read. They are output of earlier
    /// stages, which stays meanwhile: all their stores hold a part of its budget at most, and one
    /// of them whatever it reads.
    package func mayRead(_ bytes: UInt64) -> Bool {
        let claimed = jobs.bytesClaimedByCaches
        let most = min(limits.outputBytesMax.download, limits.outputBytesMax.transform) / 8
        return claimed == 0 || claimed + bytes <= most
    }

    /// Bytes of output in use, so that a decoder that is slow does not keep all that a cache of
    /// others has.
    static let foreignCacheOutputBytes: UInt64 = 256 << 20

    private static let queuedFactor = 4
}

/// What keeps a cache of others from being asked.
package enum ForeignCacheObstacle: Hashable, Sendable {
    /// No worker of its pool takes jobs.
    case missing
    /// As much waits for it as may.
    case full
}
