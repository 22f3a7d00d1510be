import Model

/// Prefetch batches and the clients that sent them. Determines which batch starts its next URL and
/// which reports are due.
struct Prefetching {
    private(set) var batches = SlotMap<PrefetchBatch>()
    private(set) var tokens: [Token: PrefetchBatch.ID] = [:]
    private(set) var clients: [ClientID: Prefetcher] = [:]
    /// Clients that may start URLs, in round-robin order.
    private(set) var awake = Deque<ClientID>()
    /// Batches whose report is due at the end of the event.
    private(set) var owing: [PrefetchBatch.ID] = []

    /// Whether there are no batches and no due reports.
    var isEmpty: Bool {
        batches.count == 0 && tokens.isEmpty && awake.count == 0 && owing.isEmpty
    }

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
        -> PrefetchBatch.ID?
    {
        guard let id = tokens[request.batch] else { return nil }
        guard batches[id].client == client else {
            throw ImageError(.tokenInUse, "another client is using this token for a batch")
        }
        guard !batches[id].isComplete else {
            throw ImageError(.invalidRequest, "the batch is already complete")
        }
        return id
    }

    /// Throws if the part exceeds a limit of its batch, its client or all clients.
    func checkRoom(
        for request: PrefetchRequest, in batch: PrefetchBatch.ID?, of client: ClientID,
        _ limits: SchedulerLimits
    ) throws(ImageError) {
        let total = (batch.map { batches[$0].total } ?? 0) + request.urls.count
        guard total <= RequestLimits.prefetchMax else {
            throw ImageError(
                .limitExceeded, "a prefetch accepts at most \(RequestLimits.prefetchMax) URLs"
            ) { $0.limit = "\(RequestLimits.prefetchMax)" }
        }
        let prefetcher = clients[client] ?? Prefetcher()
        guard batch != nil || prefetcher.batches.count < limits.batchesPerClientMax else {
            throw .busy("this client has too many unfinished prefetches")
        }
        guard prefetcher.waiting + request.urls.count <= limits.prefetchesPerClientMax,
            prefetcher.waitingBytes + request.urlBytes <= limits.prefetchBytesPerClientMax
        else { throw .busy("too many URLs of this client are waiting to be prefetched") }
        let bytes = clients.values.reduce(0) { $0 + $1.waitingBytes }
        guard bytes + request.urlBytes <= limits.prefetchBytesMax else {
            throw .busy("too many URLs are waiting to be prefetched")
        }
    }

    /// Adds a part to a live batch or, if `nil`, to a new one. The part must have passed
    /// `checkRoom`.
    mutating func add(
        _ request: PrefetchRequest, to batch: PrefetchBatch.ID?, of client: ClientID
    ) {
        let id = batch ?? open(request, of: client)
        batches[id].add(request.urls, isLast: request.isLast)
        clients[client]?.waiting += request.urls.count
        clients[client]?.waitingBytes += request.urlBytes
        wake(client)
        if batches[id].hasEnded { owe(id) }
    }

    private mutating func open(
        _ request: PrefetchRequest, of client: ClientID
    ) -> PrefetchBatch.ID {
        let id = batches.insert(PrefetchBatch(request, of: client))
        tokens[request.batch] = id
        clients[client, default: Prefetcher()].batches.append(id)
        return id
    }

    /// Ends a batch whose remaining parts are to be ignored.
    mutating func cut(_ token: Token, of client: ClientID) {
        clients[client, default: Prefetcher()].cut(token)
    }

    // MARK: - Turns

    /// A URL to start now, and its batch.
    typealias Begun = (batch: PrefetchBatch.ID, url: String)

    /// Returns the next URL of the clients that may start one, or `nil` if none may. Its client
    /// moves to the end of the queue.
    mutating func next() -> Begun? {
        while let client = awake.popFirst() {
            if let begun = next(of: client) {
                awake.append(client)
                return begun
            }
            clients[client]?.isAwake = false
        }
        return nil
    }

    private mutating func next(of client: ClientID) -> Begun? {
        guard let prefetcher = clients[client],
            let most = prefetcher.batches.map({ batches[$0].concurrency }).max(),
            prefetcher.running < most,
            let id = prefetcher.batches.first(where: { batches[$0].mayBegin }),
            let url = batches[id].next()
        else { return nil }
        clients[client]?.rotate(id)
        clients[client]?.waiting -= 1
        clients[client]?.waitingBytes -= PrefetchBatch.bytes(of: url)
        return (id, url)
    }

