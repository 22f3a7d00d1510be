import Model

/// Prefetch batches and the clients that sent them. Determines which batch starts its next URL and
/// which reports are due.
struct Prefetching {
    private(set) var batches: [Token: PrefetchBatch] = [:]
    private(set) var clients: [ClientID: Prefetcher] = [:]
    /// Clients that may start URLs, in round-robin order.
    private(set) var awake = Deque<ClientID>()
    /// Batches whose report is due at the end of the event.
    private(set) var owing: [PrefetchBatch] = []

    /// Whether there are no batches and no due reports.
    var isEmpty: Bool { batches.isEmpty && awake.count == 0 && owing.isEmpty }

    /// The number of waiting URLs.
    var waiting: Int { clients.values.reduce(0) { $0 + $1.waiting } }

    // MARK: - Parts

    /// Whether a part belongs to a batch that has ended and is ignored.
    mutating func passesOver(_ request: PrefetchRequest, of client: ClientID) -> Bool {
        guard clients[client]?.passesOver(request) == true else { return false }
        forget(client)
        return true
    }

    /// The live batch that the part belongs to; `nil` for a first part.
    func batch(of request: PrefetchRequest, _ client: ClientID) throws(ImageError)
        -> PrefetchBatch?
    {
        guard let batch = batches[request.batch] else { return nil }
        guard batch.client == client else {
            throw ImageError(.tokenInUse, "another client is using this token for a batch")
        }
        try ImageError.require(
            !batch.isComplete,
            "the batch is already complete")
        return batch
    }

    /// Throws if the part exceeds a limit of its batch, its client or all clients.
    func checkRoom(
        for request: PrefetchRequest, in batch: PrefetchBatch?, of client: ClientID,
        _ limits: SchedulerLimits
    ) throws(ImageError) {
        let max = RequestLimits.prefetchMax
        guard Int(batch?.progress.total ?? 0) + request.urls.count <= max else {
            throw ImageError(.limitExceeded, "a prefetch accepts at most \(max) URLs") {
                $0.limit = "\(max)"
            }
        }
        let prefetcher = clients[client] ?? Prefetcher()
        guard batch != nil || prefetcher.batches.count < limits.batchesPerClientMax else {
            throw .busy("this client has too many unfinished prefetches")
        }
        let bytes = request.urls.reduce(0) { $0 + PrefetchBatch.bytes(of: $1) }
        guard prefetcher.waiting + request.urls.count <= limits.prefetchesPerClientMax,
            prefetcher.waitingBytes + bytes <= limits.prefetchBytesPerClientMax
        else { throw .busy("too many URLs of this client are waiting to be prefetched") }
        let others = clients.values.reduce(0) { $0 + $1.waitingBytes }
        guard others + bytes <= limits.prefetchBytesMax else {
            throw .busy("too many URLs are waiting to be prefetched")
        }
    }

    /// Adds a part to a live batch or, if `nil`, to a new one. The part must have passed
    /// `checkRoom`.
    mutating func add(
        _ request: PrefetchRequest, to known: PrefetchBatch?, of client: ClientID
    ) {
        let batch = known ?? PrefetchBatch(request, of: client)
        if known == nil {
            batches[request.batch] = batch
            clients[client, default: Prefetcher()].batches.append(batch)
        }
        batch.add(request.urls, isLast: request.isLast)
        wake(client)
        if batch.hasEnded { owe(batch) }
    }

    /// Ends a batch whose remaining parts are to be ignored.
    mutating func cut(_ token: Token, of client: ClientID) {
        clients[client, default: Prefetcher()].cut(token)
    }

    // MARK: - Turns

    /// Returns the next URL of the clients that may start one, and its batch, or `nil` if none may.
    /// Its client moves to the end of the queue.
    mutating func next() -> (batch: PrefetchBatch, url: String)? {
        while let client = awake.popFirst() {
            if let begun = clients[client]?.next() {
                awake.append(client)
                return begun
            }
            clients[client]?.isAwake = false
        }
        return nil
    }

    private mutating func wake(_ client: ClientID) {
        guard clients[client]?.isAwake == false else { return }
        clients[client]?.isAwake = true
        awake.append(client)
    }

    // MARK: - Members

