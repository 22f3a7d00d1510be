import BusConnection
import EventLoop
import ImageModel
import Linux
import Messages
import SharedArena
import Wire
import ZeroMQ

// What comes: changes of the connection, messages, orders of callers.
extension ClientLine {
    mutating func drainMonitor(at now: Instant) throws {
        while let event = try connection.nextLinkEvent() {
            switch event {
            case .up: sayHello()
            case .down: endSession(at: now)
            case .unreached: try checkReach()
            case .stranger(let userID):
                throw ImageError(
                    .addressForbidden,
                    "\(configuration.endpoint) is served by user \(userID): nothing was sent there")
            }
        }
    }

    /// Nobody took the first connection. Who is only busy is waited for all the same.
    private borrowing func checkReach() throws(ImageError) {
        guard !configuration.awaitsCoordinator else { return }
        let endpoint = configuration.endpoint
        do throws(Errno) {
            _ = try FileDescriptor.connect(toSocket: endpoint)
        } catch .noSuchFile, .connectionRefused, .notDirectory {
            throw ImageError(
                .unavailable,
                "nobody serves \(endpoint): start a stack there with imagebus serve --runtime-dir, "
                    + "or name another one")
        } catch .accessDenied {
            throw ImageError(
                .unavailable,
                "\(endpoint) may not be used by this user: who is in its group may")
        } catch {}
    }

    mutating func drainBus(at now: Instant) throws {
        var left = messagesPerTurn
        while left > 0 {
            guard try connection.receive() else { return }
            guard connection.frameCount == 2,
                let kind = (try? FrameHeader(decoding: connection.frame(0)))?.kind
            else {
                left -= 1
                continue
            }
            switch kind {
            case .replies: left -= try receiveReplies(at: now)
            default:
                try receiveOne(kind, at: now)
                executor.runWaiting()
                left -= 1
            }
            // No other load is awaited: what comes all the same is found by the next wait.
            if kind == .reply || kind == .replies, pending.isEmpty { return }
        }
    }

    /// Returns how many there were, at least 1.
    ///
    /// Who waits on the line's executor goes on after each one: its bytes are in the processor's
    /// caches then, and once they are let go of, their memory takes the next copy.
    private mutating func receiveReplies(at now: Instant) throws(ImageError) -> Int {
        guard let count = try? connection.openBatch() else { return 1 }
        for place in 0..<count {
            connection.turn(to: place)
            try receiveOne(.reply, at: now)
            executor.runWaiting()
        }
        return count
    }

    private mutating func receiveOne(_ kind: MessageKind, at now: Instant) throws(ImageError) {
        if kind == .reply, let parts = TokenedBody(connection.body),
            let load = pending.load(of: parts.token), load.isSent,
            let answer = replies.answer(parts.rest, to: load)
        {
            return deliver(answer, to: load, at: now)
        }
        guard let message = try Self.understood(kind, connection, &decoder) else { return }
        if case .reply(let reply) = message { Self.keep(reply, connection, &replies, &encoder) }
        receive(message, at: now)
    }

    private static func keep(
        _ reply: Reply, _ connection: borrowing BusConnection, _ replies: inout ReplyMemo,
        _ encoder: inout MessageEncoder
    ) {
        replies.keep(reply, connection.body, &encoder)
    }

    /// `nil` for what is no message. A coordinator of another version is the end: it would answer
    /// nothing else.
    private static func understood(
        _ kind: MessageKind, _ connection: borrowing BusConnection, _ decoder: inout MessageDecoder
    ) throws(ImageError) -> ServerMessage? {
        do throws(WireError) {
            return try decoder.serverMessage(kind, connection.body)
        } catch .versionRefused(let lowest, let highest) {
            throw ImageError(
                .versionMismatch,
                "this client speaks version \(FrameHeader.currentVersion) of the protocol, the "
                    + "coordinator \(lowest) to \(highest): install both of one release")
        } catch {
            return nil
        }
    }

