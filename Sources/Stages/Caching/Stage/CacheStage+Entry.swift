internal import ImageModel
internal import Messages

// One entry, or all of them, without their bytes (SEMANTICS §5.7).
extension CacheStage {
    /// Looks for an entry, or removes it or all of them. The answer of a removal comes after the
    /// `evicted` that it causes, and after the disk.
    func attend(_ job: CacheJob, to work: EntryWork, _ now: UnixTime) {
        let inMemory =
            switch work.action {
            case .contains: tiersInMemory(of: work.key, now: now).intersection(work.tiers)
            default: removeFromMemory(work)
            }
        let isSettled = work.action == .contains && inMemory.contains(.disk)
        guard work.tiers.contains(.disk), disk != nil, !isSettled else {
            return answer(job, .entry(inMemory))
        }
        guard !isDiskAway else { return attendWithoutDisk(job, to: work, inMemory: inMemory) }
        let request: DiskWork =
            switch work.action {
            case .contains: .find(work.key)
            case .clear: .clear
            default: .remove(work.key)
            }
        if !ask(request, .attending(job, work, inMemory: inMemory), now) {
            if work.action == .remove { outdate(work.key) }
            answer(job, .failed(Self.tooMuchWaits))
        }
    }

    /// The disk has looked, or removed.
    func attended(
        _ job: CacheJob, to work: EntryWork, inMemory: CacheTypes, _ result: DiskResult
    ) {
        switch result {
        case .found(let row):
            let isFound =
                row.map { !isSwept(work.key, $0) && !$0.metadata.isOutdated(under: work.key) }
                ?? false && !outdated.contains(work.key)
            answer(job, .entry(isFound ? inMemory.union(.disk) : inMemory))
        case .removed(true): answer(job, .entry(inMemory.union(.disk)))
        default:
            // It is tried again all the same; until then nobody is answered from it.
            if work.action == .remove { outdate(work.key) }
            let error = ImageError(.internalError, "the disk cannot remove it now; try again later")
            answer(job, .failed(error))
        }
    }

    private func removeFromMemory(_ work: EntryWork) -> CacheTypes {
        if work.action == .clear { forgetAll(work.tiers) } else { forget(work.key, work.tiers) }
        return work.tiers.intersection(.memory)
    }
}
