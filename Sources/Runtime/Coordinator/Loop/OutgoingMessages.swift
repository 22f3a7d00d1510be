import Model
import ProcessRuntime
import Wire
import ZeroMQ

extension Coordinator {
    /// Passes an event to the scheduler and performs the resulting actions in order. Events caused
    /// by an action, such as a dead session, are handled afterwards.
    mutating func handle(_ event: SchedulerEvent) {
        let isNested = !actions.isEmpty
        scheduler.handle(event, at: now, into: &actions)
        writeVouchers()
        guard !isNested else { return }
        var next = 0
        while next < actions.count {
            perform(actions[next])
            next += 1
        }
        actions.removeAll(keepingCapacity: true)
        notifyUnsendable()
    }

    /// Reports jobs that could not be sent to the scheduler as failed.
    private mutating func notifyUnsendable() {
        while let (worker, outcome) = unsendable.popLast() {
            handle(.outcome(worker, outcome))
        }
    }

    /// Writes voucher changes before any other action: once a client hears that an answer is
    /// invalid, no client repeats it.
    mutating func writeVouchers() { vouchers.write(scheduler.hits.vouchers.drainWrites()) }

    private mutating func perform(_ action: SchedulerAction) {
        switch action {
        case .assign(let worker, let job): send(.job(job), to: worker)
        case .cancelJob(let worker, let job): send(.cancelJob(job), to: worker)
        case .adjust(let worker, let adjustment): send(.adjust(adjustment), to: worker)
        case .release(.coordinator, let blocks, _): free(blocks)
        case .release(let worker, let blocks, let isPrompt):
            release(blocks, of: worker, isPrompt: isPrompt)
        case .touched(let worker, let blocks): send(.touched(blocks), to: worker)
        case .expel(let worker, let error): expel(worker.value, error)
        case .granted(let ticket): granted = ticket
        case .reply(let client, let reply): self.reply(reply, to: client)
        case .record(let record): log(record)
        case .progress(let client, let progress): send(.progress(progress), to: client)
        case .prefetched(let client, let report): prefetched(report, of: client)
        case .refused(let client, let error, let batch): send(.refused(error, batch), to: client)
        case .failureCache(let client, let report): send(.failureCache(report), to: client)
        case .cache(let client, let report): send(.cache(report), to: client)
        case .drained: notifyShutdown(.requestsEnded)
        }
    }

    mutating func send(_ message: ServerMessage, to client: ClientID) {
        send(.toClient(message), to: client.value)
    }

    private mutating func send(_ command: WorkerCommand, to worker: WorkerID) {
        send(.toWorker(command), to: worker.value)
    }

    /// Sends a message, or queues it behind earlier ones. If the peer has gone, its session ends.
    mutating func send(_ message: Outbox.Message, to id: UInt64) {
        guard case .toWorker(let command) = message else {
            return transmitOrKeep(message, for: id)
        }
        let extended = notifyReleases(with: command, to: id)
        transmitOrKeep(.toWorker(extended), for: id)
    }

    private mutating func transmitOrKeep(_ message: Outbox.Message, for id: UInt64) {
        guard let peer = peers[id] else { return }
        guard peer.outbox.isEmpty, transmit(message, to: peer) == .sent else {
            guard peers[id] != nil else { return }
            return keep(message, for: id)
        }
    }

    // MARK: - Releases

    /// Notifies a worker of freed blocks with its next message, or immediately.
    private mutating func release(_ blocks: [BlockID], of worker: WorkerID, isPrompt: Bool) {
        let areMany = releases.add(blocks, of: worker)
        if areMany || isPrompt { return sendReleases(to: worker) }
        timers.arm(.sendReleases, by: now.adding(milliseconds: PendingReleases.milliseconds))
    }

    /// Sends a worker's pending releases, or adds them to the command if that is a job and the
    /// worker supports it. Returns the command to send.
    private mutating func notifyReleases(
        with command: WorkerCommand, to id: UInt64
    ) -> WorkerCommand {
        let worker = WorkerID(id)
        guard case .job(let job) = command, peers.takesReleases(id) else {
            sendReleases(to: worker)
            return command
        }
        guard let blocks = releases.removeAll(of: worker) else { return command }
        var extended = job
        extended.released = blocks
        return .job(extended)
    }

    private mutating func sendReleases(to worker: WorkerID) {
        guard let blocks = releases.removeAll(of: worker) else { return }
        transmitOrKeep(.toWorker(.release(blocks)), for: worker.value)
    }

    /// Sends the pending releases of all workers that got no other message.
    mutating func sendReleases() {
        for worker in releases.workers { sendReleases(to: worker) }
    }

    // MARK: - Peers that do not read

    mutating func keep(_ message: Outbox.Message, for id: UInt64) {
        if peers[id]?.outbox.isEmpty == true {
            peers[id]?.outbox.blockedSince = now
            blocked.append(id)
            timers.arm(.retryPeers, by: now.adding(milliseconds: Self.retryMilliseconds))
        }
        guard peers[id]?.outbox.append(message) != false else {
            counters.stalledPeers += 1
            bootstrap.log.warning("peer does not read its messages", ["session": LogValue(id)])
            return end(id)
        }
    }

