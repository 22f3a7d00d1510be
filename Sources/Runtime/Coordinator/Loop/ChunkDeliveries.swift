import Model
import ProcessRuntime

/// Chunked deliveries to clients (PROTOCOL §10.1): their order and flow control. Bytes are read
/// elsewhere, chunk by chunk, so that a slow client costs no more than one window.
struct ChunkDeliveries {
    /// A result that is being delivered, followed by its reply.
    struct Delivery {
        let load: LoadRequest
        let deadline: Instant
        let reply: Reply
        let image: DeliveredImage
        let reference: BlockReference
        /// The final reply of its load, which must wait for the bytes of a cached image.
        fileprivate(set) var followUp: Reply?
        fileprivate(set) var offset: UInt64 = 0
    }

    /// The next chunk for a client.
    struct Slice {
        let delivery: Delivery
        let offset: UInt64
        let count: Int
    }

    /// A load whose result is to be delivered in chunks.
    struct Expected {
        let load: LoadRequest
        let deadline: Instant
        /// Whether its cached image was reused before it could be sent.
        fileprivate(set) var lacksCached = false
    }

    private struct Line {
        var expected: [Token: Expected] = [:]
        var waiting: [Delivery] = []
        var bytesOnTheWay: UInt64 = 0
        /// Since when the client has acknowledged nothing while data is in flight.
        var stalledSince: Instant?

        /// The same, if a result is pending.
        var stalls: Instant? { waiting.isEmpty ? nil : stalledSince }

        var isIdle: Bool { expected.isEmpty && waiting.isEmpty && bytesOnTheWay == 0 }
    }

    private let windowBytes: UInt64
    private var lines: [ClientID: Line] = [:]

    init(windowBytes: Int = MessageLimits.chunkWindowBytes) {
        self.windowBytes = UInt64(windowBytes)
    }

    // MARK: - Loads

    /// Registers a load whose result is to be delivered in chunks.
    mutating func expect(_ load: LoadRequest, of client: ClientID, until deadline: Instant) {
        lines[client, default: Line()].expected[load.token] = Expected(
            load: load, deadline: deadline)
    }

    /// Removes a load that has its reply; `nil` if it isn't delivered in chunks.
    mutating func replied(_ token: Token, of client: ClientID) -> Expected? {
        guard let expected = lines[client]?.expected.removeValue(forKey: token) else { return nil }
        tidy(client)
        return expected
    }

    /// Returns a load that got its cached or a partial image and whose final reply follows.
    func refreshing(_ token: Token, of client: ClientID) -> Expected? {
        lines[client]?.expected[token]
    }

    /// Records that a load's cached image was not delivered.
    mutating func lostCached(_ token: Token, of client: ClientID) {
        lines[client]?.expected[token]?.lacksCached = true
    }

    /// Returns whether an image of the load is being delivered.
    func isSending(_ token: Token, to client: ClientID) -> Bool {
        lines[client]?.waiting.contains { $0.reply.token == token } ?? false
    }

    /// Queues the final reply of a load behind its cached image; returns whether that is being
    /// delivered.
    mutating func follow(_ reply: Reply, to client: ClientID) -> Bool {
        guard
            let place = lines[client]?.waiting.firstIndex(where: {
                $0.reply.token == reply.token
            })
        else { return false }
        lines[client]?.waiting[place].followUp = reply
        return true
    }

    /// Queues a result for delivery.
    mutating func begin(_ delivery: Delivery, to client: ClientID) {
        lines[client, default: Line()].waiting.append(delivery)
    }

    // MARK: - Chunks

    /// Returns the next chunk to send; `nil` if nothing is queued or the window is full.
    func next(for client: ClientID) -> Slice? {
        guard let line = lines[client], let delivery = line.waiting.first else { return nil }
        let left = delivery.reference.length - delivery.offset
        let count = min(left, UInt64(MessageLimits.chunkBytesMax))
        guard line.bytesOnTheWay + count <= windowBytes else { return nil }
        return Slice(delivery: delivery, offset: delivery.offset, count: Int(count))
    }

