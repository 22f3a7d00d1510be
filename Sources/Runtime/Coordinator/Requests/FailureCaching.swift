import Model

// The failure cache: loads of sources with a permanent failure are refused for a while
// (SEMANTICS §7.2).
extension Scheduler {
    // MARK: - At admission

    /// Checks the failure cache before anything else, including the caches, once the options are
    /// known. An overlay always needs its pixels, so `operation` overrides that of the request.
    func checkFailureCache(
        _ image: ImageRequest, _ terms: LoadTerms, for operation: SourceOperation? = nil
    ) throws(ImageError) {
        guard let entry = refusal(of: image, terms, for: operation) else { return }
        shared.counters.failureCacheRefusals += 1
        throw entry.value.reportedError(after: now.milliseconds(since: entry.since) / 1_000)
    }

    /// Returns the failure cache entry because of which a request is refused. The list is usually
    /// empty, in which case hits pay nothing.
    func refusal(
        of image: ImageRequest, _ terms: LoadTerms, for operation: SourceOperation? = nil
    ) -> Hits.FailureCacheEntry? {
        guard !hits.failureCache.isEmpty, !image.options.contains(.retryFailed) else { return nil }
        return hits.refusal(
            of: ScopedSource(SourceKey(image), terms), for: operation ?? image.operation,
            within: image.earlierFailureMilliseconds, at: now)
    }

    // MARK: - Adding and removing entries

    /// Whether this error of a source causes it to be refused in the future for loads like this
    /// one. The only implementation of the rule: the error code decides unless the configuration
    /// overrides it.
    static func blocks(_ error: ImageError, _ request: AdmittedRequest) -> Bool {
        request.terms.blocks(error) ?? error.cachesFailures
    }

    /// Records a failed operation on a source in the failure cache of each profile whose rule says
    /// so. `retryFailed` bypasses the failure cache but doesn't prevent new entries.
    func recordFailure(
        _ operation: SourceOperation, of source: SourceKey, for error: ImageError,
        _ admitted: [AdmittedRequest]
    ) {
        var denied: Set<ScopedSource> = []
        for request in admitted where Self.blocks(error, request) {
            let scoped = ScopedSource(source, request.terms)
            guard denied.insert(scoped).inserted else { continue }
            hits.withdraw(
                .denied(
                    Denial(
                        source: scoped,
                        refusal: Refusal(error, of: operation),
                        url: source.bareURL, at: now, lastNumber: dispatcher.lastDenial)))
            dispatcher.lastDenial = hits.lastDenial
        }
    }

    /// Removes entries after the operation has succeeded for requests that weren't refused.
    func admitAgain(
        _ operation: SourceOperation, of source: SourceKey, _ admitted: [AdmittedRequest]
    ) {
        guard !hits.failureCache.isEmpty else { return }
        for request in admitted {
            hits.forgive(ScopedSource(source, request.terms), for: operation)
        }
    }

    // MARK: - Operators

    func apply(_ command: FailureCacheCommand, of client: ClientID) {
        guard clients[client] != nil else { return }
        let report =
            switch command {
            case .list(let number): page(after: number)
            case .remove(let url): FailureCacheReport(removed: forgive(url))
            case .clear: FailureCacheReport(removed: forgive(nil))
            }
        shared.actions.append(.failureCache(client, report))
    }

    /// Removes a URL, or everything, from the failure cache and the quarantine. Returns the number
    /// of removed entries.
    private func forgive(_ url: String?) -> UInt32 {
        let refused = hits.forgive(at: now) { url.map($0.isNamed) ?? true }
        return UInt32(refused + dispatcher.forgive(url))
    }

    /// Returns as many entries of both lists, in order of their numbers, as fit into one message.
    private func page(after number: UInt64) -> FailureCacheReport {
        let all = (dispatcher.quarantined + refused)
            .filter { $0.number > number }.sorted { $0.number < $1.number }
        var bytes = 0
        let fitting = all.prefix { entry in
            bytes += entry.url.utf8.count
            return bytes <= MessageLimits.failureCacheBytesMax
        }
        let entries = Array(fitting.prefix(MessageLimits.failureCacheEntriesMax))
        return FailureCacheReport(entries: entries, hasMore: entries.count < all.count)
    }

    private var refused: [FailureCacheReport.Entry] {
        hits.failureCache.live(at: now).map { key, entry in
            FailureCacheReport.Entry(
                number: entry.number, url: entry.shownURL, operation: key.operation.name,
                reason: entry.value.error, expiresInMilliseconds: entry.millisecondsLeft(at: now))
        }
    }
}

/// Why loads of a source are refused.
struct Refusal: Hashable, Sendable {
    let error: ErrorCode
    /// The status code of the origin if that was the error.
    let httpStatus: UInt16?
    /// The refused operation; `.header` refuses all loads.
    let operation: SourceOperation

    init(_ error: ImageError, of operation: SourceOperation = .header) {
        (self.error, self.operation) = (error.code, operation)
        httpStatus = error.typedDetails.httpStatus.flatMap { UInt16(exactly: $0) }
    }

    /// Returns the error for a load that is refused this many seconds after the failure.
    func reportedError(after seconds: Int) -> ImageError {
        let reason = error.rule.name
        return ImageError(
            .blacklisted,
            "the URL is in the failure cache\(operation.restriction): "
                + "an earlier load failed with \(reason); retry with the option retry-failed"
        ) {
            $0.reason = reason
            $0.ageSeconds = seconds
            $0.httpStatus = httpStatus.map { Int($0) }
        }
    }
}

extension SourceOperation {
    /// The text after "failure cache" that restricts which loads are refused.
    fileprivate var restriction: String {
        switch self {
        case .header: ""
        case .still: " for loads that need its pixels"
        case .frame(let number): " for loads that need frame \(number)"
        case .allFrames: " for loads that need all frames"
        }
    }
}

/// A source in the failure cache of a profile. Each profile has one for loads that reject damaged
/// images and one for loads that accept them, because a failure of the former may be a success for
/// the latter.
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

/// The key of a failure cache entry: a source of a profile, and the refused operation.
struct RefusedOperation: Hashable, Sendable {
    let source: ScopedSource
    let operation: SourceOperation
}

/// A source to be refused.
struct Denial: Sendable {
    let source: ScopedSource
    /// The reason and the refused operation.
    let refusal: Refusal
    /// The URL shown to operators, without user info.
    let url: String
    let at: Instant
    /// The last entry number issued for any failure list.
    let lastNumber: UInt64
}
