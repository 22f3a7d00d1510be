import Linux
import Model
import ProcessRuntime
import Wire
import ZeroMQ

extension Coordinator {
    /// Handles the message that `socket` has just received. Returns its weight in the budget of a
    /// turn, which is the number of its loads if it is a batch, and whether it was a hit that was
    /// answered on the fast path.
    mutating func receive(from socket: ListenerSocket) throws -> (weight: Int, isHit: Bool) {
        guard let sender = socket.frames.sender else {
            counters.malformedMessages += 1
            return (1, false)
        }
        socket.sender = sender
        var kind: MessageKind?
        do throws(WireError) {
            let header = try socket.frames.header()
            kind = header.kind
            switch socket.listener {
            case .front, .web, .admin:
                defer { sendAnswers(socket) }
                if header.kind == .load, answerAgain(socket) { return (1, true) }
                if header.kind == .loads {
                    return (try receiveLoads(socket), false)
                }
                try receive(header.kind, socket)
            case .back:
                let message = try socket.frames.workerMessage(header.kind, &decoder)
                try receive(message, socket)
            }
        } catch {
            guard case .unsupportedVersion = error else {
                refuse(error, kind, socket)
                return (1, false)
            }
            logMalformed(error, socket)
            try socket.refuseVersion(of: sender)
        }
        return (1, false)
    }

    /// Decodes and handles a client's message of this kind on the regular path.
    mutating func receive(_ kind: MessageKind, _ socket: ListenerSocket) throws(WireError) {
        let message = try socket.frames.clientMessage(kind, &decoder)
        try receive(message, socket)
    }

    mutating func refuse(_ error: WireError, _ kind: MessageKind?, _ socket: ListenerSocket) {
        logMalformed(error, socket)
        guard let id = session(at: socket) else {
            return refuseUnknown(error, socket)
        }
        switch socket.listener {
        case .front, .web, .admin:
            let token = Self.token(of: error)
            send(.toClient(.refused(error.imageError, token)), to: id)
            if kind == .prefetch, let token {
                handle(.prefetchRefused(ClientID(id), token))
            }
        case .back:
            expel(id, error.imageError)
        }
    }

    /// Logs a malformed message, with a rate limit so that a faulty peer can't fill the disk.
    private mutating func logMalformed(_ error: WireError, _ socket: ListenerSocket) {
        counters.malformedMessages += 1
        logRefused(
            "message refused",
            ["listener": .string(socket.listener.name), "error": .string("\(error)")])
    }

    private mutating func logRefused(_ sentence: String, _ fields: Log.Fields) {
        guard case .write(let leftOut) = refusalLines.admit(at: now.nanoseconds) else { return }
        if leftOut > 0 {
            bootstrap.log.warning(
                "log lines of refused messages dropped", ["count": LogValue(leftOut)])
        }
        bootstrap.log.warning(sentence, fields)
    }

    /// Rejects an incompatible peer, without guarantee of delivery.
    private mutating func refuseUnknown(_ error: WireError, _ socket: ListenerSocket) {
        // Never answer a version rejection, so that two peers can't answer each other forever.
        if case .versionRefused = error { return }
        notify(socket.listener.refusal(error.imageError, Self.token(of: error)), socket)
    }

    static func token(of error: WireError) -> Token? {
        if case .field(_, let token) = error { token } else { nil }
    }

    // MARK: - Clients

