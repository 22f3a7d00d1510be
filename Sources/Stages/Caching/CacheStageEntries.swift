import Model

// Operations on one entry or all of them, without their bytes (SEMANTICS §5.7).
extension CacheStage {
    /// Looks up an entry, or removes one or all entries. A removal is answered after the resulting
    /// `evicted` and after the disk.
    private func performOnEntry(_ job: CacheJob, _ work: EntryWork, _ now: UnixTime) {
        let inMemory =
            switch work.action {
            case .contains: tiersInMemory(of: work.key, now: now).intersection(work.tiers)
            default: removeFromMemory(work)
            }
        let isSettled = work.action == .contains && inMemory.contains(.disk)
        guard work.tiers.contains(.disk), disk != nil, !isSettled else {
            return answer(job, .entry(inMemory))
        }
        guard !isDiskAway else { return performWithoutDisk(job, work, inMemory: inMemory) }
        let request: DiskWork =
            switch work.action {
            case .contains: .find(work.key)
            case .clear: .clear
            default: .remove(work.key)
            }
        if !ask(request, .entryWork(job, work, inMemory: inMemory), now) {
            if work.action == .remove { outdate(work.key) }
            answer(job, .failed(Self.tooMuchWaits))
        }
    }

    /// Handles the answer of the disk.
    func finishOnEntry(
        _ job: CacheJob, _ work: EntryWork, inMemory: CacheTypes, _ result: DiskResult
    ) {
        switch result {
        case .found(let row):
            let isFound =
                row.map { !isSwept(work.key, $0) && !$0.metadata.isOutdated(under: work.key) }
                ?? false && !outdated.contains(work.key)
            answer(job, .entry(isFound ? inMemory.union(.disk) : inMemory))
        case .removed(true): answer(job, .entry(inMemory.union(.disk)))
        default:
            // The removal is retried; until then the entry isn't answered from the disk.
            if work.action == .remove { outdate(work.key) }
            let error = ImageError(
                .internalError, "the disk tier cannot remove the entry now; try again later")
            answer(job, .failed(error))
        }
    }

    private func removeFromMemory(_ work: EntryWork) -> CacheTypes {
        if work.action == .clear { forgetAll(work.tiers) } else { forget(work.key, work.tiers) }
        return work.tiers.intersection(.memory)
    }
}

// Removing, listing or counting entries by their properties (SEMANTICS §5.7). Memory is processed
// at once, the disk in small steps so that other requests are served meanwhile.
extension CacheStage {
    /// Performs any operation on entries; the answer may follow later.
    func performEntryWork(_ job: CacheJob, _ work: EntryWork, _ now: UnixTime) {
        let selection = DiskSelection(work.selection, now)
        switch work.action {
        case .list: list(job, work, selection, now)
        case .count:
            var page = EntryPage()
            if work.tiers.contains(.memory) {
                for entry in memory.entries(now: now) where selection.matches(entry) {
                    page.memory.add(entry.cost)
                }
            }
            walk(job, work, page, DiskScan(selection: selection, purpose: .count), now)
        case .removeSelected:
            var page = EntryPage()
            page.memory = forget(selection, work.tiers, now)
            walk(job, work, page, DiskScan(selection: selection, purpose: .remove), now)
        case .trim: trim(job, work, now)
        case .renew: renew(job, work, now)
        case .contains, .remove, .clear: performOnEntry(job, work, now)
        }
    }

    // MARK: - Lists

    /// Pages of the disk come before those of memory; their cursors don't overlap.
    private static let memoryCursor: UInt64 = 1 << 63

    private func list(
        _ job: CacheJob, _ work: EntryWork, _ selection: DiskSelection, _ now: UnixTime
    ) {
        guard work.after < Self.memoryCursor, work.tiers.contains(.disk), disk != nil,
            let after = Int64(exactly: work.after)
        else { return listMemory(job, work, EntryPage(), now) }
        var scan = DiskScan(selection: selection, purpose: .list(Int(work.limit)))
        scan.after = after
        walk(job, work, EntryPage(), scan, now)
    }

