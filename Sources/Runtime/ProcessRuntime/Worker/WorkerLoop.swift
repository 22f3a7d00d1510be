public import Linux
public import Model
import Wire
import ZeroMQ

/// The bus thread of a worker: connection, session, executor, signals and timers. Never blocks.
///
/// The same for all four kinds, which differ only in their executor.
public struct WorkerLoop: ~Copyable {
    let pool: PoolName
    let trust: WorkerTrust
    var bootstrap: Bootstrap
    private let machine: WorkerMachine
    let reporter: WorkerReporter
    let memory: ProcessMemoryGauge?
    let policy: WorkerPolicy

    var control: ControlSegment?

    var connection: BusConnection
    var encoder = MessageEncoder()
    var decoder = MessageDecoder()
    var session = WorkerSession()
    var running = RunningJobs()
    /// The CPU time of the process when its newest job began, if it executes one job at a time.
    var processorTimeAtStart: UInt64?
    /// The executor's progress at the last tick.
    var heartbeat = ExecutorHeartbeat.beats
    var jobLog = JobLog()
    var outstandingBlocks = OutstandingBlocks()
    var outbox: [WorkerMessage] = []
    var timers = TimerQueue<WorkerTimer>(timersMax: 65_536)
    /// The timers of the deadlines of the running jobs.
    var deadlines: [JobID: TimerID] = [:]
    /// The timers of the grace periods that began with the first cancellation of a job.
    var graces: [JobID: TimerID] = [:]
    var isRetrying = false
    /// Whether the coordinator rejected it for a protocol violation, or because it lacks a
    /// capability of its pool.
    var isExpelled = false
    /// Whether it is leaving and its blocks may still be read.
    var awaitsRelease = false
    var jobsDone = 0
    var exitStatus: Int32?

    /// The maximum number of messages queued for a coordinator that doesn't read. Beyond it the
    /// process exits, and its jobs are reassigned.
    static let outboxMax = 65_536
    static let tickMilliseconds = 1_000
    /// The maximum number of messages read per turn.
    private static let messagesPerTurn = 256

    /// Connects to the listener of its pool.
    public init(
        pool: PoolName, bootstrap: consuming Bootstrap, machine: WorkerMachine,
        reporter: WorkerReporter, memory: consuming ProcessMemoryGauge?,
        policy: WorkerPolicy, trust: WorkerTrust
    ) throws {
        connection = try BusConnection(
            to: try Endpoint(parsing: bootstrap.paths.backEndpoint(pool)), in: try Context(),
            frameBytesMax: MessageLimits.backFrameBytesMax)
        (self.pool, self.trust, self.policy) = (pool, trust, policy)
        (self.machine, self.reporter) = (machine, reporter)
        self.bootstrap = bootstrap
        self.memory = memory
        switch trust {
        case .own: control = Self.control(pool, self.bootstrap)
        case .external: control = nil
        }
        // From now on this process has state to monitor, and to remove after its death.
        self.bootstrap.ready.report(.begun, self.bootstrap.incarnation)
    }

    /// Creates the control segment. If the tmpfs is full, the worker continues without a crash
    /// record.
    private static func control(
        _ pool: PoolName, _ bootstrap: borrowing Bootstrap
    ) -> ControlSegment? {
        do throws(Errno) {
            return try ControlSegment(
                in: bootstrap.paths.controlDirectory(pool), incarnation: bootstrap.incarnation)
        } catch {
            bootstrap.log.warning(
                "no control segment: crashes will not be recorded",
                ["error": .string("\(error)")])
            return nil
        }
    }

    var executor: any JobExecutor { machine.executor }

    /// Whether the executor has unfinished jobs. After `run`, threads may still execute abandoned
    /// work, so the resources that they use must not be freed.
    var isWorking: Bool { !running.isEmpty }

