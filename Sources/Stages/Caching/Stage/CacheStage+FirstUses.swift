internal import Messages

// What is asked for once need not be written to the disk.
extension CacheStage {
    /// Keeps what is asked for the first time from the disk, where the policy wants that. Who waits
    /// for the disk has it written.
    func withhold(_ work: StoreWork, _ plan: inout StorePlan) {
        guard plan.toDisk, let key = plan.key, !policy(of: key).writesFirstUse else { return }
        let isKnown = firstUses.note(key)
        guard !isKnown, !work.waitsForDisk else { return }
        plan.toDisk = false
        plan.isWithheld = true
        plan.skipped.append("disk: it is asked for the first time")
    }

    /// Notes that the disk was asked for a key, and had it.
    func noteAsked(_ key: String) {
        if !policy(of: key).writesFirstUse { _ = firstUses.note(key) }
    }

    /// An entry of memory was used: the disk gets it now, where it was kept from there.
    func writeWithheld(_ block: BlockID) {
        guard !isDiskAway, let entry = firstUses.take(block), usesDisk(entry.key) else { return }
        let added = writeBehind.add(
            key: entry.key, body: entry.body, metadata: entry.metadata, stored: entry.stored)
        // What is there of an older value is replaced.
        if added != nil { outdated.remove(entry.key) }
    }
}