    private mutating func receive(
        _ message: ClientMessage, _ socket: ListenerSocket
    ) throws(WireError) {
        if case .hello(let hello) = message {
            return welcome(hello, socket)
        }
        guard let id = session(at: socket) else {
            if case .goodbye = message, partings.remove(socket.sender) != nil { return }
            // Memory hits that the client used before it disconnected still count.
            if case .used(let used) = message, partings.contains(socket.sender) {
                return handle(.used(used))
            }
            return notify(.toClient(.helloRequired), socket)
        }
        let client = ClientID(id)
        if !replacementAskers.isEmpty { replacementAskers.remove(id) }
        if socket.listener == .web { try RestrictedFront.check(message) }
        switch message {
        case .hello: return
        case .load(let request):
            leaveSlot(for: request, of: client)
            if request.uploadBytes > 0, mayUpload(request, socket) {
                return beginUpload(request, for: id)
            }
            load(request, for: id, socket)
        case .cancel(let token):
            cancelChunks(by: client, socket) { $0.token == token }
            handle(socket.listener == .admin ? .cancelAny(token) : .cancel(client, token))
        case .cancelGroup(let group):
            let isAny = socket.listener == .admin
            cancelChunks(by: client, socket) { $0.group == group }
            handle(isAny ? .cancelGroupOfAny(group) : .cancelGroup(client, group))
        case .release(let blocks): handle(.clientReleased(client, blocks))
        case .status: send(.toClient(.status(report())), to: id)
        case .goodbye: peers[id]?.isLeaving = true
        case .failureCache(let command):
            guard socket.listener == .admin else {
                throw .unexpectedKind(.failureCacheCommand)
            }
            handle(.failureCache(client, command))
        case .drain(let kind, let pool):
            guard socket.listener == .admin else { throw .unexpectedKind(.drainCommand) }
            drain(kind, pool, for: id)
        case .cache(let command) where socket.listener == .web:
            entry(restricted: command, of: client)
        case .cache(let command):
            guard socket.listener == .admin else { throw .unexpectedKind(.cacheCommand) }
            entry(command, of: client)
        case .downloads(let command):
            guard socket.listener == .admin else { throw .unexpectedKind(.downloadsCommand) }
            handle(.downloads(command))
            send(.toClient(.status(report())), to: id)
        case .reprioritize(let token, let priority):
            handle(.reprioritize(client, token, priority))
        case .reprioritizeGroup(let group, let priority):
            handle(.reprioritizeGroup(client, group, priority))
        case .prefetch(let request): prefetch(request, for: client)
        case .chunk(let chunk): receive(chunk, for: id)
        case .used(let used): handle(.used(used))
        case .taken(let bytes): acknowledged(bytes, by: client)
        }
    }

    /// Returns whether the client may upload; if not, the load is rejected.
    private func mayUpload(_ load: LoadRequest, _ socket: ListenerSocket) -> Bool {
        let permitted = configuration.untrustedPermission
        return socket.listener != .web || (try? RestrictedFront.check(load, permitted)) != nil
    }

    /// Cancels chunked deliveries and uploads; operators can cancel those of all clients.
    private mutating func cancelChunks(
        by client: ClientID, _ socket: ListenerSocket, where isMeant: (LoadRequest) -> Bool
    ) {
        let meant = socket.listener == .admin ? peers.clients : [client]
        for client in meant { cancelChunks(of: client, where: isMeant) }
    }

    /// Makes the processes of a kind, or of one of its pools, finish their jobs and exit; their
    /// supervisors start replacements.
    private mutating func drain(_ kind: WorkerKind, _ pool: PoolName?, for operator: UInt64) {
        let isThere = pools.workers.contains { pools[$0].name == pool && pools[$0].kind == kind }
        if let pool, !isThere {
            let error = ImageError(
                .invalidRequest, "no pool '\(pool)' of \(kind.name) workers exists")
            return send(.toClient(.refused(error, nil)), to: `operator`)
        }
        if kind == .coordinator, !mayBeReplaced(by: `operator`) { return }
        let notified = peers.all.filter { peer in
            guard case .worker(let id, _) = peer.role else { return false }
            let isMeant = pool.map { $0 == pools[id].name } ?? true
            return isMeant && pools[id].kind == kind && !peer.isLeaving
        }
        for peer in notified {
            send(.toWorker(.drain), to: peer.id)
            // The worker gets no jobs from now on, not only after its goodbye, and the status shows
            // it as draining.
            peers[peer.id]?.isLeaving = true
            handle(.workerDraining(WorkerID(peer.id)))
        }
        if kind == .coordinator {
            replacementAskers.insert(`operator`)
            notifyShutdown(.replacementRequested)
        }
        // The answer is sent after the change took effect: no client repeats answers of this
        // coordinator any more.
        let count = kind == .coordinator ? 1 : UInt32(notified.count)
        send(.toClient(.draining(count)), to: `operator`)
    }