    /// Runs until the worker has said goodbye; returns the exit status of the process.
    public mutating func run() throws -> Int32 {
        var loop = EventLoop(sourcesMax: 4)
        let monitor = loop.add(connection.monitor.socket)
        let bus = loop.add(connection.socket)
        let signals = loop.add(descriptor: bootstrap.signals.descriptor.number)
        let reports = loop.add(descriptor: reporter.mailbox.descriptor)
        timers.schedule(.tick, at: .now().adding(milliseconds: Self.tickMilliseconds))
        while exitStatus == nil {
            beat()
            let turn = try loop.wait(until: timers.nextDue)
            if turn.ready.contains(monitor) { try drainMonitor() }
            if turn.ready.contains(bus) { try drainBus() }
            if turn.ready.contains(reports) { try drainReports() }
            if turn.ready.contains(signals) { try drainSignals() }
            while let timer = timers.removeDue(at: turn.wokenAt) {
                try fire(timer, at: turn.wokenAt)
            }
            try sendOutbox(at: turn.wokenAt)
        }
        for arena in machine.arenas { arena.unlinkAll() }
        return exitStatus ?? 0
    }

    /// Updates the heartbeat and whether the coordinator knows this process.
    mutating func beat() {
        // A heartbeat on behalf of a stuck thread would prevent the replacement of the process.
        if heartbeat == .beats { control?.beat(isWelcome: session.isRegistered) }
    }

    // MARK: - Sources

    private mutating func drainMonitor() throws {
        while let event = try connection.nextLinkEvent() {
            switch event {
            case .up: try perform(session.linkUp())
            case .down: try perform(session.linkDown())
            case .unreached, .untrustedServer: continue
            }
        }
    }

    private mutating func drainBus() throws {
        for _ in 0..<Self.messagesPerTurn {
            guard try connection.receive() else { return }
            let received: WorkerCommand
            guard connection.frameCount == 2 else { continue }
            do throws(WireError) {
                received = try Self.decode(connection, &decoder)
            } catch .versionRefused(let lowest, let highest) {
                // Reconnecting would be futile: until it is replaced, it would never get a job.
                throw ConfigurationError(
                    "this worker uses protocol version \(FrameHeader.currentVersion), its "
                        + "coordinator \(lowest) to \(highest): install both from the same release")
            } catch {
                bootstrap.log.error("message not understood", ["error": "\(error)"])
                continue
            }
            if case .refused(let error) = received, session.isRegistered { wasExpelled(error) }
            try perform(session.received(received))
        }
    }

    /// Logs why the worker was rejected, for the author of an external worker.
    private mutating func wasExpelled(_ error: ImageError) {
        isExpelled = true
        bootstrap.log.error("session ended by the coordinator", ["error": "\(error)"])
    }

    private static func decode(
        _ connection: borrowing BusConnection, _ decoder: inout MessageDecoder
    ) throws(WireError) -> WorkerCommand {
        let header = try FrameHeader(decoding: connection.frame(0))
        return try decoder.workerCommand(header.kind, connection.frame(1))
    }

    private mutating func drainReports() throws {
        var waiting: [WorkerReport] = []
        var isAttending = false
        reporter.mailbox.drain(into: &waiting)
        for report in waiting {
            switch report {
            case .outcome(let outcome): try finish(outcome)
            case .message(let message): pass(on: message)
            case .flushed: try perform(session.flushed())
            case .attend: isAttending = true
            }
        }
        guard isAttending else { return }
        executor.attend()
    }

    private mutating func drainSignals() throws {
        while let received = try bootstrap.signals.next() {
            let isRepeated = bootstrap.stopSignals.record(received)
            guard isRepeated || !session.isLeaving else {
                // A worker that leaves by itself has no time limit yet.
                limitDeparture(.terminated)
                continue
            }
            try perform(session.terminated())
        }
    }

    // MARK: - Jobs

