public import Messages

extension CacheStage {
    /// All entries of the memory tier, for a coordinator that knows none of them.
    public func notices(now: UnixTime) -> [StoredNotice] {
        memory.entries(now: now).compactMap { notice(of: $0, now) }
    }

    /// What the coordinator is told of an entry; `nil` where it has no key, or is outdated.
    func notice(of entry: MemoryEntry, _ now: UnixTime) -> StoredNotice? {
        guard let key = entry.key, !entry.metadata.isOutdated(under: key) else { return nil }
        let left = entry.expires.map { UInt64(max(0, $0.milliseconds - now.milliseconds)) }
        let validity = Validity(entry.metadata)
        var notice = StoredNotice(
            key: key, reference: entry.reference, info: entry.metadata.info,
            expiresInMilliseconds: left, validity: validity == Validity() ? nil : validity)
        notice.digest = entry.metadata.digest
        return notice
    }
}