    private mutating func wake(_ client: ClientID) {
        guard clients[client]?.isAwake == false else { return }
        clients[client]?.isAwake = true
        awake.append(client)
    }

    // MARK: - Members

    /// Adds a live member; its seat is needed for `leave`.
    mutating func join(
        _ id: LiveRequest.ID, _ batch: PrefetchBatch.ID
    ) -> StableArray<LiveRequest.ID>.Seat {
        clients[batches[batch].client]?.running += 1
        return batches[batch].members.join(id)
    }

    /// Removes a live member.
    mutating func leave(_ batch: PrefetchBatch.ID, seat: StableArray<LiveRequest.ID>.Seat) {
        batches[batch].members.leave(seat)
        let client = batches[batch].client
        clients[client]?.running -= 1
        wake(client)
    }

    /// Records the end of a URL, successful or not. Only counted, since nothing is delivered. A
    /// miss isn't an error.
    mutating func ended(_ batch: PrefetchBatch.ID, _ url: String, _ outcome: Reply.Outcome) {
        switch outcome {
        case .failure(let error): batches[batch].failed(url, error)
        case .miss: batches[batch].missed()
        case .image(let image): batches[batch].ended(from: image.cacheType)
        // The cached image is current.
        case .notModified: batches[batch].ended(from: .all)
        }
        owe(batch)
    }

    /// Changes the class of a batch and returns its members.
    mutating func reprioritize(
        _ batch: PrefetchBatch.ID, _ priority: Priority
    ) -> [LiveRequest.ID] {
        batches[batch].priority = priority
        return batches[batch].members.members
    }

    // MARK: - Reports

    private mutating func owe(_ batch: PrefetchBatch.ID) {
        guard !batches[batch].owesReport else { return }
        batches[batch].owesReport = true
        owing.append(batch)
    }

    /// Returns the due reports, and closes the batches that have ended.
    mutating func drainReports() -> [(ClientID, PrefetchReport)] {
        guard !owing.isEmpty else { return [] }
        var reports: [(ClientID, PrefetchReport)] = []
        for id in owing where batches.contains(id) {
            batches[id].owesReport = false
            let isFinal = batches[id].hasEnded
            reports.append((batches[id].client, batches[id].report(isFinal: isFinal)))
            if isFinal { close(id) }
        }
        owing.removeAll(keepingCapacity: true)
        return reports
    }

    // MARK: - Ends

