internal import Messages

// The tiers never have two values of a key: what does not get to the disk takes the older one from
// there.
extension CacheStage {
    /// Keys that wait for another try at most; an older value of one more may come back with the
    /// disk.
    static let outdatedMax = 16_384
    /// Removals that are tried again at a time, so that they leave room for others.
    static let removalsAtOnce = 64

    /// The newest value of a key does not get to the disk: an older one is removed, or not written
    /// where it still waits, and what is being read of it is not kept.
    ///
    /// The disk works in order: a write under way ends before, and who asks from now on is answered
    /// after.
    func removeOutdated(_ key: String, _ now: UnixTime) {
        keepOutOfMemory { text, _ in text == key }
        if let number = writeBehind.remove(key) { endWaiting(number, skipped: Self.removed) }
        if !ask(.remove(key), .removing(key), now) { outdate(key) }
    }

    /// The older value of a key is still on the disk, and nothing is to be answered from it. One
    /// that waits for the disk by now replaces it.
    func outdate(_ key: String) {
        guard writeBehind.write(of: key) == nil, !outdated.contains(key) else { return }
        guard outdated.count < Self.outdatedMax else {
            // A disk that works is behind with few keys, one that does not answer with all of them.
            if isDiskAway { owesClear = true }
            return
        }
        outdated.insert(key)
    }

    /// Tries again what could not be removed. A degraded disk is left alone: it says by itself when
    /// it is back.
    func removeAgain(_ now: UnixTime) {
        guard counts.disk?.health == .healthy, !isDiskAway else { return }
        for key in Array(outdated.prefix(Self.removalsAtOnce)) {
            outdated.remove(key)
            removeOutdated(key, now)
        }
    }

    /// What is being read or copied for queries of these keys is delivered, and not kept. Tags that
    /// are not known yet are `nil`.
    func keepOutOfMemory(_ matches: (String, _ tags: [String]?) -> Bool) {
        for (ticket, work) in pending {
            switch work {
            case .looking(let job, var query) where matches(query.key, nil):
                query.promotes = false
                pending[ticket] = .looking(job, query)
            case .reading(let job, var query, let row, let body)
            where matches(query.key, row.metadata.tags):
                query.promotes = false
                pending[ticket] = .reading(job, query, row, body)
            case .lookingFurther(let job, var query) where matches(query.key, nil):
                query.promotes = false
                pending[ticket] = .lookingFurther(job, query)
            case .readingFurther(let job, var query, let entry, let body)
            where matches(query.key, entry.row.metadata.tags):
                query.promotes = false
                pending[ticket] = .readingFurther(job, query, entry, body)
            case .copying(.query(let job, var query, let finding), let body)
            where matches(query.key, finding.metadata.tags):
                query.promotes = false
                pending[ticket] = .copying(.query(job, query, finding), body)
            default: break
            }
        }
    }
}
