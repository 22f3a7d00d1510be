import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

/// Lists of URLs that will be wanted, and the clients that sent them. It knows which batches there
/// are, which of them begins the next URL, and which reports are due.
struct Prefetching: Sendable {
    private(set) var batches = SlotTable<PrefetchBatch>()
    private(set) var tokens: [Token: PrefetchBatch.ID] = [:]
    private(set) var clients: [ClientID: Prefetcher] = [:]
    /// Clients that may begin URLs, in turn.
    private(set) var awake = Fifo<ClientID>()
    /// Batches whose report is due at the end of the event.
    private(set) var owing: [PrefetchBatch.ID] = []

    /// Whether nothing is wanted or owed.
    var isEmpty: Bool {
        batches.count == 0 && tokens.isEmpty && awake.count == 0 && owing.isEmpty
    }

    /// URLs that wait.
    var waiting: Int { clients.values.reduce(0) { $0 + $1.waiting } }

    // MARK: - Parts

    /// Whether a part is of a batch that has ended, and is not looked at.
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
            throw ImageError(.tokenInUse, "another client has a batch with this token")
        }
        guard !batches[id].isComplete else {
            throw ImageError(.invalidRequest, "the last part of this batch has come before")
        }
        return id
    }

    /// Throws where the part is too much, for its batch, its client or all of them.
    func checkRoom(
        for request: PrefetchRequest, in batch: PrefetchBatch.ID?, of client: ClientID,
        _ limits: SchedulerLimits
    ) throws(ImageError) {
        let total = (batch.map { batches[$0].total } ?? 0) + request.urls.count
        guard total <= RequestLimits.prefetchMax else {
            throw ImageError(
                .limitExceeded, "a prefetch has at most \(RequestLimits.prefetchMax) URLs",
                details: ["limit": "\(RequestLimits.prefetchMax)"])
        }
        let prefetcher = clients[client] ?? Prefetcher()
        guard batch != nil || prefetcher.batches.count < limits.batchesPerClientMax else {
            throw .busy("too many prefetches of this client have not ended")
        }
        guard prefetcher.waiting + request.urls.count <= limits.prefetchesPerClientMax,
            prefetcher.waitingBytes + request.urlBytes <= limits.prefetchBytesPerClientMax
        else { throw .busy("too many URLs of this client wait to be prefetched") }
        let bytes = clients.values.reduce(0) { $0 + $1.waitingBytes }
        guard bytes + request.urlBytes <= limits.prefetchBytesMax else {
            throw .busy("too many URLs of all clients wait to be prefetched")
        }
    }

    /// Takes in a part that has room, of a live batch or (`nil`) of a new one.
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
        clients[client, default: Prefetcher()].join(id)
        return id
    }

    /// More parts of a batch that is over may come: they are passed over.
    mutating func cut(_ token: Token, of client: ClientID) {
        clients[client, default: Prefetcher()].cut(token)
    }

    // MARK: - Turns

    /// A URL that begins now, and its batch.
    typealias Begun = (batch: PrefetchBatch.ID, url: String)

    /// The next URL of the clients that may begin some; `nil` where none may. Its client is the
    /// last one now.
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

    /// A member is live from now on; its seat is for `leave`.
    mutating func join(
        _ id: LiveRequest.ID, _ batch: PrefetchBatch.ID
    ) -> SeatList<LiveRequest.ID>.Seat {
        clients[batches[batch].client]?.running += 1
        return batches[batch].members.join(id)
    }

    /// A member is live no longer.
    mutating func leave(_ batch: PrefetchBatch.ID, seat: SeatList<LiveRequest.ID>.Seat) {
        batches[batch].members.leave(seat)
        let client = batches[batch].client
        clients[client]?.running -= 1
        wake(client)
    }

    /// A URL has ended, well or not. That is counted, and nothing is delivered. A miss is no error.
    mutating func ended(_ batch: PrefetchBatch.ID, _ url: String, _ outcome: Reply.Outcome) {
        switch outcome {
        case .failure(let error): batches[batch].failed(url, error)
        case .miss: batches[batch].missed()
        case .image(let image): batches[batch].ended(from: image.cacheType)
        // The cached image is the right one.
        case .notModified: batches[batch].ended(from: .all)
        }
        owe(batch)
    }

    /// Gives a batch another class; returns its members.
    mutating func reprioritise(
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

    /// The reports that are due. A batch that has ended is over then.
    mutating func takeReports() -> [(ClientID, PrefetchReport)] {
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

    /// A batch is over; its members have left.
    mutating func close(_ id: PrefetchBatch.ID) {
        guard let batch = batches.remove(id) else { return }
        tokens[batch.token] = nil
        clients[batch.client]?.leave(id)
        clients[batch.client]?.waiting -= batch.waiting.count
        clients[batch.client]?.waitingBytes -= batch.waitingBytes
        forget(batch.client)
    }

    /// A client is gone, and its batches are closed.
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

/// The batches of one client. The limit is that of a prefetcher and not of a list, as upstream's
/// is. So all batches together run as many URLs as the one that may run the most.
struct Prefetcher: Sendable {
    /// Batches take turns: the first one that may begins its next URL, and goes to the end.
    private(set) var batches: [PrefetchBatch.ID] = []
    /// Live members of all batches.
    var running = 0
    /// URLs that wait in all batches, and their bytes.
    var waiting = 0
    var waitingBytes = 0
    /// Whether it is in the queue of clients that may begin URLs.
    var isAwake = false
    /// Batches that ended before their last part came, the oldest first. Parts of them that still
    /// come are passed over.
    private var cutShort: [Token] = []

    /// Batches whose parts are still passed over; of older ones none are on their way any more.
    private static let cutShortMax = 256

    /// Whether nothing has to be remembered.
    var isEmpty: Bool { batches.isEmpty && cutShort.isEmpty }

    mutating func join(_ batch: PrefetchBatch.ID) { batches.append(batch) }

    mutating func leave(_ batch: PrefetchBatch.ID) { batches.removeAll { $0 == batch } }

    /// A batch that just had its turn is the last one now.
    mutating func rotate(_ batch: PrefetchBatch.ID) {
        leave(batch)
        batches.append(batch)
    }

    /// A batch has ended, and parts of it may be on their way.
    mutating func cut(_ token: Token) {
        if cutShort.count >= Self.cutShortMax { cutShort.removeFirst() }
        cutShort.append(token)
    }

    /// Whether a part is of a batch that has ended; its last part is the last that is looked for.
    mutating func passesOver(_ request: PrefetchRequest) -> Bool {
        guard let index = cutShort.firstIndex(of: request.batch) else { return false }
        if request.isLast { cutShort.remove(at: index) }
        return true
    }
}

/// A list of URLs that a client will want (SEMANTICS §12.1). Most of them wait here as texts. A few
/// at a time are live requests, the members of the batch. Their ends are counted, and nothing is
/// delivered.
///
///     gathering ──last part──► complete ──nothing waits, nothing runs──► final report
///         └───────────────────────┴──cancelled, refused, client gone──► gone
struct PrefetchBatch: Tabled {
    typealias ID = SlotID<PrefetchBatch>

    let client: ClientID
    let token: Token
    /// How each URL is loaded.
    private let template: ImageRequest
    /// The class of its URLs: low, unless they are to be high (SEMANTICS §12.1), or its client
    /// said otherwise since.
    var priority: Priority
    /// URLs that may be live at a time.
    let concurrency: Int
    private(set) var waiting = Fifo<String>()
    /// What the waiting URLs cost in memory, as far as limits count it.
    private(set) var waitingBytes = 0
    /// Live requests.
    var members = SeatList<LiveRequest.ID>()
    /// Whether no more URLs follow.
    private(set) var isComplete = false
    private(set) var total = 0
    private(set) var finished = 0
    private(set) var skipped = 0
    /// The first URLs that were skipped.
    private var failures: [PrefetchFailure] = []
    private var ends = PrefetchEnds()
    /// Whether a report is on its way at the end of this event.
    var owesReport = false

    /// The first part of a batch; its URLs are added like those of the others.
    init(_ request: PrefetchRequest, of client: ClientID) {
        self.client = client
        token = request.batch
        template = request.image
        priority = request.image.options.contains(.highPriority) ? .high : .low
        concurrency =
            request.concurrency == 0
            ? RequestLimits.prefetchConcurrency : Int(request.concurrency)
    }

    /// Whether everything has ended.
    var hasEnded: Bool { isComplete && waiting.count == 0 && members.isEmpty }

    /// Whether it has a URL to begin, and may.
    var mayBegin: Bool { waiting.count > 0 && members.count < concurrency }

    /// How one of its URLs is loaded, before it is resolved.
    func image(of url: String) -> ImageRequest {
        var image = template
        image.url = url
        return image
    }

    /// What a URL that waits costs: its text, and what holds it.
    static func bytes(of url: String) -> Int {
        url.utf8.count + SchedulerLimits.prefetchOverheadBytes
    }

    /// More URLs, perhaps the last ones.
    mutating func add(_ urls: [String], isLast: Bool) {
        for url in urls {
            waiting.append(url)
            waitingBytes += Self.bytes(of: url)
        }
        total += urls.count
        isComplete = isLast
    }

    /// The next URL, which waits no longer.
    mutating func next() -> String? {
        let url = waiting.popFirst()
        waitingBytes -= url.map(Self.bytes) ?? 0
        return url
    }

    /// A URL has ended well.
    mutating func ended(from tier: CacheTypes) {
        finished += 1
        if tier != .none { ends.cached += 1 }
    }

    /// A URL is in no cache, and is asked for nowhere else.
    mutating func missed() {
        finished += 1
        ends.missed += 1
    }

    /// A URL has ended with an error.
    mutating func failed(_ url: String, _ error: ImageError) {
        finished += 1
        skipped += 1
        ends.failed(error.code)
        guard failures.count < PrefetchFailure.countMax else { return }
        failures.append(PrefetchFailure(url: url, error: error))
    }

    /// How far it is. What has not ended is `cancelled` in the last report.
    func report(isFinal: Bool) -> PrefetchReport {
        PrefetchReport(
            batch: token, total: UInt64(total), finished: UInt64(finished),
            skipped: UInt64(skipped), cancelled: isFinal ? UInt64(total - finished) : 0,
            isFinal: isFinal, failures: isFinal ? failures : [],
            ends: isFinal ? ends : PrefetchEnds())
    }
}

// Images that will be wanted: batches from their first part to the final report
// (SEMANTICS §12.1).
extension Scheduler {
    /// A batch, or a further part of one. What is refused ends the whole batch.
    mutating func prefetch(
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

    /// A fault of the template is a fault of every URL, and refused at once.
    private mutating func checkBeginning(
        _ request: PrefetchRequest, _ terms: LoadTerms
    ) throws(ImageError) {
        guard !drain.isBegun else { throw Self.shuttingDown }
        freeToken(request.batch)
        guard tokens[request.batch] == nil else {
            throw ImageError(.tokenInUse, "a request has this token")
        }
        guard request.concurrency <= RequestLimits.prefetchConcurrencyMax else {
            throw ImageError(
                .invalidRequest,
                "at most \(RequestLimits.prefetchConcurrencyMax) URLs are loaded at a time")
        }
        if let refusal = terms.refusal { throw refusal }
        try request.image.checkWishes()
        var image = request.image
        image.url = "http://host/"
        _ = try RequestNames(
            checking: image, terms, isUpload: false, limits: limits.derivation.image)
    }

    private mutating func refusePart(
        _ request: PrefetchRequest, of client: ClientID, _ error: ImageError
    ) {
        if error.code == .busy { figures.counters.refusedBusy += 1 }
        endBatch(named: request.batch, of: client)
        if !request.isLast { prefetching.cut(request.batch, of: client) }
        actions.append(.refused(client, error, request.batch))
    }

    // MARK: - Members

    /// Begins URLs of clients that may begin some, in turn, and not too many in one event. URLs
    /// that memory has end at once, and a long list of them must not keep others waiting.
    mutating func beginPrefetches() {
        var left = limits.prefetchesBegunMax
        while left > 0, hasRoomToPrefetch, let (batch, url) = prefetching.next() {
            left -= 1
            beginMember(url, of: batch)
            moveOn()
        }
    }

    /// Whether URLs could be begun now that were not begun in the last event.
    var wantsToPrefetch: Bool { prefetching.awake.count > 0 && hasRoomToPrefetch }

    /// Prefetches wait where a load would be refused.
    private var hasRoomToPrefetch: Bool {
        requests.count < limits.liveRequestsMax && deriver.dispatcher.hasRoom(.cache)
            && deriver.dispatcher.hasRoom(.download)
            && JobStage.allCases.allSatisfy {
                !deriver.dispatcher.isFull($0)
            }
    }

    private mutating func beginMember(_ url: String, of id: PrefetchBatch.ID) {
        // No copy of the batch is kept here: otherwise its lists would be copied when they change.
        let client = prefetching.batches[id].client
        var resolution = lateResolution(prefetching.batches[id].image(of: url), .prefetched)
        resolution.request.priority = prefetching.batches[id].priority
        let load = LoadRequest(token: prefetching.batches[id].token, image: resolution.request)
        admit(load, of: client, resolution.terms, in: id)
    }

    /// Tells how far batches are, once in an event.
    mutating func tellPrefetches() {
        for (client, report) in prefetching.takeReports() {
            actions.append(.prefetched(client, report))
        }
    }

    // MARK: - Ends

    /// Ends a batch that is no longer wanted, and tells so.
    mutating func cancelBatch(_ id: PrefetchBatch.ID) {
        let batch = prefetching.batches[id]
        actions.append(.prefetched(batch.client, batch.report(isFinal: true)))
        endBatch(id)
        if !batch.isComplete { prefetching.cut(batch.token, of: batch.client) }
    }

    /// A part of a batch was refused before it came here.
    mutating func refusedPrefetch(_ token: Token, of client: ClientID) {
        guard clients.keys.contains(client) else { return }
        endBatch(named: token, of: client)
        prefetching.cut(token, of: client)
    }

    /// Ends a batch of that client, if there is one, without a word.
    private mutating func endBatch(named token: Token, of client: ClientID) {
        guard let id = prefetching.tokens[token], prefetching.batches[id].client == client else {
            return
        }
        endBatch(id)
    }

    /// The stack shuts down: what is left of a batch is for the next coordinator.
    mutating func refuseBatches() {
        for id in prefetching.batches.ids {
            let batch = prefetching.batches[id]
            endBatch(id)
            if !batch.isComplete { prefetching.cut(batch.token, of: batch.client) }
            actions.append(.refused(batch.client, Self.shuttingDown, batch.token))
        }
    }

    /// A client is gone: its batches end.
    mutating func endPrefetches(of client: ClientID) {
        for id in prefetching.clients[client]?.batches ?? [] { endBatch(id) }
        prefetching.clientLeft(client)
    }

    /// Members that run end. Work that no other request needs ends with them.
    private mutating func endBatch(_ id: PrefetchBatch.ID) {
        for member in prefetching.batches[id].members.members { forsake(member) }
        prefetching.close(id)
    }
}
