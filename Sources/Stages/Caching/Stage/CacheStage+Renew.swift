internal import ImageModel
internal import Messages

// Entries that their origins have confirmed (SEMANTICS §6.7).
extension CacheStage {
    /// What the origin says of caching holds from now on for the entry of a key, wherever it is, if
    /// it is still of the same bytes. Nobody waits for the disk: what is lost there costs one
    /// question to the origin.
    func renew(_ job: CacheJob, _ work: EntryWork, _ now: UnixTime) {
        guard let renewal = work.renewal else { return answer(job, .entry(.none)) }
        memory.renew(work.key, renewal)
        writeBehind.renew(work.key, renewal)
        firstUses.renew(work.key, renewal)
        // Behind a write that is under way: the disk works in order.
        if disk != nil, usesDisk(work.key) { _ = ask(.renew(work.key, renewal), .noting, now) }
        answer(job, .entry(work.tiers))
    }
}

extension StoredMetadata {
    /// Takes what the origin says of caching where it is of the same bytes.
    mutating func renew(_ renewal: Validity) {
        guard etag == renewal.etag, lastModified == renewal.lastModified else { return }
        caching = renewal.caching
    }
}
