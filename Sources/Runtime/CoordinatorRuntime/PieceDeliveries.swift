import Admission
import Bootstrap
import ImageModel
import Messages
import Observability
import SharedArena

/// Results on their way to clients that get them in pieces (PROTOCOL §10.1): whose turn it is, and
/// how much may be on the way. Bytes are read elsewhere, piece by piece, so that a client that
/// reads slowly costs a window and no more.
struct PieceDeliveries {
    /// A result that goes out, the reply behind it.
    struct Delivery {
        let load: LoadRequest
        /// When the load is to have ended.
        let deadline: Instant
        let reply: Reply
        let image: DeliveredImage
        let reference: BlockReference
        /// The end of its load, which has to wait for the bytes of a cached image.
        fileprivate(set) var followUp: Reply?
        fileprivate(set) var offset: UInt64 = 0
    }

    /// The next piece of a client.
    struct Slice {
        let delivery: Delivery
        let offset: UInt64
        let count: Int
    }

    /// A load whose result is to go out so.
    struct Expected {
        let load: LoadRequest
        let deadline: Instant
        /// Its cached image was reused before it could be sent.
        fileprivate(set) var lacksCached = false
    }

    private struct Line {
        var expected: [Token: Expected] = [:]
        var waiting: [Delivery] = []
        var bytesOnTheWay: UInt64 = 0
        /// Since when the client has taken nothing, while something is on its way.
        var stalledSince: Instant?

        /// The same, where there is a result that waits.
        var stalls: Instant? { waiting.isEmpty ? nil : stalledSince }

        var isIdle: Bool { expected.isEmpty && waiting.isEmpty && bytesOnTheWay == 0 }
    }

    private let windowBytes: UInt64
    private var lines: [ClientID: Line] = [:]

    init(windowBytes: Int = MessageLimits.pieceWindowBytes) {
        self.windowBytes = UInt64(windowBytes)
    }

    // MARK: - Loads

    /// The result of this load is wanted in pieces.
    mutating func expect(_ load: LoadRequest, of client: ClientID, until deadline: Instant) {
        lines[client, default: Line()].expected[load.token] = Expected(
            load: load, deadline: deadline)
    }

    /// The load has its reply; `nil` where pieces were not wanted.
    mutating func replied(_ token: Token, of client: ClientID) -> Expected? {
        guard let expected = lines[client]?.expected.removeValue(forKey: token) else { return nil }
        tidy(client)
        return expected
    }

    /// A load has its cached image, or a partial one; its end follows.
    func refreshing(_ token: Token, of client: ClientID) -> Expected? {
        lines[client]?.expected[token]
    }

    /// The cached image of a load did not go out.
    mutating func lostCached(_ token: Token, of client: ClientID) {
        lines[client]?.expected[token]?.lacksCached = true
    }

    /// Whether an image of the load is going out.
    func isSending(_ token: Token, to client: ClientID) -> Bool {
        lines[client]?.waiting.contains { $0.reply.token == token } ?? false
    }

    /// Whether the end of a load waits behind its cached image, which is going out.
    mutating func follow(_ reply: Reply, to client: ClientID) -> Bool {
        guard
            let place = lines[client]?.waiting.firstIndex(where: {
                $0.reply.token == reply.token
            })
        else { return false }
        lines[client]?.waiting[place].followUp = reply
        return true
    }

    /// A result begins to go out, behind those that wait already.
    mutating func begin(_ delivery: Delivery, to client: ClientID) {
        lines[client, default: Line()].waiting.append(delivery)
    }

    // MARK: - Pieces

    /// What goes out next; `nil` where nothing waits, or the window is full.
    func next(for client: ClientID) -> Slice? {
        guard let line = lines[client], let delivery = line.waiting.first else { return nil }
        let left = delivery.reference.length - delivery.offset
        let count = min(left, UInt64(MessageLimits.pieceBytesMax))
        guard line.bytesOnTheWay + count <= windowBytes else { return nil }
        return Slice(delivery: delivery, offset: delivery.offset, count: Int(count))
    }

    /// The slice went out; the delivery, where it was the last one.
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

    /// The client has taken so many bytes; `false` where it never got that many.
    mutating func taken(_ bytes: UInt64, by client: ClientID, at now: Instant) -> Bool {
        guard let line = lines[client], line.bytesOnTheWay >= bytes else { return false }
        lines[client]?.bytesOnTheWay -= bytes
        lines[client]?.stalledSince = line.bytesOnTheWay == bytes ? nil : now
        tidy(client)
        return true
    }

