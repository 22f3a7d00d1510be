import Linux
import Model
import ProcessRuntime
import Wire
import ZeroMQ

// Handling link events, messages and commands.
extension ClientConnection {
    mutating func drainMonitor(at now: Instant) throws {
        while let event = try connection.nextLinkEvent() {
            switch event {
            case .up: sendHello()
            case .down: endSession(at: now)
            case .unreached: try checkReach()
            case .untrustedServer(let userID):
                throw ImageError(
                    .addressForbidden,
                    "\(configuration.endpoint) is served by user \(userID): nothing was sent there")
            }
        }
    }

    /// Checks why the first connection was not accepted and throws if nothing listens on the
    /// endpoint. A coordinator that is merely busy is waited for.
    private borrowing func checkReach() throws(ImageError) {
        guard !configuration.awaitsCoordinator else { return }
        let endpoint = configuration.endpoint
        do throws(Errno) {
            _ = try FileDescriptor.connect(toSocket: endpoint)
        } catch .noSuchFile, .connectionRefused, .notDirectory {
            throw ImageError(
                .unavailable,
                advising: "no coordinator serves \(endpoint): start a stack there with imagebus "
                    + "serve --runtime-dir, or specify another one")
        } catch .accessDenied {
            throw ImageError(
                .unavailable,
                advising: "permission denied for \(endpoint): join the group of the socket")
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
            // No other load is pending. If anything else arrives, the next wait finds it.
            if kind == .reply || kind == .replies, pending.isEmpty { return }
        }
    }

    /// Returns the number of replies, at least 1.
    ///
    /// Tasks on the connection's executor run after each reply. Its bytes are then still in the
    /// processor's caches, and once they are released, their memory is reused for the next copy.
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

    /// Returns `nil` for a message that cannot be decoded. Throws for a coordinator with an
    /// incompatible version, because it would not send anything else.
    private static func understood(
        _ kind: MessageKind, _ connection: borrowing BusConnection, _ decoder: inout MessageDecoder
    ) throws(ImageError) -> ServerMessage? {
        do throws(WireError) {
            return try decoder.serverMessage(kind, connection.body)
        } catch .versionRefused(let lowest, let highest) {
            throw ImageError(
                .versionMismatch,
                "this client uses protocol version \(FrameHeader.currentVersion), the coordinator "
                    + "\(lowest) to \(highest): install both from the same release")
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
            chunks.sessionBegan(window: Int(welcome.chunkWindow))
            uploads.sessionBegan(window: Int(welcome.chunkWindow))
            perform(pending.welcomed(welcome, at: now), at: now)
            prefetches.welcomed(welcome)
            outbox += inquiries.messages.map { .other($0) }
            inquiries.welcomed(at: now)
        case .helloRequired:
            endSession(at: now)
            sendHello()
        case .progress(let progress): perform(pending.progressed(progress), at: now)
        case .reply(let reply):
            if !isAwaited(reply.token) { release(reply) }
            perform(pending.replied(reply, at: now), at: now)
        case .status, .failureCache, .draining, .cache: inquiries.received(message)
        case .prefetched(let report): prefetches.reported(report)
        case .chunk(let chunk): receive(chunk, at: now)
        case .taken(let count): uploads.acknowledged(count)
        case .refused(let error, let token):
            guard isWelcome || token != nil else { return sessionRefused(error) }
            if token == nil { inquiries.refused(error) }
            perform(pending.refused(error, token, at: now), at: now)
            if let token { prefetches.refused(error, token) }
        }
    }

    /// Handles the coordinator's refusal of a session. The coordinator closes the connection later,
    /// and the client introduces itself again after reconnecting.
    private mutating func sessionRefused(_ error: ImageError) {
        refusal = error
        inquiries.sessionRefused(error)
        perform(pending.sessionRefused(error), at: .now())
    }

    mutating func drainCommands(at now: Instant) {
        commands.queue.removeAll(into: &taken)
        let pendingCommands = exchange(&taken, with: [])
        for command in pendingCommands {
            if isClosed {
                command.refuse(.clientClosed)
                continue
            }
            switch command {
            case .load(let load): perform(pending.submitted(load, at: now), at: now)
            case .cancel(let token):
                perform(pending.cancelled(token), at: now)
                send(prefetches.cancelled(token))
            case .prefetch(let command): prefetches.submitted(command, at: now)
            case .reprioritize(let token, let priority):
                perform(pending.reprioritized(token, priority), at: now)
                send(prefetches.reprioritized(token, priority))
            case .reprioritizeGroup(let group, let priority):
                perform(pending.reprioritized(group, priority), at: now)
            case .cancelGroup(let group): perform(pending.cancelledGroup(group), at: now)
            case .release(let block): releases.append(block)
            case .ask(let inquiry):
                inquiries.append(inquiry, isSent: isWelcome, at: now)
                if isWelcome { outbox.append(.other(inquiry.message)) }
            case .send(let message): send(message)
            case .notifyUsed: expectUsed(at: now)
            case .close: close(at: now)
            case .endWhenIdle: endsWhenIdle = true
            }
        }
        // Inquiries made after the refusal fail in the same way as those made before it.
        if let refusal { inquiries.sessionRefused(refusal) }
        taken = pendingCommands
        taken.removeAll(keepingCapacity: true)
    }

