public import ImageModel
internal import Messages

extension CacheStage {
    /// Forgets a key of tiers, as far as memory knows: its entry, its use, what waits for the disk,
    /// and what is being read or copied for it, which is not kept there.
    func forget(_ key: String, _ tiers: CacheTypes) {
        forget(tiers) { text, _ in text == key }
        if tiers.contains(.memory) { apply(memory.remove(key: key)) }
        guard tiers.contains(.disk) else { return }
        touches.remove(key)
        if let number = writeBehind.remove(key) { endWaiting(number, skipped: Self.removed) }
    }

    /// Forgets every key of tiers, in the same way.
    func forgetAll(_ tiers: CacheTypes) {
        forget(tiers) { _, _ in true }
        if tiers.contains(.memory) { apply(memory.clear()) }
        guard tiers.contains(.disk) else { return }
        touches = []
        for number in writeBehind.removeAll() { endWaiting(number, skipped: Self.removed) }
    }

    /// Removes every key from tiers. `commanded` comes after the `evicted` that it causes, and
    /// after the disk; a body that is being read or copied is not kept.
    public func clear(
        _ tiers: CacheTypes, command: CacheCommandID, now: UnixTime
    ) -> [CacheAction] {
        forgetAll(tiers)
        if tiers.contains(.disk) {
            carryOut(.clear, command, now)
        } else {
            act(.commanded(command, true))
        }
        return settle(now)
    }

    /// Which tiers have a key, as far as memory knows: the memory tier, and what waits for the
    /// disk. Does not count as use.
    func tiersInMemory(of key: String, now: UnixTime) -> CacheTypes {
        var tiers = CacheTypes.none
        if memory.contains(key, now: now) { tiers.insert(.memory) }
        if writeBehind.write(of: key) != nil { tiers.insert(.disk) }
        return tiers
    }

    /// Writes everything that is on its way to the disk, waits for the jobs that are under way, and
    /// answers `drained`. Asked again after that, since a job came all the same, it does so again.
    public func drain(now: UnixTime) -> [CacheAction] {
        if draining == .no || draining == .done {
            draining = .asked
            saidDrained = false
        }
        return settle(now)
    }

    /// The next step to the end, where its time has come.
    func continueDraining(_ now: UnixTime) {
        let isWritten = writeBehind.isEmpty || isDiskAway
        let hasWork = pending.values.contains { $0.isWork && !(isDiskAway && $0.isOnDisk) }
        if draining == .asked, isWritten, !hasWork {
            if !touches.isEmpty, ask(.touch(Array(touches)), .noting, now) { touches = [] }
            draining = ask(.flush, .flushing, now) ? .flushing : .done
        }
        if draining == .done, !saidDrained {
            saidDrained = true
            act(.drained)
        }
    }

    static let removed = "disk: removed meanwhile"

    private func carryOut(_ work: DiskWork, _ command: CacheCommandID, _ now: UnixTime) {
        if disk == nil {
            act(.commanded(command, true))
        } else if !ask(work, .commanding(command), now) {
            act(.commanded(command, false))
        }
    }

    /// Work under way must not bring back what is removed now: its bytes are delivered, not kept
    /// in these tiers.
    private func forget(_ tiers: CacheTypes, _ matches: (String, [String]?) -> Bool) {
        if tiers.contains(.memory) { keepOutOfMemory(matches) }
        keepOutOfStores(tiers, matches)
    }

    /// What is being copied for stores under these keys is not kept in these tiers.
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
    /// The key was removed from these tiers meanwhile: the body is kept in the others at most.
    fileprivate mutating func leaveOut(_ tiers: CacheTypes) {
        let (wasForMemory, wasForDisk) = (toMemory, toDisk)
        if tiers.contains(.memory) { toMemory = false }
        if tiers.contains(.disk) { toDisk = false }
        guard (toMemory, toDisk) != (wasForMemory, wasForDisk) else { return }
        if !toMemory && !toDisk {
            key = nil
            skipped.append("removed meanwhile")
        } else {
            skipped.append(toMemory ? CacheStage.removed : "memory: removed meanwhile")
        }
    }
}
