internal import Model

extension CacheStage {
    /// Looks a key up in order: memory, the write-behind queue, the disk.
    func query(_ job: CacheJob, _ work: QueryWork, _ now: UnixTime) {
        var work = work
        if !policy(of: work.key).usesMemory { work.promotes = false }
        if work.tiers.contains(.memory), answerFromMemory(job, work, now) { return }
        guard work.tiers.contains(.disk), usesDisk(work.key) else {
            return lookFurther(job, work, now)
        }
        if let write = writeBehind.write(of: work.key), !write.metadata.isOutdated(under: work.key)
        {
            let finding = Finding(
                tier: .disk, metadata: write.metadata,
                expires: policy(of: work.key).disk.expiry(
                    created: write.stored, stored: write.stored),
                stored: write.stored)
            return give(.body(write.body), length: write.body.length, job, work, finding, now)
        }
        guard !outdated.contains(work.key) else { return lookFurther(job, work, now) }
        if !ask(.look(work.key, home(work)), .query(job, work, .looking), now) {
            answer(job, .failed(Self.tooMuchWaits))
        }
    }

    func answerFromMemory(_ job: CacheJob, _ work: QueryWork, _ now: UnixTime) -> Bool {
        let (found, gone) = memory.lookup(work.key, now: now)
        apply(gone)
        guard let entry = found, let body = bodies[entry.block],
            !entry.metadata.isOutdated(under: work.key)
        else { return false }
        noteUse(work.key)
        writeWithheld(entry.block)
        switch work.destination {
        case .results:
            counts.memoryHits += 1
            count(work.key) { $0.memoryHits += 1 }
            // The coordinator asked, so it doesn't know the entry and must be notified.
            notify(entry, now)
            let hit = CacheHit(reference: entry.reference, tier: .memory, metadata: entry.metadata)
            answer(job, .hit(hit))
        case .staging:
            let finding = Finding(
                tier: .memory, metadata: entry.metadata, expires: entry.expires,
                stored: entry.stored)
            give(.body(body), length: body.length, job, work, finding, now)
        }
        return true
    }

    /// Handles an entry on disk without memory to read it into: reserves its length, evicting
    /// entries if necessary, and reads directly into that.
    private func located(_ row: IndexRow?, _ job: CacheJob, _ work: QueryWork, _ now: UnixTime) {
        guard let row, !isSwept(work.key, row), !row.metadata.isOutdated(under: work.key) else {
            return lookFurther(job, work, now)
        }
        do throws(ImageError) {
            let body = try reserve(work, length: row.bodyLength)
            let pending = PendingWork.query(job, work, .reading(row, body))
            if !ask(.read(work.key, row, body), pending, now) { throw Self.tooMuchWaits }
        } catch {
            answer(job, .failed(error))
        }
    }

    /// Handles the disk's answer to a lookup.
    func looked(_ result: DiskResult, _ job: CacheJob, _ work: QueryWork, _ now: UnixTime) {
        // Another query may have loaded it into memory meanwhile (SEMANTICS §5.2).
        if work.tiers.contains(.memory), answerFromMemory(job, work, now) { return }
        guard !outdated.contains(work.key) else { return lookFurther(job, work, now) }
        switch result {
        case .fetched(let row, let body): didRead(true, row, body, job, work, now)
        case .located(let row): located(row, job, work, now)
        case .read, .written, .removed, .found, .done, .maintained, .scanned: miss(job, work)
        }
    }

    /// Handles a body that was read, or found to be damaged.
    func didRead(
        _ isWhole: Bool, _ row: IndexRow, _ body: Body, _ job: CacheJob, _ work: QueryWork,
        _ now: UnixTime
    ) {
        guard isWhole, !outdated.contains(work.key), !isSwept(work.key, row),
            !row.metadata.isOutdated(under: work.key)
        else { return lookFurther(job, work, now) }
        let finding = Finding(
            tier: .disk, metadata: row.metadata,
            expires: policy(of: work.key).disk.expiry(
                created: row.created, stored: row.stored),
            stored: row.stored)
        noteAsked(work.key)
        var work = work
        // Stored again since the lookup: these bytes must not replace the newer ones.
        if memory.contains(work.key, now: now) || writeBehind.write(of: work.key) != nil {
            work.promotes = false
        }
        found(body, job, work, finding, now)
    }

    /// Answers a query with a filled body.
    func found(
        _ body: Body, _ job: CacheJob, _ work: QueryWork, _ finding: Finding, _ now: UnixTime
    ) {
        if finding.tier == .memory { counts.memoryHits += 1 } else { counts.diskHits += 1 }
        count(work.key) {
            if finding.tier == .memory { $0.memoryHits += 1 } else { $0.diskHits += 1 }
        }
        switch work.destination {
        case .results:
            deliver(
                body, key: keptKey(work, body.blockBytes), finding.metadata,
                expires: finding.expires,
                stored: finding.stored ?? now, now)
        case .staging: staged[body.reference.block] = body
        }
        answer(
            job,
            .hit(
                CacheHit(
                    reference: body.reference, tier: finding.tier, metadata: finding.metadata)))
    }

    private func give(
        _ source: CopySource, length: Int, _ job: CacheJob, _ work: QueryWork, _ finding: Finding,
        _ now: UnixTime
    ) {
        do {
            let body = try reserve(work, length: length)
            try fill(body, from: source, for: .query(job, work, finding), now)
        } catch {
            answer(job, .failed(error))
        }
    }

    func reserve(_ work: QueryWork, length: Int) throws(ImageError) -> Body {
        switch work.destination {
        case .results: try reserveResult(keptKey(work, length), length: length)
        case .staging: try Body(in: home(work), length: length)
        }
    }

    /// Returns the key under which a hit is kept in memory; `nil` if it isn't, for example because
    /// it exceeds its cache's limit.
    private func keptKey(_ work: QueryWork, _ bytes: Int) -> String? {
        let cost = MemoryTier.cost(key: work.key, blockBytes: bytes)
        return work.promotes && memory.mayHold(work.key, cost: cost) ? work.key : nil
    }

    func home(_ work: QueryWork) -> Body.Home {
        switch work.destination {
        case .results: .results(results)
        case .staging: .other(staging)
        }
    }

    func miss(_ job: CacheJob, _ work: QueryWork) {
        if !hasMoreTurns(job) { counts.misses += 1 }
        count(work.key) { $0.misses += 1 }
        answer(job, .miss)
    }

    /// Records the use of a key for the eviction order of the disk.
    func noteUse(_ key: String) {
        if disk != nil, touches.count < Self.touchesMax { touches.insert(key) }
    }
}

// Hits of external caches that are kept here (SEMANTICS §5.26).
extension CacheStage {
    /// Prevents hits that are being copied for this key from being kept, because a newer value is
    /// about to be stored.
    func overtakePromotions(of key: String) {
        for (ticket, work) in pending {
            guard case .copying(.store(let job, let store, var plan), let body) = work,
                store.isPromotion, plan.key == key
            else { continue }
            plan.keepNothing()
            pending[ticket] = .copying(.store(job, store, plan), body)
        }
    }

    /// Prevents a hit from replacing a value that was stored here meanwhile.
    func skipIfOvertaken(_ plan: inout StorePlan, _ now: UnixTime) {
        if let key = plan.key, !tiersInMemory(of: key, now: now).isEmpty { plan.keepNothing() }
    }
}

extension StorePlan {
    /// Keeps the body nowhere; it is only delivered, if at all.
    fileprivate mutating func keepNothing() {
        (key, toMemory, toDisk, isWithheld) = (nil, false, false, false)
        skipped.append("a newer value exists")
    }
}
