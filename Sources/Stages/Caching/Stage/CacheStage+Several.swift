internal import ImageModel
internal import Messages

// Several entries at a time: removed, listed or counted by what they are (SEMANTICS §5.7). Memory
// is looked through at once, the disk a bit at a time, so that others are served meanwhile.
extension CacheStage {
    func attendSeveral(_ job: CacheJob, to work: EntryWork, _ now: UnixTime) {
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
        case .contains, .remove, .clear: attend(job, to: work, now)
        }
    }

    // MARK: - Lists

    /// The pages of the disk come before those of memory; their numbers do not meet.
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

    // MARK: - The walk over the disk

    /// Goes on with a scan of the disk; without one the page is the answer.
    private func walk(
        _ job: CacheJob, _ work: EntryWork, _ page: EntryPage, _ scan: DiskScan, _ now: UnixTime
    ) {
        guard work.tiers.contains(.disk), disk != nil else { return answer(job, .entries(page)) }
        guard !isDiskAway else { return answer(job, .failed(Self.diskFails)) }
        // Until the walk is over nobody is answered from what it has not reached yet.
        if scan.purpose == .remove { sweeps[job.id] = scan }
        if !ask(.scan(scan), .scanning(job, work, page, scan), now) {
            sweeps[job.id] = nil
            answer(job, .failed(Self.tooMuchWaits))
        }
    }

    /// The disk has done one step.
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
            // A page may be shorter than it might be: the next one goes on.
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

    /// Whether a row that was found is of an entry that is being removed.
    func isSwept(_ text: String, _ row: IndexRow) -> Bool {
        sweeps.values.contains { $0.removes(text, row) }
    }

    static let diskFails = ImageError(
        .internalError, "the disk cannot do it now; see imagebus cache stats, and try again later")

    // MARK: - Removal

    /// Forgets the entries that are meant, as far as memory knows. How many left the memory tier.
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
        // What is stored only now is not old.
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

    // MARK: - Trim

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
        let before = counts.disk?.counts ?? DiskCounts()
        if !ask(.trim, .trimming(job, page, before: before), now) {
            answer(job, .failed(Self.tooMuchWaits))
        }
    }

    /// The disk has let go of a batch.
    func trimmed(
        _ hasMore: Bool, _ job: CacheJob, _ page: EntryPage, before: DiskCounts, _ now: UnixTime
    ) {
        guard counts.disk?.health == .healthy else { return answer(job, .failed(Self.diskFails)) }
        if hasMore {
            if !ask(.maintain, .trimming(job, page, before: before), now) {
                answer(job, .failed(Self.tooMuchWaits))
            }
            return
        }
        var page = page
        let after = counts.disk?.counts ?? before
        page.disk = EntryCount(
            entries: after.gone.entries &- before.gone.entries,
            bytes: after.gone.bytes &- before.gone.bytes)
        answer(job, .entries(page))
    }
}

extension DiskCounts {
    /// All that went.
    fileprivate var gone: Gone {
        var gone = trimmed
        gone.entries += expired.entries
        gone.bytes += expired.bytes
        return gone
    }
}

extension DiskSelection {
    /// Whether it means an entry of memory.
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
