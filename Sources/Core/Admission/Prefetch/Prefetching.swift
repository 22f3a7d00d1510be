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
