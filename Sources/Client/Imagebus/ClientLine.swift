import BusConnection
import EventLoop
import ImageModel
import Linux
import Messages
import SharedArena
import Synchronization
import Wire
import ZeroMQ

/// What callers tell the client's thread.
enum ClientOrder: Sendable {
    case load(LoadRequest, LoadTask)
    case cancel(Token)
    case cancelGroup(GroupID)
    case release(BlockID)
    case status(StatusInquiry)
    case close
}

/// The client's one thread: owns the DEALER, the pending requests and the mapped results.
struct ClientLine: ~Copyable {
    private let orders: Mailbox<ClientOrder>
    private let context: Context
    private var connection: BusConnection
    private let results: ResultReader
    private var encoder = MessageEncoder()
    private var decoder = MessageDecoder()
    private var pending: PendingRequests
    private var tasks: [Token: LoadTask] = [:]
    private var inquiries: [StatusInquiry] = []
    private var outbox: [ClientMessage] = []
    private var releases: [BlockID] = []
    private var isWelcome = false
    private var isClosed = false
    private let incarnation = Incarnation(
        Identifier128(high: Random.uint64(), low: Random.uint64()))

    private static let messagesPerTurn = 512
    /// Milliseconds after which a full queue to the coordinator is tried again.
    private static let retryMilliseconds = 5

    init(_ configuration: ClientConfiguration, orders: Mailbox<ClientOrder>) throws {
        let context = try Context()
        let endpoint = try Endpoint.ipc(path: configuration.endpoint)
        let connection = try BusConnection(
            to: endpoint, in: context, frameBytesMax: MessageLimits.frontFrameBytesMax)
        self.orders = orders
        self.context = context
        self.connection = connection
        results = ResultReader(resultsDirectory: configuration.resultsDirectory)
        pending = PendingRequests(
            connectTimeoutMilliseconds: configuration.connectTimeoutMilliseconds)
    }

    mutating func run() throws {
        var loop = EventLoop(sourcesMax: 3)
        let monitor = loop.add(connection.monitor.socket)
        let bus = loop.add(connection.socket)
        let mailbox = loop.add(descriptor: orders.descriptor)
        while !isClosed {
            let turn = try loop.wait(until: nextDeadline)
            let now = turn.wokenAt
            if turn.ready.contains(monitor) { try drainMonitor(at: now) }
            if turn.ready.contains(bus) { try drainBus(at: now) }
            if turn.ready.contains(mailbox) { drainOrders(at: now) }
            perform(pending.expire(at: now), at: now)
            expireInquiries(at: now)
            try sendOutbox()
        }
    }

    private var nextDeadline: Instant? {
        let retry =
            isWelcome && !outbox.isEmpty
            ? Instant.now().adding(milliseconds: Self.retryMilliseconds) : nil
        return ([pending.nextDeadline, retry] + inquiries.map(\.deadline))
            .compactMap { $0 }.min()
    }

    // MARK: - Sources

    private mutating func drainMonitor(at now: Instant) throws {
        while let event = try connection.nextLinkEvent() {
            switch event {
            case .up: sayHello()
            case .down: endSession(at: now)
            }
        }
    }

    private mutating func drainBus(at now: Instant) throws {
        for _ in 0..<Self.messagesPerTurn {
            guard try connection.receive() else { return }
            guard connection.frameCount == 2,
                let message = try? Self.decode(connection, &decoder)
            else { continue }
            receive(message, at: now)
        }
    }

    private static func decode(
        _ connection: borrowing BusConnection, _ decoder: inout MessageDecoder
    ) throws(WireError) -> ServerMessage {
        let header = try FrameHeader(decoding: connection.frame(0))
        return try decoder.serverMessage(header.kind, connection.frame(1))
    }

    private mutating func receive(_ message: ServerMessage, at now: Instant) {
        switch message {
        case .welcome(let welcome):
            isWelcome = true
            perform(pending.welcomed(welcome, at: now), at: now)
            if !inquiries.isEmpty { outbox.append(.status) }
        case .helloRequired:
            endSession(at: now)
            sayHello()
        case .progress(let progress): perform(pending.progressed(progress), at: now)
        case .reply(let reply):
            if tasks[reply.token] == nil { release(reply) }
            perform(pending.replied(reply), at: now)
        case .status(let report):
            for inquiry in inquiries { inquiry.answer(.success(report)) }
            inquiries.removeAll()
        case .refused(let error, let token):
            perform(pending.refused(error, token, at: now), at: now)
        }
    }

    private mutating func drainOrders(at now: Instant) {
        var waiting: [ClientOrder] = []
        orders.drain(into: &waiting)
        for order in waiting {
            switch order {
            case .load(let request, let task):
                tasks[request.token] = task
                perform(pending.submitted(request, at: now), at: now)
            case .cancel(let token): perform(pending.cancelled(token), at: now)
            case .cancelGroup(let group): perform(pending.cancelledGroup(group), at: now)
            case .release(let block): releases.append(block)
            case .status(let inquiry):
                inquiries.append(inquiry)
                if isWelcome { outbox.append(.status) }
            case .close: close(at: now)
            }
        }
    }