    mutating func receive(_ message: ServerMessage, at now: Instant) {
        switch message {
        case .welcome(let welcome):
            isWelcome = true
            refusal = nil
            loadsMax = min(Int(welcome.loadsMax), MessageLimits.batchMax)
            copies.inUse.forgetAll()
            answers.sessionBegan(welcome, at: configuration.endpoint)
            pieces.sessionBegan(window: Int(welcome.pieceWindow))
            uploads.sessionBegan(window: Int(welcome.pieceWindow))
            perform(pending.welcomed(welcome, at: now), at: now)
            perform(prefetches.welcomed(welcome))
            outbox += inquiries.messages.map { .other($0) }
            inquiries.welcomed(at: now)
        case .helloRequired:
            endSession(at: now)
            sayHello()
        case .progress(let progress): perform(pending.progressed(progress), at: now)
        case .reply(let reply):
            if !isAwaited(reply.token) { release(reply) }
            perform(pending.replied(reply, at: now), at: now)
        case .status, .blacklist, .draining, .cache: inquiries.received(message)
        case .prefetched(let report): perform(prefetches.reported(report))
        case .piece(let piece): receive(piece, at: now)
        case .taken(let count): uploads.taken(count)
        case .refused(let error, let token):
            guard isWelcome || token != nil else { return sessionRefused(error) }
            if token == nil { inquiries.refused(error) }
            perform(pending.refused(error, token, at: now), at: now)
            if let token { perform(prefetches.refused(error, token)) }
        }
    }

    /// There is no place for this client. The coordinator closes the connection some time after,
    /// and the next one says hello again.
    private mutating func sessionRefused(_ error: ImageError) {
        refusal = error
        inquiries.sessionRefused(error)
        perform(pending.sessionRefused(error), at: .now())
    }

    mutating func drainOrders(at now: Instant) {
        commands.orders.take(into: &taken)
        let orders = exchange(&taken, with: [])
        for order in orders {
            if isClosed {
                order.refuse(.clientClosed)
                continue
            }
            switch order {
            case .load(let load): submit(load, at: now)
            case .upload(let load, let bytes): submit(load, uploading: bytes, at: now)
            case .cancel(let token):
                perform(pending.cancelled(token), at: now)
                perform(prefetches.cancelled(token))
            case .prefetch(let order, let task): submit(order, task, at: now)
            case .reprioritise(let token, let priority):
                perform(pending.reprioritised(token, priority), at: now)
                perform(prefetches.reprioritised(token, priority))
            case .reprioritiseGroup(let group, let priority):
                perform(pending.reprioritised(group, priority), at: now)
            case .cancelGroup(let group): perform(pending.cancelledGroup(group), at: now)
            case .release(let block): releases.append(block)
            case .ask(let inquiry):
                inquiries.append(inquiry, isSaid: isWelcome, at: now)
                if isWelcome { outbox.append(.other(inquiry.message)) }
            case .cancelAny(let token): outbox.append(.other(.cancel(token)))
            case .cancelGroupOfAny(let group): outbox.append(.other(.cancelGroup(group)))
            case .tellUsed: expectUsed(at: now)
            case .close: close(at: now)
            case .endWhenIdle: endsWhenIdle = true
            }
        }
        // What is asked after the refusal has the same answer as what was asked before.
        if let refusal { inquiries.sessionRefused(refusal) }
        taken = orders
        taken.removeAll(keepingCapacity: true)
    }

    mutating func sayHello() {
        let hello = ClientHello(
            incarnation: incarnation, pid: UInt32(CurrentProcess.processID),
            version: ProductVersion.text,
            wantsPieces: configuration.delivery.wantsPieces(
                resultsDirectory: configuration.resultsDirectory),
            secret: AdminSecret.beside(configuration.endpoint), front: configuration.front,
            takesBatches: true)
        outbox = [.other(.hello(hello))]
    }

    /// Releases of blocks go with the session: the coordinator withdraws them itself.
    mutating func endSession(at now: Instant) {
        if isWelcome { inquiries.sessionEnded(at: now) }
        isWelcome = false
        refusal = nil
        answers.sessionEnded()
        answers.uses.drop()
        usedDue = nil
        outbox.removeAll()
        releases.removeAll()
        pieces.sessionEnded()
        uploads.sessionEnded()
        perform(pending.sessionEnded(at: now), at: now)
        perform(prefetches.sessionEnded(at: now))
    }

    mutating func close(at now: Instant) {
        perform(pending.closed(), at: now)
        perform(prefetches.closed())
        inquiries.close()
        answers.close()
        if isWelcome {
            tellUsed()
            outbox.append(.other(.goodbye))
        }
        isClosed = true
    }
}
