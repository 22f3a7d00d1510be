import ImageModel
import Messages

// Space for what pools make: while there is none, jobs wait outside (SEMANTICS §9.5).
extension Dispatcher {
    /// Whether what the pool has made and nobody has used up yet leaves room for more. What uses
    /// it up are later stages, which do not wait for earlier ones: so it becomes less. A further
    /// pool, which may have no worker, holds a part of it at most (`checkRoom`).
    ///
    /// What is under way counts by what others made. Otherwise all that workers take would begin
    /// with the first free byte, and who comes then would wait until all of that is used up.
    func hasBudget(_ pool: PoolID) -> Bool {
        guard let budget = limits.outputBytes(of: pool) else { return true }
        let coming = forecast.bytes(ofJobs: roster.credit(of: pool).held, in: pool)
        // Transfers from an origin that is silent may stay: they keep others from half of it.
        return usableBytes(of: pool) + min(coming, budget / 2) < budget
    }

    /// Bytes that the pool has made and that later stages use up. Of several pools of decoders each
    /// may have made all of the pixels apart: none of them waits for those. Likewise no pool of
    /// transformers waits for what those of somebody else read: that becomes less only where the
    /// jobs behind theirs find space, and these are done by the same pools.
    private func usableBytes(of pool: PoolID) -> UInt64 {
        let live = ledger.liveBytes(of: pool)
        let apart =
            switch limits.pools.kind(of: pool) {
            case .decode: pixelBytesApart
            case .transform: jobs.bytesClaimedForSteps
            case .download, .cache, .coordinator: UInt64(0)
            }
        return live > apart ? live - apart : 0
    }

    // MARK: - Parked jobs

    /// A job found no space. It waits for a release of something that such workers made, unless
    /// there is nothing that could be released (SEMANTICS §9.5).
    mutating func park(_ id: JobID, hasReaders: Bool) -> Bool {
        guard let job = jobs[id],
            hasRoomToCome(job.pool) || (job.kind == .cache && hasReaders)
                || isReleaseUnderWay(to: job.pool)
        else { return false }
        jobs.park(id, at: now)
        return true
    }

    /// Whether anything that such workers made may be released without anybody finding space first.
    /// Pixels apart are kept by those who may be waiting for it.
    private func hasRoomToCome(_ pool: PoolID) -> Bool {
        guard limits.pools.kind(of: pool) == .decode, pixelBytesApart > 0 else {
            return ledger.hasLiveBlocks(of: pool)
        }
        return usableBytes(of: pool) > 0
    }

    /// Whether something of the pool became free of which its producer may not have heard yet.
    private func isReleaseUnderWay(to pool: PoolID) -> Bool {
        guard let last = lastReleases[pool.index] else { return false }
        return now < last.adding(milliseconds: limits.parkedMilliseconds)
    }

    /// Space became free: as many parked jobs of the pool try again as blocks did.
    mutating func unpark(_ pool: PoolID, atMost count: Int) {
        guard !jobs.parked.ids.isEmpty else { return }
        unpark(atMost: count) { $0.pool == pool }
    }

    private mutating func unpark(atMost count: Int, where isMeant: (ActiveJob) -> Bool) {
        figures.requeued += UInt64(jobs.unpark(atMost: count, at: now, where: isMeant))
    }

    /// Jobs that found no space try again, if none became free for a while: the cache may have made
    /// room by itself.
    package mutating func retryParked() {
        guard let since = jobs.parked.since,
            since.adding(milliseconds: limits.parkedMilliseconds) <= now
        else { return }
        unpark(atMost: jobs.parked.ids.count) { _ in true }
    }
}