    /// Removes a live member.
    mutating func leave(_ batch: PrefetchBatch, seat: StableArray<LiveRequest.ID>.Seat) {
        batch.members.leave(seat)
        wake(batch.client)
    }

    /// Records the end of a URL, successful or not. Only counted, since nothing is delivered.
    mutating func ended(_ batch: PrefetchBatch, _ url: String, _ outcome: Reply.Outcome) {
        batch.ended(url, outcome)
        owe(batch)
    }

    // MARK: - Reports

    private mutating func owe(_ batch: PrefetchBatch) {
        guard !batch.owesReport else { return }
        batch.owesReport = true
        owing.append(batch)
    }

    /// Returns the due reports, and closes the batches that have ended.
    mutating func drainReports() -> [(ClientID, PrefetchReport)] {
        guard !owing.isEmpty else { return [] }
        var reports: [(ClientID, PrefetchReport)] = []
        for batch in owing where batches[batch.token] === batch {
            batch.owesReport = false
            let isFinal = batch.hasEnded
            reports.append((batch.client, batch.report(isFinal: isFinal)))
            if isFinal { close(batch) }
        }
        owing.removeAll(keepingCapacity: true)
        return reports
    }

    // MARK: - Ends

    /// Removes a batch whose members have left.
    mutating func close(_ batch: PrefetchBatch) {
        batches[batch.token] = nil
        clients[batch.client]?.batches.removeAll { $0 === batch }
        forget(batch.client)
    }

    /// Removes a departed client, whose batches must be closed.
    mutating func clientLeft(_ client: ClientID) {
        clients[client] = nil
        awake.keep { $0 != client }
    }

    private mutating func forget(_ client: ClientID) {
        if clients[client]?.isEmpty == true { clientLeft(client) }
    }
}

/// The batches of one client. As in SDWebImage, the concurrency limit applies to the prefetcher and
/// not to each list: all batches together run as many URLs as the batch with the highest limit may.
struct Prefetcher {
    /// Batches in round-robin order: the first one that may starts its next URL and moves to the
    /// end.
    fileprivate(set) var batches: [PrefetchBatch] = []
    /// Whether it is in the queue of clients that may start URLs.
    var isAwake = false
    /// Batches that ended before their last part arrived, oldest first. Their remaining parts are
    /// ignored.
    private var cutShort: [Token] = []

    /// The largest number of such batches; for older ones no parts are in flight any more.
    private static let cutShortMax = 256

    /// Whether there is nothing to remember.
    var isEmpty: Bool { batches.isEmpty && cutShort.isEmpty }

    /// Waiting URLs in all batches, and their cost in bytes.
    var waiting: Int { batches.reduce(0) { $0 + $1.waiting.count } }
    var waitingBytes: Int { batches.reduce(0) { $0 + $1.waitingBytes } }

    /// Whether another URL may be started.
    var mayBegin: Bool {
        let running = batches.reduce(0) { $0 + $1.members.count }
        return running < batches.map(\.concurrency).max() ?? 0
    }

    /// Removes and returns the next URL, unless none may be started.
    mutating func next() -> (batch: PrefetchBatch, url: String)? {
        guard mayBegin, let place = batches.firstIndex(where: \.mayBegin),
            let url = batches[place].next()
        else { return nil }
        let batch = batches.remove(at: place)
        batches.append(batch)
        return (batch, url)
    }

    /// Records a batch that has ended although parts of it may be in flight.
    mutating func cut(_ token: Token) {
        if cutShort.count >= Self.cutShortMax { cutShort.removeFirst() }
        cutShort.append(token)
    }

    /// Whether a part belongs to a batch that has ended; the last part ends the tracking of its
    /// batch.
    mutating func passesOver(_ request: PrefetchRequest) -> Bool {
        guard let index = cutShort.firstIndex(of: request.batch) else { return false }
        if request.isLast { cutShort.remove(at: index) }
        return true
    }
}

