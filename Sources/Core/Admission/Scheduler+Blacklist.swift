import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// What failed for good is refused for a while (SEMANTICS §7.2).
extension Scheduler {
    // MARK: - At admission

    /// Looks at the deny list before anything else, caches included, once the options are known.
    /// The pixels of an overlay are needed whatever the request for it says.
    mutating func checkBlacklist(
        _ image: ImageRequest, _ terms: LoadTerms, for operation: SourceOperation? = nil
    ) throws(ImageError) {
        guard let entry = refusal(of: image, terms, for: operation) else { return }
        figures.counters.blacklistRefusals += 1
        throw entry.value.told(after: now.milliseconds(since: entry.since) / 1_000)
    }

    /// Why a request is refused. Usually the list is empty: then a hit pays nothing.
    func refusal(
        of image: ImageRequest, _ terms: LoadTerms, for operation: SourceOperation? = nil
    ) -> Hits.DenyEntry? {
        guard !hits.denyList.isEmpty, !image.options.contains(.retryFailed) else { return nil }
        return hits.refusal(
            of: ScopedSource(SourceKey(image), terms), for: operation ?? image.operation,
            within: image.earlierFailureMilliseconds, at: now)
    }

    // MARK: - What comes and goes

    /// Whether a source that failed so for this order is refused from then on. This is the one
    /// place for the rule: the row of the code says so, unless the configuration says otherwise.
    static func blocks(_ error: ImageError, _ order: Order) -> Bool {
        order.terms.blocks(error) ?? error.blacklists
    }

    /// What was to be done with a source for those orders failed. It is entered in the list of each
    /// profile that says so. `retryFailed` does not keep a source off the list: it only leads
    /// past the list.
    mutating func deny(
        _ operation: SourceOperation, of source: SourceKey, for error: ImageError,
        _ orders: [Order]
    ) {
        var denied: Set<ScopedSource> = []
        for order in orders where Self.blocks(error, order) {
            let scoped = ScopedSource(source, order.terms)
            guard denied.insert(scoped).inserted else { continue }
            hits.withdraw(
                .denied(
                    Denial(
                        source: scoped,
                        refusal: Refusal(error, of: operation),
                        url: source.bareURL, at: now, lastNumber: deriver.lastDenial)))
            deriver.lastDenial = hits.lastDenial
        }
    }

    /// That was done after all for orders that were not refused.
    mutating func admitAgain(
        _ operation: SourceOperation, of source: SourceKey, _ orders: [Order]
    ) {
        guard !hits.denyList.isEmpty else { return }
        for order in orders {
            hits.forgive(ScopedSource(source, order.terms), for: operation)
        }
    }

    // MARK: - Operators

    mutating func obey(_ command: BlacklistCommand, of client: ClientID) {
        guard clients[client] != nil else { return }
        let report =
            switch command {
            case .list(let number): page(after: number)
            case .remove(let url): BlacklistReport(removed: forgive(url))
            case .clear: BlacklistReport(removed: forgive(nil))
            }
        actions.append(.blacklist(client, report))
    }

    /// Takes a URL off both lists, or everything. Returns how many entries there were.
    private mutating func forgive(_ url: String?) -> UInt32 {
        let refused = hits.forgive(at: now) { url.map($0.isNamed) ?? true }
        return UInt32(refused + deriver.forgive(url))
    }

    /// As many entries of both lists as one message holds, by number.
    private func page(after number: UInt64) -> BlacklistReport {
        let all = (deriver.dispatcher.quarantined + refused)
            .filter { $0.number > number }.sorted { $0.number < $1.number }
        var bytes = 0
        let fitting = all.prefix { entry in
            bytes += entry.url.utf8.count
            return bytes <= MessageLimits.blacklistBytesMax
        }
        let entries = Array(fitting.prefix(MessageLimits.blacklistEntriesMax))
        return BlacklistReport(entries: entries, hasMore: entries.count < all.count)
    }

    private var refused: [BlacklistReport.Entry] {
        hits.denyList.live(at: now).map { key, entry in
            BlacklistReport.Entry(
                number: entry.number, url: entry.shownURL, operation: key.operation.name,
                reason: entry.value.error, expiresInMilliseconds: entry.millisecondsLeft(at: now))
        }
    }
}