    private func listMemory(
        _ job: CacheJob, _ work: EntryWork, _ page: EntryPage, _ now: UnixTime
    ) {
        guard work.tiers.contains(.memory) else { return answer(job, .entries(page)) }
        var page = page
        let selection = DiskSelection(work.selection, now)
        let first = work.after >= Self.memoryCursor ? work.after - Self.memoryCursor : 0
        let rest = memory.entries(now: now)
            .filter { $0.block.value > first && selection.matches($0) }
            .sorted { $0.block.value < $1.block.value }
        var keyBytes = page.entries.reduce(0) { $0 + $1.key.utf8.count }
        var count = 0
        page.next = Self.memoryCursor | first
        for entry in rest {
            let description = entry.described
            keyBytes += description.key.utf8.count
            let isFull = page.entries.count >= Int(work.limit)
            if isFull || (keyBytes > EntryPage.keyBytesMax && !page.entries.isEmpty) {
                break
            }
            count += 1
            page.entries.append(description)
            page.memory.add(entry.cost)
            page.next = Self.memoryCursor | entry.block.value
        }
        if count == rest.count { page.next = 0 }
        answer(job, .entries(page))
    }

    // MARK: - Scanning the disk

    /// Continues with a scan of the disk; if there is none, answers with the page.
    private func walk(
        _ job: CacheJob, _ work: EntryWork, _ page: EntryPage, _ scan: DiskScan, _ now: UnixTime
    ) {
        guard work.tiers.contains(.disk), disk != nil else { return answer(job, .entries(page)) }
        guard !isDiskAway else { return answer(job, .failed(Self.diskFails)) }
        // Until the scan is complete, matching entries that it has not reached are not answered.
        if scan.purpose == .remove { sweeps[job.id] = scan }
        if !ask(.scan(scan), .scanning(job, work, page, scan), now) {
            sweeps[job.id] = nil
            answer(job, .failed(Self.tooMuchWaits))
        }
    }

    func scanned(
        _ step: DiskScanStep?, _ job: CacheJob, _ work: EntryWork, _ page: EntryPage,
        _ scan: DiskScan, _ now: UnixTime
    ) {
        guard let step else {
            sweeps[job.id] = nil
            return answer(job, .failed(Self.diskFails))
        }
        var (page, scan) = (page, scan)
        page.entries += step.entries
        page.disk.entries += step.count.entries
        page.disk.bytes += step.count.bytes
        scan.upTo = step.upTo
        if case .list = scan.purpose, let next = step.next, !step.entries.isEmpty {
            // A page may be shorter than its limit; the next request continues.
            page.next = UInt64(next)
            return answer(job, .entries(page))
        }
        if let next = step.next {
            scan.after = next
            return walk(job, work, page, scan, now)
        }
        sweeps[job.id] = nil
        guard case .list = scan.purpose else { return answer(job, .entries(page)) }
        listMemory(job, work, page, now)
    }

    /// Returns whether a row belongs to an entry that is being removed.
    func isSwept(_ text: String, _ row: IndexRow) -> Bool {
        sweeps.values.contains { $0.removes(text, row) }
    }

    static let diskFails = ImageError(
        .internalError,
        "the disk tier is unavailable; see imagebus cache stats, and try again later")

    // MARK: - Removal

    /// Removes matching entries from memory and pending work; returns the number removed from the
    /// memory tier.
    private func forget(
        _ selection: DiskSelection, _ tiers: CacheTypes, _ now: UnixTime
    ) -> EntryCount {
        var gone = EntryCount()
        if tiers.contains(.memory) {
            for entry in memory.entries(now: now) where selection.matches(entry) {
                guard let key = entry.key else { continue }
                gone.add(entry.cost)
                apply(memory.remove(key: key))
            }
            keepOutOfMemory { selection.selection.matches($0, tags: $1) }
        }
        // Entries that are being stored now are not old.
        if selection.selection.olderThanSeconds ?? 0 == 0 {
            keepOutOfStores(tiers) { selection.selection.matches($0, tags: $1) }
        }
        guard tiers.contains(.disk) else { return gone }
        let writes = writeBehind.remove {
            selection.matches($0.key, $0.stored, tags: $0.metadata.tags)
        }
        for write in writes {
            touches.remove(write.key)
            endWaiting(write.number, skipped: Self.removed)
        }
        return gone
    }

    // MARK: - Trimming

    private func trim(_ job: CacheJob, _ work: EntryWork, _ now: UnixTime) {
        var page = EntryPage()
        if work.tiers.contains(.memory) {
            let before = memory
            apply(memory.shrink(toPercent: policy.disk.lowWaterPercent))
            page.memory = EntryCount(
                entries: UInt64(before.keyedCount - memory.keyedCount),
                bytes: UInt64(before.cost - memory.cost))
        }
        guard work.tiers.contains(.disk), disk != nil else { return answer(job, .entries(page)) }
        guard !isDiskAway else { return answer(job, .failed(Self.diskFails)) }
        let before = lastDiskStatus?.counts ?? DiskCounts()
        if !ask(.trim, .trimming(job, page, before: before), now) {
            answer(job, .failed(Self.tooMuchWaits))
        }
    }

