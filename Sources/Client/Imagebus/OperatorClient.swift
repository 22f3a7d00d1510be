public import Model

/// The calls for operators over the connection of a client: status, cancellation of requests of any
/// client, the failure cache, downloads, drains and cache entries.
///
/// `front.sock` answers `status` and refuses everything else with `protocolViolation`. `web.sock`
/// also accepts the removal of a selection, if the stack's operator permits it. Each call throws
/// `unavailable` if there is no answer within the connect timeout.
public protocol OperatorCalls: Sendable {
    /// The client whose connection is used. It can load images as well.
    var client: ImagebusClient { get }
}

/// Makes the calls for operators. Can be used from any thread.
///
///     let configuration = try ClientConfiguration(
///         runtimeDirectory: "/run/imagebus", isOperator: true)
///     let operators = try OperatorClient(configuration)
///     try await operators.remove(EntrySelection(tag: "news"))
public struct OperatorClient: OperatorCalls {
    /// See `OperatorCalls`.
    public let client: ImagebusClient

    /// Uses the connection of a client.
    public init(_ client: ImagebusClient) { self.client = client }

    /// Creates a client with a connection of its own. Throws `unavailable` for an invalid endpoint.
    public init(_ configuration: ClientConfiguration) throws(ImageError) {
        client = try ImagebusClient(configuration)
    }
}

@available(*, deprecated, message: "use OperatorClient")
extension ImagebusClient: OperatorCalls {
    /// The client itself: its former calls for operators are those of `OperatorClient`.
    public var client: ImagebusClient { self }
}

extension OperatorCalls {
    /// Cancels a request of any client.
    public func cancelAny(_ token: Token) { _ = client.commands.post(.send(.cancel(token))) }

    /// Cancels all requests of a group, of any client.
    public func cancelAny(group: GroupID) {
        _ = client.commands.post(.send(.cancelGroup(group)))
    }

    /// Returns the processes, queues and counters of the stack.
    public func status() async throws(ImageError) -> StatusReport {
        try await ask(.status) { if case .status(let report) = $0 { report } else { nil } }
    }

    /// Lists or changes the failure cache.
    public func failureCache(_ command: FailureCacheCommand) async throws(ImageError)
        -> FailureCacheReport
    {
        try await ask(.failureCache(command)) {
            if case .failureCache(let report) = $0 { report } else { nil }
        }
    }

    /// Suspends downloads, so that no transfer begins until they are resumed, or resumes them.
    /// Transfers in flight continue. Returns the status afterwards.
    public func downloads(_ command: DownloadCommand) async throws(ImageError) -> StatusReport {
        try await ask(.downloads(command)) {
            if case .status(let report) = $0 { report } else { nil }
        }
    }

    /// Drains the processes of a kind, or of one of its pools: they finish their current work and
    /// end, and their supervisors start replacements. Returns the number of processes notified,
    /// before they have ended; meanwhile `status` shows them as `draining`.
    ///
    /// Also throws `unavailable` if the connection ends before the answer.
    public func drain(
        _ kind: WorkerKind, pool: PoolName? = nil
    ) async throws(ImageError) -> UInt32 {
        try await ask(.drain(kind, pool)) {
            if case .draining(let count) = $0 { count } else { nil }
        }
    }

    /// Sends a question to the coordinator; `answer` extracts the answer from a message, or returns
    /// `nil` if the message doesn't answer the question.
    private func ask<Answer: Sendable>(
        _ question: ClientMessage, _ answer: @escaping @Sendable (ServerMessage) -> Answer?
    ) async throws(ImageError) -> Answer {
        let commands = client.commands
        let result: Result<Answer, ImageError> = await withCheckedContinuation { continuation in
            let inquiry = Inquiry(message: question) { end in
                switch end.map(answer) {
                case .success(nil): return false
                case .success(let value?): continuation.resume(returning: .success(value))
                case .failure(let error): continuation.resume(returning: .failure(error))
                }
                return true
            }
            if !commands.post(.ask(inquiry)) { _ = inquiry.end(.failure(commands.refusal)) }
        }
        return try result.get()
    }
}

// Cache entries. Caches are named as in the configuration. If no name is given, calls for a key
// apply to the default cache, and calls for a selection to all caches.
extension OperatorCalls {
    /// Stores the bytes of an image unchanged under a key, and returns the tiers that have them
    /// now. The key has the text form used in replies. A load that queries these tiers finds the
    /// entry.
    ///
    /// The new entry has exactly these tags and this extended data. Those of an entry it replaces
    /// are not carried over (SEMANTICS §5.20, §5.21).
    ///
    /// The limit is 64 MiB unless the coordinator is configured otherwise. Throws `badImageData` if
    /// the bytes are not an image, `limitExceeded` if there are too many, `arenaFull` if no tier
    /// accepted them, and `invalidRequest` for an invalid key, tag or extended data.
    public func put(
        _ bytes: some Sequence<UInt8>, under key: String, cache: String? = nil,
        in tiers: CacheTypes = .all,
        tags: [String] = [], extendedData: ExtendedData? = nil
    ) async throws(ImageError) -> CacheTypes {
        var request = ImageRequest(url: "")
        request.infoOnly = true
        request.storeCacheTypes = tiers
        request.context.cache = cache
        request.context.key = .text(key)
        (request.context.tags, request.context.extendedData) = (tags, extendedData)
        try request.context.check()
        defer { client.memory?.remove(key: key) }
        return try await client.load(request, uploading: bytes).response.storedTiers ?? .none
    }