    // MARK: - Session

    private mutating func sayHello() {
        let hello = ClientHello(
            incarnation: incarnation, pid: UInt32(CurrentProcess.processID),
            version: ProductVersion.text)
        outbox = [.hello(hello)]
    }

    /// Releases of blocks go with the session: the coordinator withdraws them itself.
    private mutating func endSession(at now: Instant) {
        isWelcome = false
        outbox.removeAll()
        releases.removeAll()
        perform(pending.sessionEnded(at: now), at: now)
    }

    private mutating func close(at now: Instant) {
        perform(pending.closed(), at: now)
        for inquiry in inquiries { inquiry.answer(.failure(.clientClosed)) }
        isClosed = true
    }

    private mutating func expireInquiries(at now: Instant) {
        for inquiry in inquiries where inquiry.deadline <= now {
            inquiry.answer(.failure(.nobodyAnswers))
        }
        inquiries.removeAll { $0.deadline <= now }
    }

    // MARK: - Actions

    private mutating func perform(_ actions: [PendingRequests.Action], at now: Instant) {
        for action in actions {
            switch action {
            case .send(let message): outbox.append(message)
            case .advance(let progress): tasks[progress.token]?.advance(progress)
            case .fail(let token, let error):
                tasks.removeValue(forKey: token)?.finish(.failure(error))
            case .deliver(let reply): deliver(reply, at: now)
            }
        }
    }

    private mutating func deliver(_ reply: Reply, at now: Instant) {
        let task = tasks[reply.token]
        do throws(ImageError) {
            guard let response = try response(reply) else {
                return perform(pending.foundStale(reply.token, at: now), at: now)
            }
            tasks[reply.token] = nil
            perform(pending.delivered(reply.token, at: now), at: now)
            task?.finish(.success(response))
        } catch {
            if error.code == .stale {
                return perform(pending.foundStale(reply.token, at: now), at: now)
            }
            tasks[reply.token] = nil
            perform(pending.delivered(reply.token, at: now), at: now)
            task?.finish(.failure(error))
        }
    }

    /// The response with its bytes; `nil` where they were reused meanwhile.
    private func response(_ reply: Reply) throws(ImageError) -> ImageResponse? {
        switch reply.outcome {
        case .failure(let error): throw error
        case .miss(let key):
            return ImageResponse(
                status: .miss, info: nil, cacheType: .none, key: key, timings: reply.timings,
                bytes: nil, storedTiers: nil)
        case .image(let image):
            var bytes: ImageBytes?
            if let reference = image.reference {
                bytes = try self.bytes(reference)
                if bytes == nil { return nil }
            }
            return ImageResponse(
                status: .ok, info: image.info, cacheType: image.cacheType, key: image.key,
                timings: reply.timings, bytes: bytes, storedTiers: image.storedTiers)
        }
    }

    private func bytes(_ reference: BlockReference) throws(ImageError) -> ImageBytes? {
        guard ResultReader.isLarge(reference) else {
            return try results.copy(reference).map(ImageBytes.init(copied:))
        }
        guard let memory = try results.map(reference) else { return nil }
        let orders = orders
        return ImageBytes(
            mapped: memory, offset: Int(reference.offset), count: Int(reference.length)
        ) {
            // A full mailbox loses it; the end of the session withdraws it then.
            _ = orders.post(.release(reference.block))
        }
    }

    /// A reply that nobody waits for still made a receiver of us.
    private mutating func release(_ reply: Reply) {
        guard case .image(let image) = reply.outcome, let reference = image.reference,
            ResultReader.isLarge(reference)
        else { return }
        releases.append(reference.block)
    }

    // MARK: - Sending

    private mutating func sendOutbox() throws {
        if !releases.isEmpty, isWelcome {
            for start in stride(from: 0, to: releases.count, by: MessageLimits.idsMax) {
                let end = min(start + MessageLimits.idsMax, releases.count)
                outbox.append(.release(Array(releases[start..<end])))
            }
            releases.removeAll()
        }
        var sent = 0
        while sent < outbox.count {
            guard try transmit(outbox[sent]) else { break }
            sent += 1
        }
        outbox.removeFirst(sent)
    }

    /// Whether libzmq has it. A request that cannot be encoded ends with the reason.
    private mutating func transmit(_ message: ClientMessage) throws -> Bool {
        do {
            let encoded = try encoder.encode(message)
            return try connection.socket.send(encoded, from: encoder) == .sent
        } catch let error as WireError {
            if case .load(let request) = message {
                let now = Instant.now()
                let refusal = ImageError(.invalidRequest, error.imageError.message)
                perform(pending.refused(refusal, request.token, at: now), at: now)
            }
            return true
        }
    }
}