    /// Handles a batch that the disk has trimmed.
    func trimmed(
        _ hasMore: Bool, _ job: CacheJob, _ page: EntryPage, before: DiskCounts, _ now: UnixTime
    ) {
        guard lastDiskStatus?.health == .healthy else {
            return answer(job, .failed(Self.diskFails))
        }
        if hasMore {
            if !ask(.maintain, .trimming(job, page, before: before), now) {
                answer(job, .failed(Self.tooMuchWaits))
            }
            return
        }
        var page = page
        let after = lastDiskStatus?.counts ?? before
        page.disk = EntryCount(
            entries: after.gone.entries &- before.gone.entries,
            bytes: after.gone.bytes &- before.gone.bytes)
        answer(job, .entries(page))
    }
}

extension DiskCounts {
    /// Entries and bytes removed for any reason.
    fileprivate var gone: Gone {
        var gone = trimmed
        gone.entries += expired.entries
        gone.bytes += expired.bytes
        return gone
    }
}

extension DiskSelection {
    fileprivate func matches(_ entry: MemoryEntry) -> Bool {
        guard let key = entry.key else { return false }
        let stored = entry.stored ?? UnixTime(milliseconds: 0)
        return matches(key, stored, tags: entry.metadata.tags)
    }
}

extension MemoryEntry {
    fileprivate var described: EntryDescription {
        EntryDescription(
            key: key ?? "", tier: .memory, bytes: reference.length, format: metadata.info.format,
            size: metadata.info.size,
            storedMilliseconds: UInt64(clamping: stored?.milliseconds ?? 0))
    }
}

// Entries confirmed by their origins (SEMANTICS §6.7).
extension CacheStage {
    /// Applies the origin's new caching information to the entry of a key in all tiers, if its
    /// bytes are the same. Doesn't wait for the disk: losing the update costs one revalidation.
    func renew(_ job: CacheJob, _ work: EntryWork, _ now: UnixTime) {
        guard let renewal = work.renewal else { return answer(job, .entry(.none)) }
        memory.renew(work.key, renewal)
        writeBehind.renew(work.key, renewal)
        firstUses.renew(work.key, renewal)
        // Follows a write in progress, since the disk works in order.
        if disk != nil, usesDisk(work.key) { _ = ask(.renew(work.key, renewal), .noting, now) }
        answer(job, .entry(work.tiers))
    }
}

extension StoredMetadata {
    /// Applies the origin's new caching information if the bytes are the same.
    mutating func renew(_ renewal: Validity) {
        guard etag == renewal.etag, lastModified == renewal.lastModified else { return }
        caching = renewal.caching
    }
}

extension CacheStage {
    /// Removes a key from memory and pending work: its entry, its recorded use, its queued disk
    /// write, and reads or copies in progress, whose result is not kept in these tiers.
    func forget(_ key: String, _ tiers: CacheTypes) {
        forget(tiers) { text, _ in text == key }
        if tiers.contains(.memory) { apply(memory.remove(key: key)) }
        guard tiers.contains(.disk) else { return }
        touches.remove(key)
        if let number = writeBehind.remove(key) { endWaiting(number, skipped: Self.removed) }
    }

    /// Removes every key in the same way.
    func forgetAll(_ tiers: CacheTypes) {
        forget(tiers) { _, _ in true }
        if tiers.contains(.memory) { apply(memory.clear()) }
        guard tiers.contains(.disk) else { return }
        touches = []
        for number in writeBehind.removeAll() { endWaiting(number, skipped: Self.removed) }
    }

    /// Returns the tiers that contain a key without asking the disk: the memory tier and the
    /// write-behind queue. Doesn't count as use.
    func tiersInMemory(of key: String, now: UnixTime) -> CacheTypes {
        var tiers = CacheTypes.none
        if memory.contains(key, now: now) { tiers.insert(.memory) }
        if writeBehind.write(of: key) != nil { tiers.insert(.disk) }
        return tiers
    }

    /// Writes all pending data to the disk, waits for jobs in progress, and then returns `drained`.
    /// Can be repeated if a job arrived afterwards.
    package func drain(now: UnixTime) -> [CacheAction] {
        if draining == .no || draining == .done {
            draining = .asked
            hasReportedDrained = false
        }
        return settle(now)
    }