    /// Records that the chunk was sent; returns the delivery if this was its last one.
    mutating func sent(_ slice: Slice, to client: ClientID, at now: Instant) -> Delivery? {
        guard var line = lines[client], !line.waiting.isEmpty else { return nil }
        line.bytesOnTheWay += UInt64(slice.count)
        line.waiting[0].offset += UInt64(slice.count)
        line.stalledSince = line.stalledSince ?? now
        let delivery = line.waiting[0]
        let isDone = delivery.offset == delivery.reference.length
        if isDone { line.waiting.removeFirst() }
        lines[client] = line
        return isDone ? delivery : nil
    }

    /// Records an acknowledgment of bytes; returns `false` if it exceeds what was sent.
    mutating func acknowledged(_ bytes: UInt64, by client: ClientID, at now: Instant) -> Bool {
        guard let line = lines[client], line.bytesOnTheWay >= bytes else { return false }
        lines[client]?.bytesOnTheWay -= bytes
        lines[client]?.stalledSince = line.bytesOnTheWay == bytes ? nil : now
        tidy(client)
        return true
    }

    // MARK: - Completion

    /// Removes the first delivery, which can't continue.
    mutating func dropFirst(of client: ClientID) -> Delivery? {
        guard lines[client]?.waiting.isEmpty == false else { return nil }
        return lines[client]?.waiting.removeFirst()
    }

    /// Removes and returns deliveries that the client canceled.
    mutating func cancel(
        of client: ClientID, where isMeant: (LoadRequest) -> Bool
    ) -> [Delivery] {
        guard let line = lines[client] else { return [] }
        lines[client]?.waiting.removeAll { isMeant($0.load) }
        return line.waiting.filter { isMeant($0.load) }
    }

    /// Removes a client that has disconnected.
    mutating func leave(_ client: ClientID) { lines[client] = nil }

    /// The client that has been stalled for the longest time while results are pending.
    var stalled: (client: ClientID, since: Instant)? {
        let stalled = lines.compactMap { client, line in
            line.stalls.map { (client: client, since: $0) }
        }
        return stalled.min { $0.since < $1.since }
    }

    /// Returns since when a client has been stalled while results are pending.
    func stalledSince(_ client: ClientID) -> Instant? { lines[client]?.stalls }

    private mutating func tidy(_ client: ClientID) {
        if lines[client]?.isIdle == true { lines[client] = nil }
    }
}

// Chunked deliveries for clients that can't read `results/` (PROTOCOL §10.1): the only place where
// the coordinator touches payloads.
extension Coordinator {
    /// Registers a load whose result is delivered in chunks; returns `false` if it isn't.
    @discardableResult
    mutating func expectChunks(_ load: LoadRequest, for id: UInt64) -> Bool {
        guard load.wantsChunks || peers[id]?.wantsChunks == true else { return false }
        let deadline = now.adding(milliseconds: load.image.timeoutMilliseconds)
        deliveries.expect(load, of: ClientID(id), until: deadline)
        return true
    }

    /// Repeats a load; if its image `isUnmodified`, without revalidation, because the origin has
    /// already answered. The original load has ended, so the repetition must not cancel a newer
    /// load in its slot; a later load cancels it by its token.
    mutating func loadAgain(
        _ load: LoadRequest, until deadline: Instant, for client: ClientID, isUnmodified: Bool
    ) {
        var again = load
        again.slot = nil
        again.staleRetries += 1
        again.image.timeoutMilliseconds = max(1, deadline.milliseconds(since: now))
        deliveries.expect(again, of: client, until: deadline)
        var resolved = resolve(again)
        if isUnmodified { resolved.load.image.options.remove(.refreshCached) }
        handle(.load(client, resolved.load, resolved.terms))
    }

    /// Sends as many chunks as the window permits.
    mutating func sendChunks(to client: ClientID) {
        defer { watchStall(of: client) }
        while let slice = deliveries.next(for: client) {
            do throws(ImageError) {
                guard
                    let bytes = try results.copy(
                        slice.delivery.reference, at: slice.offset, count: slice.count)
                else { throw ImageError(.stale, "the result was evicted while it was being read") }
                let chunk = Chunk(
                    token: slice.delivery.reply.token, offset: slice.offset,
                    total: slice.delivery.reference.length, bytes: bytes)
                send(.chunk(chunk), to: client)
                guard let done = deliveries.sent(slice, to: client, at: now) else { continue }
                var image = done.image
                image.reference = nil
                image.mustCopy = false
                image.chunkBytes = done.reference.length
                finish(done, with: .image(image), for: client)
            } catch {
                guard let delivery = deliveries.dropFirst(of: client) else { return }
                fail(delivery, error, for: client)
            }
        }
    }