    private mutating func welcome(_ hello: ClientHello, _ socket: ListenerSocket) {
        var hello = hello
        guard isLetIn(hello.secret.take(), socket),
            let id = begin(.client(hello), socket)
        else { return }
        let joined = SchedulerEvent.clientJoined(
            ClientID(id), hello.incarnation, process: peers[id]?.process)
        handle(joined)
        let window = UInt32(MessageLimits.windowMax)
        let welcome = ClientWelcome(
            epoch: epoch, window: window, chunkWindow: UInt32(MessageLimits.chunkWindowBytes),
            voucherWords: socket.listener.isOfClients ? UInt32(vouchers.words) : 0,
            clock: .now(), loadsMax: UInt32(MessageLimits.batchMax))
        send(.toClient(.welcome(welcome)), to: id)
    }

    // MARK: - Workers

    private mutating func receive(
        _ message: WorkerMessage, _ socket: ListenerSocket
    ) throws(WireError) {
        if case .hello(let hello) = message {
            return welcome(hello, socket)
        }
        guard let id = session(at: socket) else {
            return notify(.toWorker(.helloRequired), socket)
        }
        let worker = WorkerID(id)
        switch message {
        case .hello: return
        case .credit(let count): handle(.credit(worker, count))
        case .segmentsOpened(let segments): handle(.segmentsOpened(worker, segments))
        case .segmentsClosed(let segments): handle(.segmentsClosed(worker, segments))
        case .progress(let progress): handle(.progress(worker, progress))
        case .outcome(let outcome): handle(.outcome(worker, outcome))
        case .stored(let notice): handle(.stored(worker, notice))
        case .evicted(let blocks): handle(.evicted(worker, blocks))
        case .cacheStatus(let status):
            guard case .worker(PoolID(.cache), _) = peers[id]?.role else {
                throw .unexpectedKind(.cacheStatus)
            }
            peers[id]?.cacheStatus = status
        case .goodbye(let reason):
            bootstrap.log.info(
                "worker is leaving",
                ["listener": .string(socket.listener.name), "reason": .string("\(reason)")])
            peers[id]?.isLeaving = true
            handle(.workerDraining(worker))
        }
    }

    private mutating func welcome(_ hello: WorkerHello, _ socket: ListenerSocket) {
        var hello = hello
        guard case .back(let name) = socket.listener, let pool = pools.id(of: name),
            isLetIn(hello.secret.take(), socket),
            let id = begin(.worker(pool, hello), socket)
        else { return }
        logExcess(of: hello, in: pools[pool])
        send(.toWorker(.welcome(WorkerWelcome(epoch: epoch))), to: id)
        // Sent before its first job, even if nothing is configured, because a previous coordinator
        // may have sent other settings.
        sendSettings(to: id, of: pool)
        let joined = SchedulerEvent.workerJoined(
            WorkerID(id), kind: pools[pool].kind, incarnation: hello.incarnation,
            credit: hello.credit, pool: pool, capabilities: hello.capabilities)
        handle(joined)
        notifyShutdown(.workerJoined)
    }

    /// Logs capabilities of a worker that its pool isn't granted and that it therefore never uses.
    private mutating func logExcess(of hello: WorkerHello, in pool: WorkerPool) {
        let excess = hello.capabilities.excess(over: pool.grant)
        guard !excess.isEmpty else { return }
        logRefused(
            "worker supports more than its pool is granted",
            [
                "pool": .string("\(pool.name)"), "pid": LogValue(UInt64(hello.pid)),
                "notGranted": .string(excess.joined(separator: ", ")),
            ])
    }

    // MARK: - Sessions

    /// The session of the last message's sender, if it has one.
    func session(at socket: ListenerSocket) -> UInt64? {
        peers.id(at: socket.listener, socket.sender)
    }

    /// Returns whether a hello presents its listener's secret; the secret is not stored. A rejected
    /// peer is answered, and its connection is closed like one that never says hello.
    private mutating func isLetIn(_ shown: ListenerSecret?, _ socket: ListenerSocket) -> Bool {
        guard let error = authenticator.refusal(of: shown, at: socket.listener) else {
            return true
        }
        logRefused(
            "hello without the secret of its listener refused",
            ["listener": .string(socket.listener.name)])
        notify(socket.listener.refusal(error), socket)
        return false
    }