    /// Performs the next step of draining when its condition is met.
    func continueDraining(_ now: UnixTime) {
        let isWritten = writeBehind.isEmpty || isDiskAway
        let hasWork = pending.values.contains { $0.isWork && !(isDiskAway && $0.isOnDisk) }
        if draining == .asked, isWritten, !hasWork {
            if !touches.isEmpty, ask(.touch(Array(touches)), .noting, now) { touches = [] }
            draining = ask(.flush, .flushing, now) ? .flushing : .done
        }
        if draining == .done, !hasReportedDrained {
            hasReportedDrained = true
            act(.drained)
        }
    }

    static let removed = "disk: removed in the meantime"

    /// Prevents work in progress from restoring removed entries: its bytes are delivered but not
    /// kept in these tiers.
    private func forget(_ tiers: CacheTypes, _ matches: (String, [String]?) -> Bool) {
        if tiers.contains(.memory) { keepOutOfMemory(matches) }
        keepOutOfStores(tiers, matches)
    }

    /// Prevents copies for stores under these keys from being kept in these tiers.
    func keepOutOfStores(_ tiers: CacheTypes, _ matches: (String, [String]?) -> Bool) {
        if tiers.contains(.disk) {
            firstUses.forget(matches)
            for id in Array(rounds.keys) { rounds[id]?.leaveOut(matches) }
        }
        for (ticket, work) in pending {
            guard case .copying(.store(let job, let store, var plan), let body) = work,
                plan.key.map({ matches($0, store.metadata.tags) }) ?? false
            else { continue }
            plan.leaveOut(tiers)
            pending[ticket] = .copying(.store(job, store, plan), body)
        }
    }
}

extension StorePlan {
    /// Excludes tiers from which the key was removed meanwhile.
    fileprivate mutating func leaveOut(_ tiers: CacheTypes) {
        let (wasForMemory, wasForDisk) = (toMemory, toDisk)
        if tiers.contains(.memory) { toMemory = false }
        if tiers.contains(.disk) { toDisk = false }
        guard (toMemory, toDisk) != (wasForMemory, wasForDisk) else { return }
        if !toMemory && !toDisk {
            key = nil
            skipped.append("removed in the meantime")
        } else {
            skipped.append(toMemory ? CacheStage.removed : "memory: removed in the meantime")
        }
    }
}

// The tiers never hold two values of a key: a value that can't be written to disk removes the older
// one there.
extension CacheStage {
    /// The maximum number of keys to retry; beyond it, an older value could reappear with the disk.
    static let outdatedMax = 16_384
    /// The maximum number of removals retried at a time, to leave capacity for other requests.
    static let removalsAtOnce = 64

    /// Removes an older value of a key whose newest value doesn't get to the disk; drops its queued
    /// write, and doesn't keep reads of it.
    ///
    /// The disk works in order: writes in progress complete before, and later queries are answered
    /// after.
    func removeOutdated(_ key: String, _ now: UnixTime) {
        keepOutOfMemory { text, _ in text == key }
        if let number = writeBehind.remove(key) { endWaiting(number, skipped: Self.removed) }
        if !ask(.remove(key), .removing(key), now) { outdate(key) }
    }

    /// Marks the value of a key on disk as outdated: it isn't answered. A queued write of the key
    /// will replace it.
    func outdate(_ key: String) {
        guard writeBehind.write(of: key) == nil, !outdated.contains(key) else { return }
        guard outdated.count < Self.outdatedMax else {
            // A working disk never has many outdated keys; a stalled one may have all of them.
            if isDiskAway { owesClear = true }
            return
        }
        outdated.insert(key)
    }

    /// Retries failed removals. A degraded disk is skipped until it reports its recovery.
    func removeAgain(_ now: UnixTime) {
        guard lastDiskStatus?.health == .healthy, !isDiskAway else { return }
        for key in Array(outdated.prefix(Self.removalsAtOnce)) {
            outdated.remove(key)
            removeOutdated(key, now)
        }
    }

    /// Prevents reads and copies for queries of these keys from being kept. Unknown tags are `nil`.
    func keepOutOfMemory(_ matches: (String, _ tags: [String]?) -> Bool) {
        for (ticket, work) in pending {
            switch work {
            case .query(let job, var query, let step) where matches(query.key, step.tags):
                query.promotes = false
                pending[ticket] = .query(job, query, step)
            case .copying(.query(let job, var query, let finding), let body)
            where matches(query.key, finding.metadata.tags):
                query.promotes = false
                pending[ticket] = .copying(.query(job, query, finding), body)
            default: break
            }
        }
    }
}