    /// Handles an acknowledgment of chunks.
    mutating func acknowledged(_ bytes: UInt64, by client: ClientID) {
        guard deliveries.acknowledged(bytes, by: client, at: now) else {
            counters.malformedMessages += 1
            return end(client.value)
        }
        sendChunks(to: client)
    }

    /// Ends matching deliveries that the client canceled.
    mutating func cancelChunks(of client: ClientID, where isMeant: (LoadRequest) -> Bool) {
        for delivery in deliveries.cancel(of: client, where: isMeant) {
            let error = ImageError(.cancelled, "cancelled while the result was being sent")
            // The final reply of a load that continues is sent elsewhere.
            guard delivery.reply.isTerminal || delivery.followUp != nil else {
                discard(delivery, for: client)
                continue
            }
            finish(delivery, with: .failure(error), for: client)
        }
        for load in uploads.cancel(of: client, where: isMeant) {
            let error = ImageError(.cancelled, "cancelled before all bytes had arrived")
            refuse(load, error, for: client)
        }
    }

    /// Ends the sessions of clients that acknowledged nothing for ten seconds while chunks are
    /// pending.
    mutating func endStalledDeliveries() {
        while let (client, since) = deliveries.stalled {
            let due = since.adding(milliseconds: Self.chunkStallMilliseconds)
            guard due <= now else { return timers.arm(.endStalledDeliveries, by: due) }
            counters.stalledPeers += 1
            bootstrap.log.warning(
                "client does not accept chunks", ["session": LogValue(client.value)])
            end(client.value)
        }
    }

    private mutating func watchStall(of client: ClientID) {
        guard let since = deliveries.stalledSince(client) else { return }
        timers.arm(
            .endStalledDeliveries, by: since.adding(milliseconds: Self.chunkStallMilliseconds))
    }

    private static var chunkStallMilliseconds: Int { 10_000 }
    private static var staleRetriesMax: UInt8 { 5 }

    /// Handles a failed delivery. If the block was reused while it was read, the image is loaded
    /// again and delivered from the start.
    private mutating func fail(
        _ delivery: ChunkDeliveries.Delivery, _ error: ImageError, for client: ClientID
    ) {
        if !delivery.reply.isTerminal {
            return failCached(delivery, error, for: client)
        }
        guard error.code == .stale, delivery.load.uploadBytes == 0, delivery.deadline > now,
            delivery.load.staleRetries < Self.staleRetriesMax
        else { return finish(delivery, with: .failure(error), for: client) }
        discard(delivery, for: client)
        loadAgain(delivery.load, until: delivery.deadline, for: client, isUnmodified: false)
    }

    /// Handles a cached image that was reused while it was read: the final reply compensates for
    /// it.
    private mutating func failCached(
        _ delivery: ChunkDeliveries.Delivery, _ error: ImageError, for client: ClientID
    ) {
        discard(delivery, for: client)
        guard let end = delivery.followUp else {
            return deliveries.lostCached(delivery.reply.token, of: client)
        }
        guard case .notModified = end.outcome else {
            return send(.reply(end), to: client)
        }
        loadAgain(delivery.load, until: delivery.deadline, for: client, isUnmodified: true)
    }

    private mutating func finish(
        _ delivery: ChunkDeliveries.Delivery, with outcome: Reply.Outcome, for client: ClientID
    ) {
        discard(delivery, for: client)
        var reply = delivery.reply
        reply.outcome = outcome
        if case .failure = outcome { (reply.isRefreshing, reply.arrivedBytes) = (false, nil) }
        send(.reply(reply), to: client)
        guard !reply.isTerminal, let end = delivery.followUp else { return }
        send(.reply(end), to: client)
    }

    /// Releases a large result, which the coordinator read on behalf of the client.
    private mutating func discard(_ delivery: ChunkDeliveries.Delivery, for client: ClientID) {
        results.forget(delivery.reference)
        discard(delivery.image, for: client)
    }

    /// Releases a large result that was never delivered.
    mutating func discard(_ image: DeliveredImage, for client: ClientID) {
        guard let reference = image.reference, ResultReader.isLarge(reference), !image.mustCopy
        else { return }
        handle(.clientReleased(client, [reference.block]))
    }
}
