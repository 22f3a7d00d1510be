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
            }
        }
    }

    mutating func drainBus(at now: Instant) throws {
        for _ in 0..<messagesPerTurn {
            guard try connection.receive() else { return }
            guard connection.frameCount == 2 else { continue }
            if let reply = knownReply() {
                receive(.reply(reply), at: now)
                // Nothing else is awaited: what comes all the same is found by the next wait.
                if pending.isEmpty { return }
                continue
            }
            guard let message = try? Self.decode(connection, &decoder) else { continue }
            if case .reply(let reply) = message {
                Self.keep(reply, connection, &replies, &encoder)
            }
            receive(message, at: now)
        }
    }

    private static func keep(
        _ reply: Reply, _ connection: borrowing BusConnection, _ replies: inout ReplyMemo,
        _ encoder: inout MessageEncoder
    ) {
        replies.keep(reply, connection.frame(1), &encoder)
    }

    /// A reply of which one with another token was read before.
    private borrowing func knownReply() -> Reply? {
        guard (try? FrameHeader(decoding: connection.frame(0)))?.kind == .reply else { return nil }
        return replies.reply(connection.frame(1))
    }

    private static func decode(
        _ connection: borrowing BusConnection, _ decoder: inout MessageDecoder
    ) throws(WireError) -> ServerMessage {
        let header = try FrameHeader(decoding: connection.frame(0))
        return try decoder.serverMessage(header.kind, connection.frame(1))
    }

    mutating func receive(_ message: ServerMessage, at now: Instant) {
        switch message {
        case .welcome(let welcome):
            isWelcome = true
            pieces.sessionBegan(window: Int(welcome.pieceWindow))
            uploads.sessionBegan(window: Int(welcome.pieceWindow))
            perform(pending.welcomed(welcome, at: now), at: now)
            if !inquiries.isEmpty { outbox.append(.status) }
            outbox += commands.map { .blacklist($0.command) } + drains.map { .drain($0.kind) }
        case .helloRequired:
            endSession(at: now)
            sayHello()
        case .progress(let progress): perform(pending.progressed(progress), at: now)
        case .reply(let reply):
            if tasks[reply.token] == nil { release(reply) }
            perform(pending.replied(reply, at: now), at: now)
        case .status(let report):
            for inquiry in inquiries { inquiry.answer(.success(report)) }
            inquiries.removeAll()
        case .blacklist(let report):
            if !commands.isEmpty { commands.removeFirst().inquiry.answer(.success(report)) }
        case .draining(let processes):
            if !drains.isEmpty { drains.removeFirst().inquiry.answer(.success(processes)) }
        // Of a batch that has ended here.
        case .prefetched: break
        case .piece(let piece): receive(piece, at: now)
        case .taken(let count): uploads.taken(count)
        case .refused(let error, let token):
            if token == nil { refuseOldest(error) }
            perform(pending.refused(error, token, at: now), at: now)
        }
    }

    /// On `front/` every command is refused.
    private mutating func refuseOldest(_ error: ImageError) {
        if !commands.isEmpty {
            commands.removeFirst().inquiry.answer(.failure(error))
        } else if !drains.isEmpty {
            drains.removeFirst().inquiry.answer(.failure(error))
        }
    }

    mutating func drainOrders(at now: Instant) {
        desk.orders.take(into: &taken)
        let orders = exchange(&taken, with: [])
        for order in orders {
            switch order {
            case .load(let request, let task):
                submit(request, task, at: now)
            case .upload(let request, let task, let bytes):
                submit(request, task, uploading: bytes, at: now)
            case .cancel(let token): perform(pending.cancelled(token), at: now)
            case .cancelGroup(let group): perform(pending.cancelledGroup(group), at: now)
            case .release(let block): releases.append(block)
            case .status(let inquiry):
                inquiries.append(inquiry)
                if isWelcome { outbox.append(.status) }
            case .cancelAny(let token): outbox.append(.cancel(token))
            case .cancelGroupOfAny(let group): outbox.append(.cancelGroup(group))
            case .blacklist(let command, let inquiry):
                commands.append((command, inquiry))
                if isWelcome { outbox.append(.blacklist(command)) }
            case .drain(let kind, let inquiry):
                drains.append((kind, inquiry))
                if isWelcome { outbox.append(.drain(kind)) }
            case .close: close(at: now)
            }
        }
        taken = orders
        taken.removeAll(keepingCapacity: true)
    }

    mutating func sayHello() {
        let hello = ClientHello(
            incarnation: incarnation, pid: UInt32(CurrentProcess.processID),
            version: ProductVersion.text,
            wantsPieces: configuration.delivery.wantsPieces(
                resultsDirectory: configuration.resultsDirectory))
        outbox = [.hello(hello)]
    }

    /// Releases of blocks go with the session: the coordinator withdraws them itself.
    mutating func endSession(at now: Instant) {
        if isWelcome {
            for drain in drains { drain.inquiry.answer(.failure(.nobodyAnswers)) }
            drains.removeAll()
        }
        isWelcome = false
        outbox.removeAll()
        releases.removeAll()
        pieces.sessionEnded()
        uploads.sessionEnded()
        perform(pending.sessionEnded(at: now), at: now)
    }

    mutating func close(at now: Instant) {
        perform(pending.closed(), at: now)
        for inquiry in inquiries { inquiry.answer(.failure(.clientClosed)) }
        for command in commands { command.inquiry.answer(.failure(.clientClosed)) }
        for drain in drains { drain.inquiry.answer(.failure(.clientClosed)) }
        if isWelcome { outbox.append(.goodbye) }
        isClosed = true
    }

    mutating func expireInquiries(at now: Instant) {
        for inquiry in inquiries where inquiry.deadline <= now {
            inquiry.answer(.failure(.nobodyAnswers))
        }
        inquiries.removeAll { $0.deadline <= now }
        for command in commands where command.inquiry.deadline <= now {
            command.inquiry.answer(.failure(.nobodyAnswers))
        }
        commands.removeAll { $0.inquiry.deadline <= now }
        for drain in drains where drain.inquiry.deadline <= now {
            drain.inquiry.answer(.failure(.nobodyAnswers))
        }
        drains.removeAll { $0.inquiry.deadline <= now }
    }
}