/// A list of URLs that a client expects to need (SEMANTICS §12.1). Most of them wait here as text.
/// A few at a time are live requests, the members of the batch. Their outcomes are counted; nothing
/// is delivered.
///
///     gathering ──last part──► complete ──all URLs finished──► final report
///         └───────────────────────┴──canceled, refused, client gone──► gone
final class PrefetchBatch {
    let client: ClientID
    let token: Token
    /// The request options of each URL.
    private let template: ImageRequest
    /// The class of its URLs: low, unless high was requested (SEMANTICS §12.1) or the client has
    /// changed it.
    var priority: Priority
    /// The largest number of concurrent live URLs.
    let concurrency: Int
    private(set) var waiting = Deque<String>()
    /// The accounted memory of the waiting URLs in bytes.
    private(set) var waitingBytes = 0
    var members = StableArray<LiveRequest.ID>()
    /// Whether all parts have arrived.
    private(set) var isComplete = false
    /// The counts, and the first URLs that failed, so far.
    private(set) var progress: PrefetchReport
    /// Whether a report is due at the end of this event.
    var owesReport = false

    /// Creates a batch from its first part; its URLs are added separately.
    init(_ request: PrefetchRequest, of client: ClientID) {
        self.client = client
        token = request.batch
        progress = PrefetchReport(batch: request.batch)
        template = request.image
        priority = request.image.options.contains(.highPriority) ? .high : .low
        concurrency =
            request.concurrency == 0
            ? RequestLimits.prefetchConcurrency : Int(request.concurrency)
    }

    /// Whether all URLs have finished.
    var hasEnded: Bool { isComplete && waiting.count == 0 && members.isEmpty }

    /// Whether it has a waiting URL and may start it.
    var mayBegin: Bool { waiting.count > 0 && members.count < concurrency }

    /// Returns the unresolved request for one of its URLs.
    func image(of url: String) -> ImageRequest {
        var image = template
        image.url = url
        return image
    }

    /// The accounted memory of a waiting URL: its text plus overhead.
    static func bytes(of url: String) -> Int {
        url.utf8.count + SchedulerLimits.prefetchOverheadBytes
    }

    /// Adds the URLs of a part.
    func add(_ urls: [String], isLast: Bool) {
        for url in urls {
            waiting.append(url)
            waitingBytes += Self.bytes(of: url)
        }
        progress.total += UInt64(urls.count)
        isComplete = isLast
    }

    /// Removes and returns the next URL.
    func next() -> String? {
        let url = waiting.popFirst()
        waitingBytes -= url.map(Self.bytes) ?? 0
        return url
    }

    /// Counts a URL that has ended. A miss isn't an error.
    fileprivate func ended(_ url: String, _ outcome: Reply.Outcome) {
        progress.finished += 1
        switch outcome {
        case .image(let image): if image.cacheType != .none { progress.ends.cached += 1 }
        // The cached image is current.
        case .notModified: progress.ends.cached += 1
        case .miss: progress.ends.missed += 1
        case .failure(let error):
            progress.skipped += 1
            progress.ends.failed(error.code)
            guard progress.failures.count < PrefetchFailure.countMax else { return }
            progress.failures.append(PrefetchFailure(url: url, error: error))
        }
    }

    /// Returns a progress report. In the final report, unfinished URLs count as `cancelled`.
    func report(isFinal: Bool) -> PrefetchReport {
        var report = progress
        report.isFinal = isFinal
        if isFinal {
            report.cancelled = report.total - report.finished
        } else {
            (report.failures, report.ends) = ([], PrefetchEnds())
        }
        return report
    }
}

// Prefetching: batches from their first part to the final report (SEMANTICS §12.1).
extension Scheduler {
    /// Handles a part of a batch. If it is refused, the whole batch ends.
    func prefetch(
        _ request: PrefetchRequest, of client: ClientID, _ terms: LoadTerms
    ) {
        guard clients.keys.contains(client), !prefetching.passesOver(request, of: client) else {
            return
        }
        do throws(ImageError) {
            let batch = try prefetching.batch(of: request, client)
            if batch == nil { try checkBeginning(request, terms) }
            try prefetching.checkRoom(for: request, in: batch, of: client, limits)
            prefetching.add(request, to: batch, of: client)
        } catch {
            refusePart(request, of: client, error)
        }
    }

