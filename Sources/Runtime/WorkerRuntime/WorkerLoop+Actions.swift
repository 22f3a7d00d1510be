import Bootstrap
import BusConnection
import ControlSegment
import EventLoop
import ImageModel
import Linux
import Messages
import Observability
import SharedArena
import Wire
import ZeroMQ

extension WorkerLoop {
    mutating func perform(_ actions: [WorkerSession.Action]) throws {
        for action in actions { try perform(action) }
    }

    private mutating func perform(_ action: WorkerSession.Action) throws {
        switch action {
        case .sayHello: sayHello()
        case .announceEverything: announceEverything()
        case .tellReady:
            // First, since who hears of it may look at the control segment before the next turn.
            beat()
            bootstrap.ready.tell(.ready, bootstrap.incarnation)
        case .abandonEverything: abandonEverything()
        case .start(let job):
            // First, since the work may begin, and crash, before the next line.
            recordHeld()
            start(job)
        case .cancel(let job):
            cancel(job)
            expectEnd(of: job, at: .now())
            try endIfForsaken()
        case .adjust(let adjustment): adjust(adjustment)
        case .release(let blocks):
            handedOver.remove(blocks)
            executor.release(blocks)
            flushIfReleased()
        case .touched(let blocks): executor.touched(blocks)
        case .adopt(let settings): executor.adopt(settings)
        case .adoptDownloads(let settings): executor.adopt(settings)
        case .sendOutcome(let outcome):
            handedOver.add(outcome.result.references)
            send(.outcome(outcome))
        case .discard(let outcome): discard(outcome)
        case .sayGoodbye(let reason):
            send(.goodbye(reason))
            limitDeparture(reason)
        case .flush: flush()
        case .end(let reason): end(reason)
        case .giveUp(let error):
            throw ConfigurationError("this worker is not let in: \(error.message)")
        }
    }

    /// Nobody gets what the outcome names.
    func discard(_ outcome: JobOutcome) {
        for reference in outcome.result.references { executor.discard(reference) }
    }

    /// What a crash would be evidence against from now on.
    mutating func recordHeld() {
        if case .stands(let own?) = pulse, let job = running.job(own),
            let attempt = session.attempt(of: job)
        {
            control?.hold(job, attempt: attempt)
        } else if let (job, attempt) = session.onlyJob, !running.hasAbandoned {
            control?.hold(job, attempt: attempt)
        } else {
            control?.holdNothing()
        }
    }

    /// Who was told to end has so long for it; who ends by itself has all the time it needs.
    private mutating func limitDeparture(_ reason: GoodbyeReason) {
        guard reason == .drained || reason == .terminated else { return }
        let due = Instant.now().adding(milliseconds: Self.departureMilliseconds)
        timers.schedule(.departure, at: due)
    }

    /// Others may still read what this process made; its segments go with it.
    private mutating func flush() {
        awaitsRelease = true
        let due = Instant.now().adding(milliseconds: Self.farewellMilliseconds)
        timers.schedule(.farewell, at: due)
        flushIfReleased()
    }

    private mutating func flushIfReleased() {
        guard awaitsRelease, handedOver.isEmpty else { return }
        awaitsRelease = false
        executor.flush()
    }

    private mutating func sayHello() {
        let hello = WorkerHello(
            incarnation: bootstrap.incarnation, pid: UInt32(CurrentProcess.processID),
            restarts: bootstrap.restarts, version: version, credit: executor.credit,
            sandbox: sandbox, secret: secret, capabilities: capabilities, takesReleases: true)
        outbox.append(.hello(hello))
    }

    private var version: String {
        standing == .own ? ProductVersion.text : "swift \(ProductVersion.text)"
    }

    private var secret: ListenerSecret? {
        switch standing {
        case .own: bootstrap.secret.flatMap { ListenerSecret($0) }
        case .foreign: PoolSecret.of(pool, in: bootstrap.paths)
        }
    }

    /// Segments first: nothing may be referred to before.
    private mutating func announceEverything() {
        for arena in arenas {
            _ = arena.takeAnnouncements()
            announce(opened: arena.allSegments())
        }
        for message in executor.announcements() { send(message) }
    }

    private mutating func abandonEverything() {
        outbox.removeAll()
        forgetAll()
        running.abandonAll()
        recordHeld()
        executor.abandon()
        executor.release(handedOver.takeAll())
    }

    private mutating func end(_ reason: GoodbyeReason) {
        switch reason {
        case .terminated where isExpelled && standing == .foreign:
            exitStatus = ProgramExit.internalError
        case .drained, .terminated: exitStatus = ProgramExit.success
        case .cancelledHard, .recycled: exitStatus = ProgramExit.startAgain
        }
    }

    /// Queues a message behind the announcement of every segment that it might refer to.
    mutating func send(_ message: WorkerMessage) {
        for arena in arenas {
            let changes = arena.takeAnnouncements()
            announce(opened: changes.opened)
            announce(closed: changes.closed)
        }
        outbox.append(message)
    }

    private mutating func announce(
        opened: [SegmentAnnouncement] = [], closed: [SegmentAnnouncement] = []
    ) {
        for part in opened.parts(of: MessageLimits.segmentsMax) {
            outbox.append(.segmentsOpened(part))
        }
        for part in closed.parts(of: MessageLimits.segmentsMax) {
            outbox.append(.segmentsClosed(part))
        }
    }

    /// Sends what waits, in order. What finds no room stays for the next turn.
    mutating func sendOutbox(at now: Instant) throws {
        guard !isRetrying || exitStatus != nil else { return }
        var sent = 0
        while sent < outbox.count {
            guard try transmit(outbox[sent]) else { break }
            sent += 1
        }
        outbox.removeFirst(sent)
        guard !outbox.isEmpty else { return }
        guard outbox.count <= Self.outboxMax else {
            bootstrap.log.error("the coordinator does not read", [:])
            exitStatus = ProgramExit.startAgain
            return
        }
        isRetrying = true
        timers.schedule(.retry, at: now.adding(milliseconds: Self.retryMilliseconds))
    }

    /// Whether libzmq has it. What cannot be encoded is a defect of ours: it is said, and a job
    /// whose outcome it is has failed.
    private mutating func transmit(_ message: WorkerMessage) throws -> Bool {
        let encoded: EncodedMessage
        do throws(WireError) {
            encoded = try encoder.encode(message)
        } catch {
            bootstrap.log.error("a message cannot travel", ["error": "\(error)"])
            guard case .outcome(let outcome) = message, !outcome.result.isFailure else {
                return true
            }
            handedOver.remove(outcome.result.references.map(\.block))
            discard(outcome)
            let failure = ImageError(.internalError, "an outcome cannot travel: \(error)")
            return try transmit(
                .outcome(
                    JobOutcome(
                        id: outcome.id, attempt: outcome.attempt, result: .failed(failure),
                        workMicroseconds: outcome.workMicroseconds)))
        }
        return try connection.socket.send(encoded, from: encoder) == .sent
    }

    private static var retryMilliseconds: Int { 5 }
    /// A drain takes eight seconds at most (SEMANTICS §14.10).
    private static var departureMilliseconds: Int { 7_500 }
    /// Readers of what this process made have so long; `serve` gives all of it eight seconds.
    private static var farewellMilliseconds: Int { 3_000 }
}

extension JobResult {
    fileprivate var isFailure: Bool {
        if case .failed = self { true } else { false }
    }
}

extension Array {
    /// The elements in order, in arrays of at most `count`.
    fileprivate func parts(of count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: count).map { start in
            Array(self[start..<Swift.min(start + count, self.count)])
        }
    }
}