    /// Begins a session for a `Hello`. A second one on the same connection replaces the first; a
    /// hello from a connection that has closed by now is ignored.
    private mutating func begin(_ role: Peer.Role, _ socket: ListenerSocket) -> UInt64? {
        // The connection may be newer than the last look at the monitor, whose event always
        // precedes its first message.
        drainMonitor(socket)
        guard let connection = socket.connection else {
            bootstrap.log.debug(
                "hello arrived after its connection closed",
                ["listener": .string(socket.listener.name)])
            return nil
        }
        // Descriptor numbers are reused immediately, and a connection has only one session.
        if let older = peers.id(at: socket.listener, connection) { end(older) }
        if let older = session(at: socket) { end(older) }
        let process = socket.connections.process(of: connection)
        if case .worker(_, let hello) = role,
            !makeWay(for: process, hello, at: socket.listener)
        {
            return nil
        }
        if let refusal = socket.beginSession(connection) {
            // The connection is closed some time later, so that the answer arrives.
            notify(socket.listener.refusal(refusal), socket)
            return nil
        }
        return peers.insert(
            listener: socket.listener, routing: socket.sender, connection: connection, role: role,
            process: process)
    }

    /// Returns whether a worker may have a session; an earlier session of the same process ends.
    private mutating func makeWay(
        for process: ProcessID?, _ hello: WorkerHello, at listener: Listener
    ) -> Bool {
        switch peers.workers.admit(process, hello.incarnation, at: listener) {
        case .welcome(let older):
            if let older { end(older) }
            return true
        case .refuse:
            logRefused(
                "worker refused: another one has the same incarnation, or too many workers of "
                    + "other PID namespaces are connected",
                ["listener": .string(listener.name), "pid": LogValue(UInt64(hello.pid))])
            return false
        }
    }

    /// Sends a message to a peer without a session, without guarantee of delivery: further messages
    /// are answered again.
    mutating func notify(_ message: Outbox.Message, _ socket: ListenerSocket) {
        guard let encoded = try? encode(message) else { return }
        _ = try? socket.send(encoded, from: encoder, to: socket.sender)
    }

    /// Ends a session and withdraws its requests.
    mutating func end(_ id: UInt64) {
        guard let peer = peers.remove(id) else { return }
        let socket = listenerSockets.first { $0.listener == peer.listener }
        socket?.connections.endSession(peer.connection, at: now)
        watchSilentConnections(of: socket)
        switch peer.role {
        case .client:
            deliveries.leave(ClientID(id))
            uploads.leave(ClientID(id))
            leaving.append(id)
        case .worker(let pool, let hello):
            _ = releases.removeAll(of: WorkerID(id))
            let crash = crashRecord(of: pools[pool], hello)
            handle(.workerLeft(WorkerID(id), crash))
        }
    }

    /// Returns the recorded cause of a worker's death, if any.
    private func crashRecord(of pool: WorkerPool, _ hello: WorkerHello) -> CrashRecord? {
        let reader = ControlReader(directory: bootstrap.paths.controlDirectory(pool.name))
        guard let crash = reader.crashRecord(of: hello.incarnation) else { return nil }
        bootstrap.log.warning(
            "worker crashed or hung",
            [
                "kind": .string(pool.kind.name), "pool": .string("\(pool.name)"),
                "pid": LogValue(UInt64(hello.pid)),
                "cause": .string("\(crash.cause)"),
                "job": LogValue(crash.job?.value ?? 0),
            ])
        return crash
    }

    /// Ends the session of a worker that violated the protocol.
    mutating func expel(_ id: UInt64, _ error: ImageError) {
        counters.expelledWorkers += 1
        bootstrap.log.error(
            "worker violated the protocol", ["error": .string("\(error)"), "session": LogValue(id)])
        send(.toWorker(.refused(error)), to: id)
        guard id != WorkerID.coordinator.value else { return joinAsProducer() }
        end(id)
    }
}
