internal import Model

extension CacheStage {
    /// Copies a payload for its receiver, the memory tier and the disk.
    func store(_ job: CacheJob, _ work: StoreWork, _ now: UnixTime) {
        guard let length = Int(exactly: work.source.length) else {
            let error = ImageError(.internalError, "a payload of \(work.source.length) bytes")
            return answer(job, .failed(error))
        }
        if work.key == nil, !work.delivers {
            guard let block = work.comparedWith else { return look(job, work) }
            return compare(job, work, with: staged[block], length: length, now)
        }
        if let key = work.key { overtakePromotions(of: key) }
        var plan = plan(work, length: length)
        // An older value must not reappear when the disk is enabled again.
        if let key = plan.key, work.tiers.contains(.disk), disk != nil, !usesDisk(key) {
            removeOutdated(key, now)
        }
        if plan.isWithheld, let key = plan.key { removeOutdated(key, now) }
        do {
            guard let body = try reserve(work, &plan, length: length, now) else {
                return answer(job, .stored(report(plan)))
            }
            let source = CopySource.payload(work.source, source)
            try fill(body, from: source, for: .store(job, work, plan), now)
        } catch {
            answer(job, .failed(error))
        }
    }

    /// Checks whether the bytes exist, for a store that neither keeps nor delivers them.
    private func look(_ job: CacheJob, _ work: StoreWork) {
        do throws(ImageError) {
            try source.check(work.source)
            answer(job, .stored(StoreReport(delivered: nil, tiers: .none)))
        } catch {
            answer(job, .failed(error))
        }
    }

    /// Compares a payload with a staged body; fails if that was released.
    private func compare(
        _ job: CacheJob, _ work: StoreWork, with staged: Body?, length: Int, _ now: UnixTime
    ) {
        guard let staged, staged.length == length else {
            return answer(job, .stored(StoreReport(delivered: nil, tiers: .none)))
        }
        do throws(ImageError) {
            let copy = try Body(in: .other(heap), length: length)
            try fill(copy, from: .payload(work.source, source), for: .comparison(job, staged), now)
        } catch {
            answer(job, .failed(error))
        }
    }

    private func plan(_ work: StoreWork, length: Int) -> StorePlan {
        var plan = StorePlan(
            key: work.key, toMemory: work.key != nil && work.tiers.contains(.memory),
            toDisk: work.key != nil && work.tiers.contains(.disk), isResult: false)
        if plan.toDisk, !usesDisk(work.key) {
            plan.toDisk = false
            plan.skipped.append(whyNoDisk(work.key))
        }
        withhold(work, &plan)
        if plan.toMemory, !policy(of: work.key).usesMemory {
            plan.toMemory = false
            plan.skipped.append("memory: disabled")
        }
        if plan.toMemory, !fitsMemory(plan.key, length, work.metadata) {
            plan.toMemory = false
            plan.skipped.append("memory: \(length) bytes exceed its limit")
        }
        plan.isResult = work.delivers || plan.toMemory
        return plan
    }

    private func fitsMemory(_ key: String?, _ length: Int, _ metadata: StoredMetadata) -> Bool {
        let cost = MemoryTier.cost(key: key, blockBytes: length, partBytes: metadata.partBytes)
        return memory.mayHold(key, cost: cost)
    }

    /// Reserves memory for the copy; `nil` if it isn't needed. A result that only the memory tier
    /// would keep may still go to the disk when `results/` is full.
    private func reserve(
        _ work: StoreWork, _ plan: inout StorePlan, length: Int, _ now: UnixTime
    ) throws(ImageError) -> Body? {
        if plan.isResult {
            do {
                return try reserveResult(plan.toMemory ? plan.key : nil, length: length)
            } catch {
                if work.delivers { throw error }
                plan.toMemory = false
                plan.isResult = false
                plan.skipped.append("memory: \(error.message)")
            }
        }
        guard plan.toDisk, let key = plan.key else { return nil }
        guard writeBehind.hasRoom(key: key, length: length, partBytes: work.metadata.partBytes)
        else {
            skipDisk(key, &plan, now)
            return nil
        }
        return try Body(in: .other(heap), length: length)
    }

