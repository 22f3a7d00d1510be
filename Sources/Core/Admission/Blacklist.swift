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

/// Why loads of a source are refused.
struct Refusal: Hashable, Sendable {
    let error: ErrorCode
    /// The origin's status, where that was the error.
    let httpStatus: String?
    /// Only loads that do this are refused; of the header: all loads.
    let operation: SourceOperation

    init(_ error: ImageError, of operation: SourceOperation = .header) {
        (self.error, self.operation) = (error.code, operation)
        httpStatus = error.details["httpStatus"].flatMap { UInt16($0) }.map { String($0) }
    }

    /// What a load is told that is refused for it so many seconds later.
    func told(after seconds: Int) -> ImageError {
        let reason = error.rule.name
        var told = ImageError(
            .blacklisted,
            "Image url is blacklisted\(operation.restriction): "
                + "it failed before with \(reason); the option retry-failed asks again",
            details: ["reason": reason, "age": String(seconds)])
        told.details["httpStatus"] = httpStatus
        return told
    }
}

extension SourceOperation {
    /// Which loads are refused, behind "is blacklisted".
    fileprivate var restriction: String {
        switch self {
        case .header: ""
        case .still: " where its pixels are needed"
        case .frame(let number): " where its frame \(number) is needed"
        case .allFrames: " where all its frames are needed"
        }
    }
}

/// A source on the blacklist of a profile; each profile has one for loads that refuse damaged
/// images, and one for those that show them: what fails for the former may do for the latter.
struct ScopedSource: Hashable, Sendable {
    /// `LoadTerms.scope`.
    let scope: String
    let showsDamaged: Bool
    let source: SourceKey

    init(_ source: SourceKey, _ terms: LoadTerms) {
        (scope, showsDamaged) = (terms.scope, terms.showsDamaged)
        self.source = source
    }
}

/// An entry of the blacklist: a source of a profile, and what is not tried with it.
struct RefusedOperation: Hashable, Sendable {
    let source: ScopedSource
    let operation: SourceOperation
}

/// A source that is to be refused.
struct Denial: Sendable {
    let source: ScopedSource
    /// Why, and how far.
    let refusal: Refusal
    /// As operators see it, without user info.
    let url: String
    let at: Instant
    /// The last number that an entry of any deny list has.
    let lastNumber: UInt64
}
