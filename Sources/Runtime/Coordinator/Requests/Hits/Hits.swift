import Model

/// Answers from memory, and everything that their validity depends on (SEMANTICS §5.11).
///
///     publish ──► an entry: the cache holds a key in memory
///                   grant ──► a ticket: one load and its answer ── valid? ──► answered again
///     withdraw ──► entries and tickets become invalid
///
/// This type alone decides whether a remembered answer is still valid: callers report events, and
/// it invalidates answers accordingly. Answers become invalid only through `withdraw` or the expiry
/// of their entry. A component that passes answers on must therefore follow `publish`, `withdraw`
/// and the expiry.
final class Hits {
    private var index: HitIndex
    private var composites: CompositeHits
    /// Large blocks of `results/` and their readers.
    var blocks: ResultBlocks
    /// The used blocks that haven't been reported to the cache.
    var touches = TouchBatch()
    /// The failure cache: sources with permanent failures, and the reasons.
    private(set) var failureCache: FailureCache<RefusedOperation, Refusal>
    /// The header fields on which responses depend.
    private(set) var variances: VarianceTable
    /// Caching information received from origins after entries were stored.
    private(set) var confirmations: Confirmations
    /// The answers that clients may repeat by themselves.
    var vouchers: Vouchers
    /// The current configuration term. Tickets of earlier terms are invalid; `nil` means that all
    /// are, permanently.
    private var term: UInt64? = 0

    init(_ limits: SchedulerLimits) {
        index = HitIndex(entriesMax: limits.hitsMax)
        composites = CompositeHits(entriesMax: limits.hitsMax)
        blocks = ResultBlocks(
            unreleasedBytesMax: limits.unreleasedBytesMax,
            unreleasedBytesPerClientMax: limits.unreleasedBytesPerClientMax)
        failureCache = FailureCache(
            entriesMax: limits.failureCacheMax, milliseconds: limits.failureCacheMilliseconds)
        variances = VarianceTable(keysMax: limits.variancesMax)
        confirmations = Confirmations(entriesMax: limits.hitsMax)
        vouchers = Vouchers(words: limits.vouchersMax)
    }

    // MARK: - Entries

    /// The number of entries that memory can answer.
    var count: Int { index.count }

    /// The entry of a key unless it has expired. Returns `nil` if the cache is now an external one.
    func entry(for key: String, at now: Instant) -> HitIndex.Entry? { find(key, at: now)?.entry }

    /// Returns the entry of a key, and whether it remains the answer for as long as it exists.
    private func find(_ key: String, at now: Instant) -> (entry: HitIndex.Entry, lasts: Bool)? {
        guard !composites.isExternal(key) else { return nil }
        if let entry = index.entry(for: key, at: now) { return (entry, true) }
        return composites.isEmpty ? nil : composites.entry(for: key, in: index, at: now)
    }

    func adopt(_ layout: CacheLayout) { composites.adopt(layout) }

    /// Records that the cache process found a key, possibly of a composite cache, in a memory
    /// block.
    func found(_ key: String, in block: BlockID) {
        guard !composites.isEmpty, let entry = index.entry(in: block) else { return }
        composites.learn(key, entry.place)
    }

    func stored(_ key: String) { if !composites.isEmpty { composites.stored(key) } }

    /// Records that the cache can now answer a key from memory. The reference must have been
    /// checked.
    func publish(
        _ notice: StoredNotice, _ reference: BlockReference, of cache: WorkerID, at now: Instant
    ) {
        blocks.notice(reference, of: cache)
        withdraw(.reused(reference.block))
        // The key is now in another block after being recomputed, refreshed, or put by an operator.
        if let block = index.block(of: notice.key) { remove(block) }
        stored(notice.key)
        index.insert(notice, reference, at: now)
        while let oldest = index.surplus() { remove(oldest) }
    }

    // MARK: - Tickets

    /// Returns a ticket for a load that an entry answers. Large results get none because their
    /// answer depends on the blocks that the client retains. `calendarNow`, in milliseconds since
    /// 1970, is set if the entry may be returned only while it is fresh.
    func grant(
        _ image: ImageRequest, _ terms: LoadTerms, _ names: RequestNames, at now: Instant,
        ifFreshAt calendarNow: Int64? = nil
    ) -> HitTicket? {
        guard let term, let (entry, lasts) = find(names.result, at: now), lasts,
            !ResultBlocks.isLarge(entry.reference)
        else { return nil }
        var freshness: HitTicket.Freshness?
        if let calendarNow {
            freshness = self.freshness(of: entry, terms, names, at: now, calendarNow)
            guard freshness != nil else { return nil }
        }
        var delivered = entry.delivered(for: image, names)
        if let freshness, image.wantsValidity {
            delivered.validity = Validity(reporting: freshness.counted, freshness.mark, terms)
        }
        return HitTicket(
            place: entry.place, term: term, plainOriginal: names.plainOriginal,
            fields: variances[names.plainOriginal],
            source: image.options.contains(.retryFailed)
                ? nil : ScopedSource(names.source, terms),
            operation: image.operation,
            earlierFailureMilliseconds: image.earlierFailureMilliseconds, freshness: freshness,
            image: delivered)
    }

    /// Returns the freshness of an entry; `nil` if it isn't fresh.
    private func freshness(
        of entry: HitIndex.Entry, _ terms: LoadTerms, _ names: RequestNames, at now: Instant,
        _ calendarNow: Int64
    ) -> HitTicket.Freshness? {
        guard let validity = entry.origin?.validity else { return nil }
        let mark = BodyMark(validity)
        let caching = confirmations.caching(
            validity.caching, of: names.plainOriginal, mark, at: calendarNow)
        guard let caching, let expiry = terms.expiry(caching),
            FreshnessDecision(expiry, at: calendarNow) == .fresh
        else { return nil }
        let left = Int(clamping: expiry.freshUntil - calendarNow)
        return HitTicket.Freshness(
            kept: validity.caching, mark: mark, counted: caching, countedAt: calendarNow,
            until: now.adding(milliseconds: left))
    }