    /// Distributes the copy, and answers now or after the disk.
    func store(
        _ body: Body, _ job: CacheJob?, _ work: StoreWork, _ plan: StorePlan, _ now: UnixTime
    ) {
        var plan = plan
        if work.isPromotion { skipIfOvertaken(&plan, now) }
        if plan.isResult, plan.toMemory || (work.delivers && job != nil) {
            let key = plan.toMemory ? plan.key : nil
            let expires =
                plan.toDisk || plan.isWithheld || work.isPromotion
                ? policy(of: plan.key).disk.expiry(created: now, stored: now) : nil
            deliver(body, key: key, work.metadata, expires: expires, stored: now, now)
            if plan.isWithheld, let key { firstUses.withhold(key, body, work.metadata, now) }
        }
        // Reads of an older value from elsewhere must not replace it.
        if let key = plan.key, readOnly != nil { keepOutOfMemory { text, _ in text == key } }
        let write = writeLater(body, work, &plan, now)
        // The tiers never hold two values of a key.
        if plan.toDisk, !plan.toMemory, let key = plan.key { apply(memory.remove(key: key)) }
        var report = report(plan)
        report.digest = work.metadata.digest
        if work.delivers, job != nil {
            report.delivered = body.reference
        }
        let waits = work.waitsForDisk || !policy(of: work.key).writesBehind
        guard let write, waits, !work.isPromotion, let job else {
            return answer(job, .stored(report))
        }
        awaitedStores[write, default: []].append(AwaitedStore(job: job, report: report))
    }

    /// Queues a body for the disk and returns the number of its write.
    private func writeLater(
        _ body: Body, _ work: StoreWork, _ plan: inout StorePlan, _ now: UnixTime
    ) -> UInt64? {
        guard plan.toDisk, let key = plan.key else { return nil }
        let added = writeBehind.add(key: key, body: body, metadata: work.metadata, stored: now)
        guard let (number, replaced) = added else {
            skipDisk(key, &plan, now)
            return nil
        }
        // The write replaces an older value.
        outdated.remove(key)
        if let replaced, let others = awaitedStores.removeValue(forKey: replaced) {
            // Their key is being written all the same.
            awaitedStores[number] = others
        }
        return number
    }

    /// Handles a full write-behind queue: removes an older value from the disk, and from memory if
    /// the new value isn't kept there.
    private func skipDisk(_ key: String, _ plan: inout StorePlan, _ now: UnixTime) {
        plan.toDisk = false
        plan.skipped.append("disk: the write-behind queue is full")
        removeOutdated(key, now)
        if !plan.toMemory { apply(memory.remove(key: key)) }
    }

    private func whyNoDisk(_ key: String?) -> String {
        guard disk != nil else { return "disk: not configured" }
        guard isDiskAway, policy(of: key).usesDisk else { return "disk: disabled" }
        counts.storesSkipped += 1
        return Self.diskStalled
    }

    private func report(_ plan: StorePlan) -> StoreReport {
        var tiers = CacheTypes.none
        if plan.toMemory { tiers.insert(.memory) }
        if plan.toDisk { tiers.insert(.disk) }
        let skipped = plan.skipped.joined(separator: "; ")
        return StoreReport(
            delivered: nil, tiers: tiers, skipped: skipped.isEmpty ? nil : skipped)
    }

    // MARK: - Disk

    /// Starts the next writes if none are in progress.
    func pumpWrites(_ now: UnixTime) {
        // Writes for a stalled disk stay queued until it recovers.
        let writes = isDiskAway ? [] : writeBehind.next()
        guard !writes.isEmpty, !ask(.write(writes), .writing(writes), now) else { return }
        let refusal = DiskWriteResult.skipped("disk: \(Self.tooMuchWaits.message)")
        didWrite(writes, writes.map { _ in refusal }, now)
    }

    /// Handles the end of the writes in progress.
    func didWrite(_ writes: [PendingWrite], _ results: [DiskWriteResult], _ now: UnixTime) {
        writeBehind.finish()
        for (write, result) in zip(writes, results) { didWrite(write, result, now) }
    }

    /// Handles the end of a write: answers the jobs that waited for it.
    private func didWrite(_ write: PendingWrite, _ result: DiskWriteResult, _ now: UnixTime) {
        if result != .stored {
            counts.storesSkipped += 1
            // A newer queued write will replace the old value.
            if writeBehind.write(of: write.key) == nil { removeOutdated(write.key, now) }
        }
        endWaiting(write.number, skipped: result.reason)
    }

    /// Answers the jobs that waited for a write; `skipped` is the reason for its failure.
    func endWaiting(_ number: UInt64, skipped: String?) {
        for store in awaitedStores.removeValue(forKey: number) ?? [] {
            var report = store.report
            if let skipped {
                report.tiers.remove(.disk)
                report.skipped = [report.skipped, skipped].compactMap { $0 }.joined(separator: "; ")
            }
            answer(store.job, .stored(report))
        }
    }
}

extension DiskWriteResult {
    /// The reason why the entry was not written.
    var reason: String? {
        switch self {
        case .stored: nil
        case .skipped(let reason): reason
        }
    }
}