    /// Queues a message.
    mutating func send(_ message: ClientMessage?) {
        if let message { outbox.append(.other(message)) }
    }

    mutating func sendHello() {
        let hello = ClientHello(
            incarnation: incarnation, pid: UInt32(CurrentProcess.processID),
            version: ProductVersion.text,
            wantsChunks: configuration.delivery.wantsChunks(
                resultsDirectory: configuration.resultsDirectory),
            secret: AdminSecret.beside(configuration.endpoint), front: configuration.front,
            takesBatches: true)
        outbox = [.other(.hello(hello))]
    }

    /// Pending block releases end with the session; the coordinator releases the blocks itself.
    mutating func endSession(at now: Instant) {
        if isWelcome { inquiries.sessionEnded(at: now) }
        isWelcome = false
        refusal = nil
        answers.sessionEnded()
        answers.uses.drop()
        usedDue = nil
        outbox.removeAll()
        releases.removeAll()
        chunks.sessionEnded()
        uploads.sessionEnded()
        perform(pending.sessionEnded(at: now), at: now)
        prefetches.sessionEnded(at: now)
    }

    mutating func close(at now: Instant) {
        perform(pending.closed(), at: now)
        prefetches.closed()
        inquiries.close()
        answers.close()
        if isWelcome {
            notifyUsed()
            outbox.append(.other(.goodbye))
        }
        isClosed = true
    }
}

// Sending queued messages in order.
extension ClientConnection {
    mutating func sendOutbox() throws {
        if !releases.isEmpty, isWelcome {
            for start in stride(from: 0, to: releases.count, by: MessageLimits.idsMax) {
                let end = min(start + MessageLimits.idsMax, releases.count)
                outbox.append(.other(.release(Array(releases[start..<end]))))
            }
            releases.removeAll()
        }
        var sent = 0
        while sent < outbox.count {
            let count = try transmitLoads(from: sent)
            if count > 0 {
                sent += count
            } else {
                guard try transmit(outbox[sent]) else { break }
                sent += 1
            }
        }
        outbox.removeFirst(sent)
        pending.flushed()
        if outbox.isEmpty { try sendUploads() }
        if outbox.isEmpty { try sendPrefetches() }
    }

    /// Sends consecutive loads as one message, at most half of what is in flight. If all were sent
    /// together, client and coordinator would work alternately instead of in parallel. Returns the
    /// number of loads passed to libzmq; 0 if fewer than two of them fit.
    private mutating func transmitLoads(from first: Int) throws(ZMQError) -> Int {
        let most = min(loadsMax, messagesPerTurn)
        guard most > 1, first + 1 < outbox.count, outbox[first].isLoad,
            outbox[first + 1].isLoad
        else { return 0 }
        leavingLoads.removeAll()
        for place in first..<min(first + most, outbox.count) {
            guard case .load(let load) = outbox[place],
                let rest = try? loads.rest(of: load, &encoder),
                leavingLoads.add(load.token, rest.span.bytes)
            else { break }
        }
        guard leavingLoads.count > 1 else { return 0 }
        return try Self.send(&leavingLoads, connection) ? leavingLoads.count : 0
    }

    private static func send(
        _ batch: inout BatchWriter, _ connection: borrowing BusConnection
    ) throws(ZMQError) -> Bool {
        try batch.withMessage { (byteCount, fill) throws(ZMQError) in
            try connection.socket.send(.loads, byteCount: byteCount, fill: fill) == .sent
        }
    }

    /// Returns whether libzmq accepted the message.
    private mutating func transmit(_ message: OutgoingMessage) throws -> Bool {
        switch message {
        case .load(let load): try transmit(load)
        case .other(let message): try transmitOne(message)
        }
    }