    /// Refuses errors in the template at once, because they affect every URL.
    private func checkBeginning(
        _ request: PrefetchRequest, _ terms: LoadTerms
    ) throws(ImageError) {
        guard !drain.isBegun else { throw Self.shuttingDown }
        guard liveRequest(with: request.batch) == nil else {
            throw ImageError(.tokenInUse, "another request is using this token")
        }
        try ImageError.require(
            request.concurrency <= RequestLimits.prefetchConcurrencyMax,
            "the concurrency must be at most \(RequestLimits.prefetchConcurrencyMax)")
        if let refusal = terms.refusal { throw refusal }
        try request.image.checkLoadOptions()
        var image = request.image
        image.url = "http://host/"
        _ = try RequestNames(
            checking: image, terms, isUpload: false, limits: limits.workGraph.image)
    }

    private func refusePart(
        _ request: PrefetchRequest, of client: ClientID, _ error: ImageError
    ) {
        if error.code == .busy { shared.counters.refusedBusy += 1 }
        endBatch(named: request.batch, of: client)
        if !request.isLast { prefetching.cut(request.batch, of: client) }
        shared.actions.append(.refused(client, error, request.batch))
    }

    // MARK: - Members

    /// Starts URLs of clients in round-robin order, limited per event. URLs answered from memory
    /// finish at once, and a long list of them must not delay other work.
    func beginPrefetches() {
        var left = limits.prefetchesBegunMax
        while left > 0, hasRoomToPrefetch, let (batch, url) = prefetching.next() {
            left -= 1
            beginMember(url, of: batch)
            moveOn()
        }
    }

    /// Whether more URLs can be started than the last event did.
    var wantsToPrefetch: Bool { prefetching.awake.count > 0 && hasRoomToPrefetch }

    /// Prefetches wait whenever a load would be refused.
    private var hasRoomToPrefetch: Bool {
        requests.count < limits.liveRequestsMax && dispatcher.hasRoom(.cache)
            && dispatcher.hasRoom(.download)
            && JobStage.allCases.allSatisfy {
                !dispatcher.isFull($0)
            }
    }

    private func beginMember(_ url: String, of batch: PrefetchBatch) {
        var resolution = lateResolution(batch.image(of: url), .prefetched)
        resolution.request.priority = batch.priority
        let load = LoadRequest(token: batch.token, image: resolution.request)
        admit(load, of: batch.client, resolution.terms, in: batch)
    }

    /// Sends the due progress reports, once per event.
    func notifyPrefetches() {
        for (client, report) in prefetching.drainReports() {
            shared.actions.append(.prefetched(client, report))
        }
    }

    // MARK: - Ends

    /// Cancels a batch and sends its final report.
    func cancelBatch(_ batch: PrefetchBatch) {
        shared.actions.append(.prefetched(batch.client, batch.report(isFinal: true)))
        endBatch(batch)
        if !batch.isComplete { prefetching.cut(batch.token, of: batch.client) }
    }

    /// Handles a part that was refused before it reached the scheduler.
    func refusedPrefetch(_ token: Token, of client: ClientID) {
        guard clients.keys.contains(client) else { return }
        endBatch(named: token, of: client)
        prefetching.cut(token, of: client)
    }

    /// The batch with this token if it is one of that client.
    func batch(_ token: Token, of client: ClientID) -> PrefetchBatch? {
        prefetching.batches[token].flatMap { $0.client == client ? $0 : nil }
    }

    /// Ends a batch of that client, if it exists, without a report.
    private func endBatch(named token: Token, of client: ClientID) {
        if let batch = batch(token, of: client) { endBatch(batch) }
    }

    /// Refuses all batches on shutdown; clients resubmit the rest to the next coordinator.
    func refuseBatches() {
        for client in prefetching.clients.keys.sorted() {
            for batch in prefetching.clients[client]?.batches ?? [] {
                endBatch(batch)
                if !batch.isComplete { prefetching.cut(batch.token, of: batch.client) }
                shared.actions.append(.refused(batch.client, Self.shuttingDown, batch.token))
            }
        }
    }

    /// Ends the batches of a departed client.
    func endPrefetches(of client: ClientID) {
        for batch in prefetching.clients[client]?.batches ?? [] { endBatch(batch) }
        prefetching.clientLeft(client)
    }

    /// Ends the live members, including work that no other request needs.
    private func endBatch(_ batch: PrefetchBatch) {
        for member in batch.members.members { cancelSilently(member) }
        prefetching.close(batch)
    }
}