    // MARK: - Ends

    /// The first delivery cannot go on.
    mutating func dropFirst(of client: ClientID) -> Delivery? {
        guard lines[client]?.waiting.isEmpty == false else { return nil }
        return lines[client]?.waiting.removeFirst()
    }

    /// The client no longer wants these; they go out no further.
    mutating func cancel(
        of client: ClientID, where isMeant: (LoadRequest) -> Bool
    ) -> [Delivery] {
        guard let line = lines[client] else { return [] }
        lines[client]?.waiting.removeAll { isMeant($0.load) }
        return line.waiting.filter { isMeant($0.load) }
    }

    /// The client is gone.
    mutating func leave(_ client: ClientID) { lines[client] = nil }

    /// Since when the client that has taken nothing for longest has done so, while results wait.
    var stalled: (client: ClientID, since: Instant)? {
        let stalled = lines.compactMap { client, line in
            line.stalls.map { (client: client, since: $0) }
        }
        return stalled.min { $0.since < $1.since }
    }

    /// Since when a client has taken nothing, while results wait.
    func stalledSince(_ client: ClientID) -> Instant? { lines[client]?.stalls }

    private mutating func tidy(_ client: ClientID) {
        if lines[client]?.isIdle == true { lines[client] = nil }
    }
}

// Results for clients that cannot open `results/` (PROTOCOL §10.1): only here does the coordinator
// touch payloads.
extension Coordinator {
    /// Remembers that the result of a load goes out in pieces; `false` where it does not.
    @discardableResult
    mutating func expectPieces(_ load: LoadRequest, for id: UInt64, at now: Instant) -> Bool {
        guard load.wantsPieces || peers[id]?.wantsPieces == true else { return false }
        let deadline = now.adding(milliseconds: load.image.timeoutMilliseconds)
        deliveries.expect(load, of: ClientID(id), until: deadline)
        return true
    }

    /// The cached image once more, whoever asked for it: the origin has said what it had to say.
    mutating func loadUnmodified(
        _ load: LoadRequest, until deadline: Instant, for client: ClientID, at now: Instant
    ) {
        loadAgain(load, until: deadline, for: client, at: now) {
            $0.image.options.remove(.refreshCached)
        }
    }

    /// The same load once more, changed after rules and profiles have. It has ended here: it must
    /// not cancel what came into its slot since; what comes later cancels it by its token.
    private mutating func loadAgain(
        _ load: LoadRequest, until deadline: Instant, for client: ClientID, at now: Instant,
        changed change: (inout LoadRequest) -> Void = { _ in }
    ) {
        var again = load
        again.slot = nil
        again.staleRetries += 1
        again.image.timeoutMilliseconds = max(1, deadline.milliseconds(since: now))
        deliveries.expect(again, of: client, until: deadline)
        var resolved = resolve(again)
        change(&resolved.load)
        handle(.load(client, resolved.load, resolved.terms), at: now)
    }

    /// Sends as much as the window permits.
    mutating func sendPieces(to client: ClientID, at now: Instant) {
        defer { watchStall(of: client) }
        while let slice = deliveries.next(for: client) {
            do throws(ImageError) {
                guard
                    let bytes = try results.copy(
                        slice.delivery.reference, at: slice.offset, count: slice.count)
                else { throw ImageError(.stale, "the result was evicted while it was read") }
                let piece = Piece(
                    token: slice.delivery.reply.token, offset: slice.offset,
                    total: slice.delivery.reference.length, bytes: bytes)
                send(.toClient(.piece(piece)), to: client.value, at: now)
                guard let done = deliveries.sent(slice, to: client, at: now) else { continue }
                var image = done.image
                image.reference = nil
                image.mustCopy = false
                image.pieceBytes = done.reference.length
                finish(done, with: .image(image), for: client, at: now)
            } catch {
                guard let delivery = deliveries.dropFirst(of: client) else { return }
                fail(delivery, error, for: client, at: now)
            }
        }
    }