    /// Retries blocked peers; ROUTER's POLLOUT says nothing about an individual peer. Peers for
    /// which there is no time left come first in the next turn.
    mutating func retryOutboxes() {
        var budget = TurnBudget()
        defer { notifyUnsendable() }
        let waiting = exchange(&blocked, with: [])
        for (place, id) in waiting.enumerated() {
            guard let peer = peers[id] else { continue }
            flush(peer)
            if peers[id]?.outbox.isEmpty == false { blocked.append(id) }
            if budget.isSpent() {
                blocked.insert(contentsOf: waiting[(place + 1)...], at: 0)
                return timers.arm(.retryPeers, by: now)
            }
        }
        guard !blocked.isEmpty else { return }
        timers.arm(.retryPeers, by: now.adding(milliseconds: Self.retryMilliseconds))
    }

    /// Sends as many queued messages as the peer accepts, up to a limit. A peer that accepts
    /// nothing for ten seconds is considered dead.
    private mutating func flush(_ peer: Peer) {
        var sent = 0
        loop: for message in peer.outbox.waiting.prefix(Self.flushedMax) {
            switch transmit(message, to: peer) {
            case .sent: sent += 1
            case .wouldBlock: break loop
            case .hostUnreachable: return end(peer.id)
            }
        }
        if sent > 0 {
            peers[peer.id]?.outbox.removeFirst(sent)
            peers[peer.id]?.outbox.blockedSince = now
        }
        if sent == Self.flushedMax { timers.arm(.retryPeers, by: now) }
        let since = peer.outbox.blockedSince ?? now
        if sent == 0, now.milliseconds(since: since) > Self.stallMilliseconds {
            counters.stalledPeers += 1
            end(peer.id)
        }
    }

    /// Encodes and sends a message. A message that can't be encoded is a defect: it is logged, and
    /// the affected job or request fails.
    private mutating func transmit(_ message: Outbox.Message, to peer: Peer) -> SendOutcome {
        // There are few listeners, so comparing them takes less time than hashing one.
        guard let socket = listenerSockets.first(where: { $0.listener == peer.listener }) else {
            return .hostUnreachable
        }
        do {
            let encoded = try encode(message)
            return try socket.send(encoded, from: encoder, to: peer.routing)
        } catch {
            bootstrap.log.error("message cannot be encoded", ["error": .string("\(error)")])
            return substitute(for: message, to: peer, through: socket)
        }
    }

    private mutating func substitute(
        for message: Outbox.Message, to peer: Peer, through socket: ListenerSocket
    ) -> SendOutcome {
        let error = ImageError(.internalError, "a message of the coordinator cannot be sent")
        switch message {
        case .toClient(.reply(let reply)):
            let failure = ServerMessage.reply(Reply(token: reply.token, outcome: .failure(error)))
            guard let encoded = try? encode(.toClient(failure)) else { return .sent }
            return (try? socket.send(encoded, from: encoder, to: peer.routing)) ?? .sent
        case .toWorker(.job(let job)):
            // Sent in place of the job: its releases must arrive before later messages.
            if !job.released.isEmpty {
                let outcome = transmit(.toWorker(.release(job.released)), to: peer)
                guard outcome == .sent else { return outcome }
            }
            unsendable.append(
                (
                    WorkerID(peer.id),
                    JobOutcome(
                        id: job.id, attempt: job.attempt, result: .failed(error),
                        workMicroseconds: 0)
                ))
            return .sent
        default: return .sent
        }
    }

    mutating func encode(_ message: Outbox.Message) throws(WireError) -> EncodedMessage {
        switch message {
        case .toClient(let message): try encoder.encode(message)
        case .toWorker(let command): try encoder.encode(command)
        }
    }

    private static var retryMilliseconds: Int { 5 }
    /// The maximum number of messages sent to one peer before others are served.
    private static var flushedMax: Int { 256 }
    private static var stallMilliseconds: Int { 10_000 }
}

/// Freed blocks that workers have not been notified of yet.
///
/// A separate message would wake the worker for this alone, and a busy worker gets its next job
/// soon. So a release waits for the next message to its worker, or for a timeout.
struct PendingReleases {
    /// The maximum delay of a release in milliseconds.
    static let milliseconds = 50
    /// The maximum number of pending blocks per worker.
    static let blocksMax = 8

    private var blocks: [WorkerID: [BlockID]] = [:]

    /// Whether no releases are pending.
    var isEmpty: Bool { blocks.isEmpty }

    /// The workers with pending releases, in the order of their sessions.
    var workers: [WorkerID] { blocks.keys.sorted() }

    /// Adds blocks; returns `true` if the limit is reached and the worker must be notified.
    mutating func add(_ released: [BlockID], of worker: WorkerID) -> Bool {
        blocks[worker, default: []] += released
        return blocks[worker, default: []].count >= Self.blocksMax
    }

    /// Removes and returns the pending releases of a worker; `nil` if there are none.
    mutating func removeAll(of worker: WorkerID) -> [BlockID]? {
        blocks.isEmpty ? nil : blocks.removeValue(forKey: worker)
    }
}
