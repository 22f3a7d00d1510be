import Admission
import Bootstrap
import ImageModel
import Messages
import Observability
import SharedArena

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