    private mutating func transmit(_ load: PendingLoad) throws(ZMQError) -> Bool {
        let rest: [UInt8]
        do throws(WireError) {
            rest = try loads.rest(of: load, &encoder)
        } catch {
            refuse(load.token, error)
            return true
        }
        let byteCount = TokenedBody.restOffset + rest.count
        return try connection.socket.send(.load, byteCount: byteCount) { frame in
            rest.withUnsafeBytes { TokenedBody.write(load.token, $0, into: frame) }
        } == .sent
    }

    /// Returns whether libzmq accepted the message. A load that cannot be encoded ends with the
    /// error.
    mutating func transmitOne(_ message: ClientMessage) throws -> Bool {
        do {
            let encoded = try encoder.encode(message)
            return try connection.socket.send(encoded, from: encoder) == .sent
        } catch let error as WireError {
            if case .load(let request) = message { refuse(request.token, error) }
            return true
        }
    }

    private mutating func refuse(_ token: Token, _ error: WireError) {
        let now = Instant.now()
        let refusal = ImageError(.invalidRequest, error.imageError.message)
        perform(pending.refused(refusal, token, at: now), at: now)
    }
}

/// Encoded loads without their tokens, so that repeated loads of the same image need neither be
/// encoded nor have their replies decoded again. Without it, the rate of hits by message would be
/// 0.66 ×. Bounded: a newer load replaces an older one.
struct LoadMemo {
    private var entries = SetAssociativeCache<RememberedLoad>(bits: 14)
    private static let bytesMax = 1_024

    /// Returns the encoded load without its token, from the memo or newly encoded.
    mutating func rest(
        of load: PendingLoad, _ encoder: inout MessageEncoder
    ) throws(WireError) -> [UInt8] {
        // A load with a log context is rarely repeated.
        let isPlain = load.logContext.isEmpty
        if isPlain, let known = entries.find(load.hash, where: { $0.isSent(like: load) }) {
            load.remembered = known
            return known.rest
        }
        load.remembered = nil
        _ = try encoder.encode(.load(load.message))
        let rest = Array(encoder.packed().dropFirst(TokenedBody.restOffset))
        if isPlain, rest.count <= Self.bytesMax {
            let entry = RememberedLoad(load, rest: rest)
            entries.enter(entry, load.hash) { $0.isSent(like: load) }
            load.remembered = entry
        }
        return rest
    }
}

/// A load that was encoded before, without its token, together with its most recent answer. A
/// repeated load is encoded only once, and its hits are decoded only once.
final class RememberedLoad {
    private let hash: Int
    private let image: ImageRequest
    private let slot: String?
    private let loadOptions: LoadOptions
    private let millisecondsLeft: Int
    /// The encoded message after the token.
    let rest: [UInt8]
    /// The most recent answer from the memory tier.
    var answer: ReplyMemo.Answer?

    init(_ load: PendingLoad, rest: [UInt8]) {
        (hash, image, slot, loadOptions) = (load.hash, load.image, load.slot, load.loadOptions)
        (millisecondsLeft, self.rest) = (load.millisecondsLeft, rest)
    }

    /// Whether the load would be encoded identically.
    func isSent(like load: PendingLoad) -> Bool {
        hash == load.hash && millisecondsLeft == load.millisecondsLeft
            && image == load.image && slot == load.slot && loadOptions == load.loadOptions
    }
}

/// Decoded replies of cache hits. Replies for one image differ only in the token. Without it, the
/// rate of hits by message would be 0.53 ×.
struct ReplyMemo {
    typealias Answer = RestMemo<ImageAccount>.Entry

    private var answers = RestMemo<ImageAccount>(bits: 14, restBytesMax: 1_024)

    /// Returns the answer for a reply with these bytes after the token, if it was decoded before.
    /// If the load's previous reply was the same, no hash is computed.
    func answer(_ rest: RawSpan, to load: PendingLoad) -> ImageAccount? {
        if let last = load.remembered?.answer, last.isOf(rest) { return last.value }
        guard let known = answers.entry(for: rest) else { return nil }
        load.remembered?.answer = known
        return known.value
    }

    /// Remembers the reply of a cache hit, provided it is canonical: identical byte for byte to the
    /// output of `encoder`.
    mutating func keep(_ reply: Reply, _ body: RawSpan, _ encoder: inout MessageEncoder) {
        guard case .image(let image) = reply.outcome, image.cacheType == .memory,
            reply.timings == StageTimings(), reply.isTerminal, let parts = TokenedBody(body),
            (try? encoder.encode(.reply(reply))) != nil,
            body.withUnsafeBytes({ $0.elementsEqual(encoder.packed()) })
        else { return }
        answers.keep(ImageAccount(of: image, reply.timings), for: parts.rest)
    }
}