    /// Returns the tiers that have an entry for a key. Does not count as a use of the entry.
    public func contains(
        _ key: String, cache: String? = nil, in tiers: CacheTypes = .all
    ) async throws(ImageError) -> CacheTypes {
        try await self.tiers(.contains, key, cache, tiers)
    }

    /// Removes the entry for a key from the tiers. Loads begun after the answer don't find it
    /// there, and work in flight for its bytes restarts, so that they are not stored afterwards.
    public func remove(
        _ key: String, cache: String? = nil, from tiers: CacheTypes = .all
    ) async throws(ImageError) {
        defer { client.memory?.remove(key: key) }
        _ = try await self.tiers(.remove, key, cache, tiers)
    }

    /// Removes the entries of a selection in the same way, and returns their number. A selection
    /// that matches all entries throws `invalidRequest`; use `clear` instead.
    ///
    /// External caches remove entries in steps, after each of which `progress` is called on the
    /// client's thread with the entries removed so far. If one of them fails, the error's
    /// `typedDetails` contain the numbers of entries `removed` and `left`; `left` only if known.
    public func remove(
        _ selection: EntrySelection, from tiers: CacheTypes = .all,
        progress: (@Sendable (EntryPage) -> Void)? = nil
    ) async throws(ImageError) -> EntryPage {
        defer { client.memory?.removeAll() }
        return try await page(.removeSelected, selection, tiers, progress: progress)
    }

    /// Removes all entries of all caches from the tiers in the same way. Returns the tiers that
    /// exist.
    public func clear(_ tiers: CacheTypes = .all) async throws(ImageError) -> CacheTypes {
        defer { client.memory?.removeAll() }
        return try await self.tiers(.clear, "", nil, tiers)
    }

    /// Returns one page of a selection's entries, those on disk first, with at most `limit` entries
    /// (1 to `EntryPage.entriesMax`). Pass `next` of the previous page as `after`. Entries stored
    /// in the meantime may be missing.
    public func entries(
        of selection: EntrySelection = EntrySelection(), in tiers: CacheTypes = .all,
        after: UInt64 = 0, limit: Int = EntryPage.entriesMax
    ) async throws(ImageError) -> EntryPage {
        let limit = UInt32(min(max(1, limit), EntryPage.entriesMax))
        return try await page(.list, selection, tiers, after: after, limit: limit)
    }

    /// Returns the number and total size of a selection's entries, by tier.
    public func count(
        _ selection: EntrySelection = EntrySelection(), in tiers: CacheTypes = .all
    ) async throws(ImageError) -> EntryPage {
        try await page(.count, selection, tiers)
    }

    /// Evicts entries from the tiers down to their low-water mark, and expired entries from the
    /// disk. Returns what was removed.
    public func trim(_ tiers: CacheTypes = .all) async throws(ImageError) -> EntryPage {
        try await page(.trim, EntrySelection(), tiers)
    }

    /// Returns the stored bytes of the entry for a key, with their format and extended data, or
    /// `nil` if the tiers don't have it. The key has the text form used in replies.
    public func entry(
        _ key: String, cache: String? = nil, in tiers: CacheTypes = .all
    ) async throws(ImageError) -> ImageResponse? {
        var request = ImageRequest(url: Self.entryURL)
        request.options = [.fromCacheOnly]
        request.queryCacheTypes = tiers
        request.originalQueryCacheTypes = .none
        request.storeCacheTypes = .none
        request.originalStoreCacheTypes = .none
        request.context.cache = cache
        request.context.key = .text(key)
        request.context.wantsExtendedData = true
        let response = try await client.load(request).response
        return response.bytes == nil ? nil : response
    }

    /// A placeholder for the required URL; nothing is fetched.
    private static var entryURL: String { "http://entry.invalid/" }

    private func tiers(
        _ action: EntryAction, _ key: String, _ cache: String?, _ tiers: CacheTypes
    ) async throws(ImageError) -> CacheTypes {
        let command = CacheCommand(
            number: client.tokens.next().value.low, action: action, cache: cache, key: key,
            tiers: tiers)
        guard case .tiers(let tiers) = try await outcome(of: command) else { throw Self.nonsense }
        return tiers
    }

    private func page(
        _ action: EntryAction, _ selection: EntrySelection, _ tiers: CacheTypes,
        after: UInt64 = 0, limit: UInt32 = 0, progress: (@Sendable (EntryPage) -> Void)? = nil
    ) async throws(ImageError) -> EntryPage {
        var command = CacheCommand(
            number: client.tokens.next().value.low, action: action, key: "", tiers: tiers,
            selection: selection, after: after, limit: limit)
        command.wantsProgress = progress != nil
        guard case .page(let page) = try await outcome(of: command, progress) else {
            throw Self.nonsense
        }
        return page
    }

    /// Returns the outcome of a command. A command on several entries may take as long as the
    /// caches need while the coordinator is connected.
    private func outcome(
        of command: CacheCommand, _ progress: (@Sendable (EntryPage) -> Void)? = nil
    ) async throws(ImageError) -> CacheReport.Outcome {
        let number = command.number
        let report: CacheReport = try await ask(.cache(command)) { message in
            guard case .cache(let report) = message, report.number == number else { return nil }
            guard case .progress(let page) = report.outcome else { return report }
            progress?(page)
            return nil
        }
        if case .failure(let error) = report.outcome { throw error }
        return report.outcome
    }

    private static var nonsense: ImageError {
        ImageError(.protocolViolation, "the coordinator sent an answer to a different question")
    }
}