    /// Removes a batch whose members have left.
    mutating func close(_ id: PrefetchBatch.ID) {
        guard let batch = batches.remove(id) else { return }
        tokens[batch.token] = nil
        clients[batch.client]?.batches.removeAll { $0 == id }
        clients[batch.client]?.waiting -= batch.waiting.count
        clients[batch.client]?.waitingBytes -= batch.waitingBytes
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

extension PrefetchRequest {
    fileprivate var urlBytes: Int { urls.reduce(0) { $0 + PrefetchBatch.bytes(of: $1) } }
}

/// The batches of one client. As in SDWebImage, the concurrency limit applies to the prefetcher and
/// not to each list: all batches together run as many URLs as the batch with the highest limit may.
struct Prefetcher: Sendable {
    /// Batches in round-robin order: the first one that may starts its next URL and moves to the
    /// end.
    fileprivate(set) var batches: [PrefetchBatch.ID] = []
    /// The number of live members of all batches.
    var running = 0
    /// Waiting URLs in all batches, and their cost in bytes.
    var waiting = 0
    var waitingBytes = 0
    /// Whether it is in the queue of clients that may start URLs.
    var isAwake = false
    /// Batches that ended before their last part arrived, oldest first. Their remaining parts are
    /// ignored.
    private var cutShort: [Token] = []

    /// The largest number of such batches; for older ones no parts are in flight any more.
    private static let cutShortMax = 256

    /// Whether there is nothing to remember.
    var isEmpty: Bool { batches.isEmpty && cutShort.isEmpty }

    /// Moves a batch to the end after its turn.
    mutating func rotate(_ batch: PrefetchBatch.ID) {
        batches.removeAll { $0 == batch }
        batches.append(batch)
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
struct PrefetchBatch: SlotMapElement {
    typealias ID = SlotID<PrefetchBatch>

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
    private(set) var total = 0
    private(set) var finished = 0
    private(set) var skipped = 0
    /// The first URLs that failed.
    private var failures: [PrefetchFailure] = []
    private var ends = PrefetchEnds()
    /// Whether a report is due at the end of this event.
    var owesReport = false

    /// Creates a batch from its first part; its URLs are added separately.
    init(_ request: PrefetchRequest, of client: ClientID) {
        self.client = client
        token = request.batch
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
    mutating func add(_ urls: [String], isLast: Bool) {
        for url in urls {
            waiting.append(url)
            waitingBytes += Self.bytes(of: url)
        }
        total += urls.count
        isComplete = isLast
    }

    /// Removes and returns the next URL.
    mutating func next() -> String? {
        let url = waiting.popFirst()
        waitingBytes -= url.map(Self.bytes) ?? 0
        return url
    }

    /// Records a URL that finished successfully.
    mutating func ended(from tier: CacheTypes) {
        finished += 1
        if tier != .none { ends.cached += 1 }
    }

    /// Records a URL that is in no cache and may not be loaded.
    mutating func missed() {
        finished += 1
        ends.missed += 1
    }

    mutating func failed(_ url: String, _ error: ImageError) {
        finished += 1
        skipped += 1
        ends.failed(error.code)
        guard failures.count < PrefetchFailure.countMax else { return }
        failures.append(PrefetchFailure(url: url, error: error))
    }

    /// Returns a progress report. In the final report, unfinished URLs count as `cancelled`.
    func report(isFinal: Bool) -> PrefetchReport {
        PrefetchReport(
            batch: token, total: UInt64(total), finished: UInt64(finished),
            skipped: UInt64(skipped), cancelled: isFinal ? UInt64(total - finished) : 0,
            isFinal: isFinal, failures: isFinal ? failures : [],
            ends: isFinal ? ends : PrefetchEnds())
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
        cancelIfSessionEnded(request.batch)
        guard tokens[request.batch] == nil else {
            throw ImageError(.tokenInUse, "another request is using this token")
        }
        guard request.concurrency <= RequestLimits.prefetchConcurrencyMax else {
            throw ImageError(
                .invalidRequest,
                "the concurrency must be at most \(RequestLimits.prefetchConcurrencyMax)")
        }
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

    private func beginMember(_ url: String, of id: PrefetchBatch.ID) {
        // Avoids copying the batch, because that would copy its lists when they change.
        let client = prefetching.batches[id].client
        var resolution = lateResolution(prefetching.batches[id].image(of: url), .prefetched)
        resolution.request.priority = prefetching.batches[id].priority
        let load = LoadRequest(token: prefetching.batches[id].token, image: resolution.request)
        admit(load, of: client, resolution.terms, in: id)
    }

    /// Sends the due progress reports, once per event.
    func notifyPrefetches() {
        for (client, report) in prefetching.drainReports() {
            shared.actions.append(.prefetched(client, report))
        }
    }

    // MARK: - Ends

    /// Cancels a batch and sends its final report.
    func cancelBatch(_ id: PrefetchBatch.ID) {
        let batch = prefetching.batches[id]
        shared.actions.append(.prefetched(batch.client, batch.report(isFinal: true)))
        endBatch(id)
        if !batch.isComplete { prefetching.cut(batch.token, of: batch.client) }
    }

    /// Handles a part that was refused before it reached the scheduler.
    func refusedPrefetch(_ token: Token, of client: ClientID) {
        guard clients.keys.contains(client) else { return }
        endBatch(named: token, of: client)
        prefetching.cut(token, of: client)
    }

    /// Ends a batch of that client, if it exists, without a report.
    private func endBatch(named token: Token, of client: ClientID) {
        guard let id = prefetching.tokens[token], prefetching.batches[id].client == client else {
            return
        }
        endBatch(id)
    }

    /// Refuses all batches on shutdown; clients resubmit the rest to the next coordinator.
    func refuseBatches() {
        for id in prefetching.batches.ids {
            let batch = prefetching.batches[id]
            endBatch(id)
            if !batch.isComplete { prefetching.cut(batch.token, of: batch.client) }
            shared.actions.append(.refused(batch.client, Self.shuttingDown, batch.token))
        }
    }

    /// Ends the batches of a departed client.
    func endPrefetches(of client: ClientID) {
        for id in prefetching.clients[client]?.batches ?? [] { endBatch(id) }
        prefetching.clientLeft(client)
    }

    /// Ends the live members, including work that no other request needs.
    private func endBatch(_ id: PrefetchBatch.ID) {
        for member in prefetching.batches[id].members.members { cancelSilently(member) }
        prefetching.close(id)
    }
}