    private mutating func finish(_ outcome: JobOutcome) throws {
        jobsDone += 1
        executor.finished(outcome.id)
        jobLog.ended(outcome, in: bootstrap.log, at: .now())
        if let job = running.end(outcome.id) {
            forget(job)
            var answer = outcome
            answer.id = job
            try perform(session.finished(answer))
        } else {
            discard(outcome)
        }
        recordHeld()
        let bytes = policy.looksAtMemory(after: jobsDone) ? privateBytes : nil
        if policy.isSpent(jobs: jobsDone, privateBytes: bytes) { try perform(session.recycle()) }
    }

    private mutating func pass(on message: WorkerMessage) {
        guard case .progress(var progress) = message else {
            if session.isRegistered { send(message) }
            return
        }
        guard session.isRegistered, let job = running.job(progress.id) else {
            if let arrived = progress.arrived { executor.discard(arrived) }
            return
        }
        progress.id = job
        if let arrived = progress.arrived { outstandingBlocks.add(ShortList(arrived)) }
        send(.progress(progress))
    }

    private var privateBytes: UInt64? { try? memory?.privateBytes() }
}

extension WorkerLoop {
    mutating func perform(_ actions: [WorkerSession.Action]) throws {
        for action in actions { try perform(action) }
    }

    private mutating func perform(_ action: WorkerSession.Action) throws {
        switch action {
        case .sendHello: sendHello()
        case .announceEverything: announceEverything()
        case .notifyReady:
            // First, because the supervisor may check the control segment before the next turn.
            beat()
            bootstrap.ready.report(.ready, bootstrap.incarnation)
        case .abandonEverything: abandonEverything()
        case .start(let job):
            // First, because the job may start and crash before the next line.
            recordHeld()
            start(job)
        case .cancel(let job):
            cancel(job)
            expectEnd(of: job, at: .now())
            try exitIfOrphaned()
        case .adjust(let adjustment): adjust(adjustment)
        case .release(let blocks):
            outstandingBlocks.remove(blocks)
            executor.release(blocks)
            flushIfReleased()
        case .touched(let blocks): executor.touched(blocks)
        case .adopt(let settings): executor.adopt(settings)
        case .adoptDownloads(let settings): executor.adopt(settings)
        case .sendOutcome(let outcome):
            outstandingBlocks.add(outcome.result.references)
            send(.outcome(outcome))
        case .discard(let outcome): discard(outcome)
        case .sendGoodbye(let reason):
            send(.goodbye(reason))
            limitDeparture(reason)
        case .flush: flush()
        case .end(let reason): end(reason)
        case .giveUp(let error):
            throw ConfigurationError("the coordinator refused this worker: \(error.message)")
        }
    }

    /// Frees the blocks of an outcome that nobody receives.
    func discard(_ outcome: JobOutcome) {
        for reference in outcome.result.references { executor.discard(reference) }
    }

    /// Records the job to which a crash is attributed from now on.
    mutating func recordHeld() {
        if case .stands(let own?) = heartbeat, let job = running.job(own),
            let attempt = session.attempt(of: job)
        {
            control?.hold(job, attempt: attempt)
        } else if let (job, attempt) = session.onlyJob, !running.hasAbandoned {
            control?.hold(job, attempt: attempt)
        } else {
            control?.holdNothing()
        }
    }

    /// Limits the time for leaving after a command; a worker that leaves by itself has no limit.
    private mutating func limitDeparture(_ reason: GoodbyeReason) {
        guard reason == .drained || reason == .terminated else { return }
        let due = Instant.now().adding(milliseconds: Self.departureMilliseconds)
        timers.schedule(.departure, at: due)
    }

    /// Writes unsaved data and waits for readers, because segments are removed together with the
    /// process.
    private mutating func flush() {
        awaitsRelease = true
        let due = Instant.now().adding(milliseconds: Self.farewellMilliseconds)
        timers.schedule(.farewell, at: due)
        flushIfReleased()
    }

    private mutating func flushIfReleased() {
        guard awaitsRelease, outstandingBlocks.isEmpty else { return }
        awaitsRelease = false
        executor.flush()
    }

