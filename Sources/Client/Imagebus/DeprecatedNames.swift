public import Model

// Calls for operators under their former names; `OperatorClient` documents them.
extension ImagebusClient {
    /// Cancels a request of any client.
    @available(*, deprecated, renamed: "OperatorClient.cancelAny(_:)")
    public func cancelAny(_ token: Token) { OperatorClient(self).cancelAny(token) }

    /// Cancels all requests of a group, of any client.
    @available(*, deprecated, renamed: "OperatorClient.cancelAny(group:)")
    public func cancelAny(group: GroupID) { OperatorClient(self).cancelAny(group: group) }

    /// Returns the status of the stack.
    @available(*, deprecated, renamed: "OperatorClient.status()")
    public func status() async throws(ImageError) -> StatusReport {
        try await OperatorClient(self).status()
    }

    /// Lists or changes the failure cache.
    @available(*, deprecated, renamed: "OperatorClient.failureCache(_:)")
    public func failureCache(
        _ command: FailureCacheCommand
    ) async throws(ImageError) -> FailureCacheReport {
        try await OperatorClient(self).failureCache(command)
    }

    /// Suspends or resumes downloads.
    @available(*, deprecated, renamed: "OperatorClient.downloads(_:)")
    public func downloads(_ command: DownloadCommand) async throws(ImageError) -> StatusReport {
        try await OperatorClient(self).downloads(command)
    }

    /// Drains the processes of a kind, or of one of its pools.
    @available(*, deprecated, renamed: "OperatorClient.drain(_:pool:)")
    public func drain(
        _ kind: WorkerKind, pool: PoolName? = nil
    ) async throws(ImageError) -> UInt32 {
        try await OperatorClient(self).drain(kind, pool: pool)
    }

    /// Stores the bytes of an image unchanged under a key.
    @available(*, deprecated, renamed: "OperatorClient.put(_:under:cache:in:tags:extendedData:)")
    public func put(
        _ bytes: [UInt8], under key: String, cache: String? = nil, in tiers: CacheTypes = .all,
        tags: [String] = [], extendedData: ExtendedData? = nil
    ) async throws(ImageError) -> CacheTypes {
        try await OperatorClient(self).put(
            bytes, under: key, cache: cache, in: tiers, tags: tags, extendedData: extendedData)
    }

    /// Returns the tiers that have an entry for a key.
    @available(*, deprecated, renamed: "OperatorClient.contains(_:cache:in:)")
    public func contains(
        _ key: String, cache: String? = nil, in tiers: CacheTypes = .all
    ) async throws(ImageError) -> CacheTypes {
        try await OperatorClient(self).contains(key, cache: cache, in: tiers)
    }

    /// Removes the entry for a key from the tiers.
    @available(*, deprecated, renamed: "OperatorClient.remove(_:cache:from:)")
    public func remove(
        _ key: String, cache: String? = nil, from tiers: CacheTypes = .all
    ) async throws(ImageError) {
        try await OperatorClient(self).remove(key, cache: cache, from: tiers)
    }

    /// Removes the entries of a selection.
    @available(*, deprecated, renamed: "OperatorClient.remove(_:from:progress:)")
    public func remove(
        _ selection: EntrySelection, from tiers: CacheTypes = .all,
        progress: (@Sendable (EntryPage) -> Void)? = nil
    ) async throws(ImageError) -> EntryPage {
        try await OperatorClient(self).remove(selection, from: tiers, progress: progress)
    }

    /// Removes all entries of all caches from the tiers.
    @available(*, deprecated, renamed: "OperatorClient.clear(_:)")
    public func clear(_ tiers: CacheTypes = .all) async throws(ImageError) -> CacheTypes {
        try await OperatorClient(self).clear(tiers)
    }

    /// Returns one page of a selection's entries.
    @available(*, deprecated, renamed: "OperatorClient.entries(of:in:after:limit:)")
    public func entries(
        of selection: EntrySelection = EntrySelection(), in tiers: CacheTypes = .all,
        after: UInt64 = 0, limit: Int = EntryPage.entriesMax
    ) async throws(ImageError) -> EntryPage {
        try await OperatorClient(self).entries(
            of: selection, in: tiers, after: after, limit: limit)
    }

    /// Returns the number and total size of a selection's entries, by tier.
    @available(*, deprecated, renamed: "OperatorClient.count(_:in:)")
    public func count(
        _ selection: EntrySelection = EntrySelection(), in tiers: CacheTypes = .all
    ) async throws(ImageError) -> EntryPage {
        try await OperatorClient(self).count(selection, in: tiers)
    }

    /// Evicts entries from the tiers.
    @available(*, deprecated, renamed: "OperatorClient.trim(_:)")
    public func trim(_ tiers: CacheTypes = .all) async throws(ImageError) -> EntryPage {
        try await OperatorClient(self).trim(tiers)
    }

    /// Returns the stored bytes of the entry for a key.
    @available(*, deprecated, renamed: "OperatorClient.entry(_:cache:in:)")
    public func entry(
        _ key: String, cache: String? = nil, in tiers: CacheTypes = .all
    ) async throws(ImageError) -> ImageResponse? {
        try await OperatorClient(self).entry(key, cache: cache, in: tiers)
    }
}