    /// Adds a voucher to the answer of a valid ticket, if vouchers are enabled.
    func vouch(for ticket: inout HitTicket) {
        ticket.image.voucher = vouchers.issue(
            ticket.place.block, ticket.source, text: ticket.plainOriginal
        ).map { Voucher(number: $0, until: ticket.until) }
    }

    /// Whether the answer of a ticket is still valid. Usually no response varies and no source is
    /// refused, so that neither costs a lookup.
    func stands(_ ticket: HitTicket, at now: Instant) -> Bool {
        ticket.term == term && isFresh(ticket, at: now)
            && (ticket.image.voucher.map { vouchers.stands($0.number) } ?? true)
            && (variances.isEmpty
                ? ticket.fields == nil : variances[ticket.plainOriginal] == ticket.fields)
            && index.isLive(ticket.place, at: now)
            && (failureCache.isEmpty
                || ticket.source.flatMap {
                    refusal(
                        of: $0, for: ticket.operation,
                        within: ticket.earlierFailureMilliseconds, at: now)
                } == nil)
    }

    private func isFresh(_ ticket: HitTicket, at now: Instant) -> Bool {
        guard let fresh = ticket.freshness else { return true }
        return now < fresh.until
            && confirmations.caching(
                fresh.kept, of: ticket.plainOriginal, fresh.mark, at: fresh.countedAt)
                == fresh.counted
    }

    typealias FailureCacheEntry = FailureCache<RefusedOperation, Refusal>.Entry

    /// Returns the failure cache entry that refuses a load, or `nil` if there is none or the
    /// failure is older than the given milliseconds.
    func refusal(
        of source: ScopedSource, for operation: SourceOperation,
        within milliseconds: Int? = nil, at now: Instant
    ) -> FailureCacheEntry? {
        Self.keys(source, operation).lazy
            .compactMap { self.failureCache.entry($0, at: now) }
            .first { entry in
                milliseconds.map { entry.since.adding(milliseconds: $0) > now } ?? true
            }
    }

    /// The keys of entries that refuse an operation: any operation on the pixels also needs the
    /// header.
    private static func keys(
        _ source: ScopedSource, _ operation: SourceOperation
    ) -> [RefusedOperation] {
        let operations = operation == .header ? [.header] : [.header, operation]
        return operations.map { RefusedOperation(source: source, operation: $0) }
    }

    // MARK: - Invalidation

    /// Invalidates answers. Returns a large block if the cache must be notified that it has no more
    /// readers.
    @discardableResult
    func withdraw(_ reason: Withdrawal) -> BlockHandle? {
        switch reason {
        case .evicted(let handle):
            remove(handle.block)
            return blocks.evict(handle) ? handle : nil
        case .reused(let block): remove(block)
        case .cacheGone(let cache):
            vouchers.withdrawAll()
            index.removeAll()
            composites.forgetAll()
            touches.removeAll()
            blocks.leave(cache)
        case .denied(let denial): enter(denial)
        case .varies(let text, let fields):
            vouchers.withdraw(ofText: text)
            variances.learn(text, fields)
        case .confirmed(let text, let mark, let confirmation):
            vouchers.withdraw(ofText: text)
            confirmations.learn(text, mark, confirmation)
        case .reconfigured:
            vouchers.withdrawAll()
            term = term.map { $0 + 1 }
            composites.forgetAll()
        case .drained:
            vouchers.close()
            term = nil
        }
        return nil
    }

    private func remove(_ block: BlockID) {
        vouchers.withdraw(of: block)
        index.remove(block)
    }

    /// The last entry number issued or reported for any failure list.
    private(set) var lastDenial: UInt64 = 0

    private func enter(_ denial: Denial) {
        vouchers.withdraw(of: denial.source)
        lastDenial = denial.lastNumber
        failureCache.put(
            RefusedOperation(source: denial.source, operation: denial.refusal.operation),
            denial.refusal, url: denial.url, at: denial.at, numbers: &lastDenial)
    }

    /// Removes a source from the failure cache for an operation; its answers become valid again.
    func forgive(_ source: ScopedSource, for operation: SourceOperation) {
        for key in Self.keys(source, operation) { failureCache.remove(key) }
    }

    /// Removes all matching entries from the failure cache. Returns how many there were.
    func forgive(
        at now: Instant, where isMeant: (FailureCacheEntry) -> Bool
    ) -> Int {
        failureCache.remove(at: now, where: isMeant).count
    }
}

/// Why remembered answers become invalid. Expiry needs no event because each answer carries its
/// expiry time.
enum Withdrawal: Sendable {
    /// The cache no longer holds the key in this block, which was evicted or removed.
    case evicted(BlockHandle)
    /// The block now holds another key.
    case reused(BlockID)
    /// The cache and its segments are gone.
    case cacheGone(WorkerID)
    /// A source is refused from now on. Its answers become invalid, but other answers from the same
    /// entries don't.
    case denied(Denial)
    /// The header fields on which the response under a plain text depends have changed.
    case varies(plainOriginal: String, [String]?)
    /// An origin revalidated the entries under a plain text and extended their lifetime.
    case confirmed(plainOriginal: String, BodyMark, Confirmation)
    /// The configuration or a secret changed, so that a load may have another meaning.
    case reconfigured
    /// No further requests are admitted.
    case drained
}