    private mutating func sendHello() {
        let hello = WorkerHello(
            incarnation: bootstrap.incarnation, pid: UInt32(CurrentProcess.processID),
            restarts: bootstrap.restarts, version: version, credit: executor.credit,
            sandbox: machine.sandbox, secret: secret, capabilities: machine.capabilities,
            takesReleases: true)
        outbox.append(.hello(hello))
    }

    private var version: String {
        trust == .own ? ProductVersion.text : "swift \(ProductVersion.text)"
    }

    private var secret: ListenerSecret? {
        switch trust {
        case .own: bootstrap.secret.flatMap { ListenerSecret($0) }
        // If there is none that can be read, the coordinator decides whether one is required.
        case .external: ListenerSecret(inFile: bootstrap.paths.backSecretFile(pool))
        }
    }

    /// Segments come first, because references may only follow their announcement.
    private mutating func announceEverything() {
        for arena in machine.arenas {
            _ = arena.drainAnnouncements()
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
        executor.release(outstandingBlocks.removeAll())
    }

    private mutating func end(_ reason: GoodbyeReason) {
        switch reason {
        case .terminated where isExpelled && trust == .external:
            exitStatus = ProgramExit.internalError
        // The supervisor hasn't asked for it, and while it drains the stack, it replaces only
        // workers that exit with a failure.
        case .terminated where bootstrap.stopSignals.cameOnlyFromOthers:
            exitStatus = ProgramExit.startAgain
        case .drained, .terminated: exitStatus = ProgramExit.success
        case .cancelledHard, .recycled: exitStatus = ProgramExit.startAgain
        }
    }

    /// Queues a message after the announcements of all segments that it may refer to.
    mutating func send(_ message: WorkerMessage) {
        for arena in machine.arenas {
            let changes = arena.drainAnnouncements()
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

    /// Sends queued messages in order. What doesn't fit into libzmq's queue is retried in the next
    /// turn.
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
            bootstrap.log.error("coordinator does not read its messages", [:])
            exitStatus = ProgramExit.startAgain
            return
        }
        isRetrying = true
        timers.schedule(.retry, at: now.adding(milliseconds: Self.retryMilliseconds))
    }

    /// Passes a message to libzmq and returns whether it was accepted. A message that can't be
    /// encoded is a defect: it is logged, and if it is an outcome, the job fails.
    private mutating func transmit(_ message: WorkerMessage) throws -> Bool {
        let encoded: EncodedMessage
        do throws(WireError) {
            encoded = try encoder.encode(message)
        } catch {
            bootstrap.log.error("message cannot be encoded", ["error": "\(error)"])
            guard case .outcome(let outcome) = message, !outcome.result.isFailure else {
                return true
            }
            outstandingBlocks.remove(outcome.result.references.map(\.block))
            discard(outcome)
            let failure = ImageError(.internalError, "the outcome cannot be encoded: \(error)")
            return try transmit(
                .outcome(
                    JobOutcome(
                        id: outcome.id, attempt: outcome.attempt, result: .failed(failure),
                        workMicroseconds: outcome.workMicroseconds)))
        }
        return try connection.socket.send(encoded, from: encoder) == .sent
    }

    private static var retryMilliseconds: Int { 5 }
    /// A drain takes at most eight seconds (SEMANTICS §14.10).
    private static var departureMilliseconds: Int { 7_500 }
    /// The time for readers of this process's blocks; `serve` allows eight seconds in total.
    private static var farewellMilliseconds: Int { 3_000 }
}

extension JobResult {
    fileprivate var isFailure: Bool {
        if case .failed = self { true } else { false }
    }
}

extension Array {
    /// Splits the elements into arrays of at most `count`, in order.
    fileprivate func parts(of count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: count).map { start in
            Array(self[start..<Swift.min(start + count, self.count)])
        }
    }
}