    /// A client has taken pieces.
    mutating func taken(_ bytes: UInt64, by client: ClientID, at now: Instant) {
        guard deliveries.taken(bytes, by: client, at: now) else {
            counters.malformedMessages += 1
            return end(client.value, at: now)
        }
        sendPieces(to: client, at: now)
    }

    /// Ends what is going out to a client, as it wished.
    mutating func cancelPieces(
        of client: ClientID, at now: Instant, where isMeant: (LoadRequest) -> Bool
    ) {
        for delivery in deliveries.cancel(of: client, where: isMeant) {
            let error = ImageError(.cancelled, "cancelled while the result was sent")
            // The end of a load that goes on is told by who goes on with it.
            guard delivery.reply.isTerminal || delivery.followUp != nil else {
                letGo(of: delivery, for: client, at: now)
                continue
            }
            finish(delivery, with: .failure(error), for: client, at: now)
        }
        for load in uploads.cancel(of: client, where: isMeant) {
            let error = ImageError(.cancelled, "cancelled before all bytes had come")
            refuse(load, error, for: client, at: now)
        }
    }

    /// Who takes nothing for ten seconds while pieces wait is dead.
    mutating func endStalledDeliveries(at now: Instant) {
        while let (client, since) = deliveries.stalled {
            let due = since.adding(milliseconds: Self.pieceStallMilliseconds)
            guard due <= now else { return timers.arm(.endStalledDeliveries, by: due) }
            counters.stalledPeers += 1
            bootstrap.log.warning("a client takes no pieces", ["session": LogValue(client.value)])
            end(client.value, at: now)
        }
    }

    private mutating func watchStall(of client: ClientID) {
        guard let since = deliveries.stalledSince(client) else { return }
        timers.arm(
            .endStalledDeliveries, by: since.adding(milliseconds: Self.pieceStallMilliseconds))
    }

    private static var pieceStallMilliseconds: Int { 10_000 }
    private static var staleRetriesMax: UInt8 { 5 }

    /// What was reused while it was read is asked for again; its pieces begin anew.
    private mutating func fail(
        _ delivery: PieceDeliveries.Delivery, _ error: ImageError, for client: ClientID,
        at now: Instant
    ) {
        if !delivery.reply.isTerminal {
            return failCached(delivery, error, for: client, at: now)
        }
        guard error.code == .stale, delivery.load.uploadBytes == 0, delivery.deadline > now,
            delivery.load.staleRetries < Self.staleRetriesMax
        else { return finish(delivery, with: .failure(error), for: client, at: now) }
        letGo(of: delivery, for: client, at: now)
        loadAgain(delivery.load, until: delivery.deadline, for: client, at: now)
    }

    /// A cached image was reused while it was read: the end of its load makes up for it.
    private mutating func failCached(
        _ delivery: PieceDeliveries.Delivery, _ error: ImageError, for client: ClientID,
        at now: Instant
    ) {
        letGo(of: delivery, for: client, at: now)
        guard let end = delivery.followUp else {
            return deliveries.lostCached(delivery.reply.token, of: client)
        }
        guard case .notModified = end.outcome else {
            return send(.toClient(.reply(end)), to: client.value, at: now)
        }
        loadUnmodified(delivery.load, until: delivery.deadline, for: client, at: now)
    }

    private mutating func finish(
        _ delivery: PieceDeliveries.Delivery, with outcome: Reply.Outcome, for client: ClientID,
        at now: Instant
    ) {
        letGo(of: delivery, for: client, at: now)
        var reply = delivery.reply
        reply.outcome = outcome
        if case .failure = outcome { (reply.isRefreshing, reply.arrivedBytes) = (false, nil) }
        send(.toClient(.reply(reply)), to: client.value, at: now)
        guard !reply.isTerminal, let end = delivery.followUp else { return }
        send(.toClient(.reply(end)), to: client.value, at: now)
    }

    /// The client reads a large result through us: we are the one who lets go of it.
    private mutating func letGo(
        of delivery: PieceDeliveries.Delivery, for client: ClientID, at now: Instant
    ) {
        results.forget(delivery.reference)
        letGo(of: delivery.image, for: client, at: now)
    }

    /// The same of one that never went out.
    mutating func letGo(of image: DeliveredImage, for client: ClientID, at now: Instant) {
        guard let reference = image.reference, ResultReader.isLarge(reference), !image.mustCopy
        else { return }
        handle(.clientReleased(client, [reference.block]), at: now)
    }
}
