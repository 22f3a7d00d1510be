import Glibc
package import Linux
package import Model
package import ProcessRuntime

/// Keeps the children of one stack running until it is asked to stop: one loop over pidfds, ready
/// pipes and stop requests; `SupervisorState` makes the decisions.
///
/// Confined to one thread, which must outlive the children, because the kernel ties their
/// parent-death signal to it.
package final class Supervisor {
    private let specifications: [ChildSpecification]
    private let directory: RuntimeDirectory
    private let stopRequests: StopRequests
    private let secrets: StackSecrets?
    private let observe: (SupervisorNote) -> Void
    private let receiveStatus: ((StatusReport, Instant) -> Void)?
    private let prepareReload: () -> Void
    private var state: SupervisorState
    private var children: [Int: SupervisedChild] = [:]
    private var end: SupervisorEnd?
    private var isStopping = false
    /// Whether the coordinator still has to be asked to reload its configuration.
    private var awaitsReload = false
    private var ping: CoordinatorPing?
    private var waits = ProcessorWaits()
    private let health: HealthListener?
    /// Process 1 inherits orphans of other processes.
    private let isInit = CurrentProcess.processID == 1

    /// Creates a stack of these children, the coordinator first; nothing is started yet. `health`,
    /// if given, serves their health. The coordinator is polled for its status about once a second
    /// to detect hangs; `receiveStatus` receives each answer. With `secrets` the listeners require
    /// them, and `directory` contains the one for operators. A child that shows no sign of life
    /// within `startMilliseconds` is killed. `prepareReload` is called before children are asked to
    /// reload their configuration.
    package init(
        _ specifications: [ChildSpecification], in directory: consuming RuntimeDirectory,
        stopRequests: consuming StopRequests, secrets: StackSecrets? = nil,
        health: HealthListener? = nil,
        startMilliseconds: Int = SupervisorState.startMilliseconds,
        receiveStatus: ((StatusReport, Instant) -> Void)? = nil,
        prepareReload: @escaping () -> Void = {},
        observe: @escaping (SupervisorNote) -> Void
    ) {
        self.specifications = specifications
        self.directory = directory
        self.stopRequests = stopRequests
        self.secrets = secrets
        self.health = health
        self.observe = observe
        (self.receiveStatus, self.prepareReload) = (receiveStatus, prepareReload)
        state = SupervisorState(
            kinds: specifications.map(\.kind),
            external: Set(specifications.indices.filter { specifications[$0].isExternal }),
            startMilliseconds: startMilliseconds)
    }

    /// Starts all children and returns after the last one has exited and sockets and segments are
    /// removed. Throws only if the kernel is out of descriptors or memory; children are then
    /// killed.
    package func run() throws(Errno) -> SupervisorEnd {
        handle(.start)
        lookForLife()
        while true {
            if let end { return end }
            let ready = try waitForSomething()
            if ready.contains(stopRequests.descriptorNumber) {
                let requests = try stopRequests.drain()
                for _ in 0..<requests.stops { handle(.stopRequested) }
                if requests.reloads { awaitsReload = true }
            }
            for (slot, child) in children.sorted(by: { $0.key < $1.key }) {
                try look(at: child, slot: slot, ready: ready)
            }
            // First, so that waiting times count before limits are checked.
            lookForLife()
            handle(.tick)
            if awaitsReload { passReloadOn() }
            if let health, ready.contains(health.number) {
                health.answer(state.healthLine(withoutSession: slotsWithoutSession))
            }
            if isInit {
                _ = try OrphanReaper.reap(except: Set(children.values.map(\.process.processID)))
            }
        }
    }

    /// Forwards the reload signal once the coordinator is serving; earlier, the signal would kill
    /// it.
    private func passReloadOn() {
        let readers = specifications.filter { $0.kind == .coordinator || $0.kind.isFront }
        if readers.isEmpty { note(.nothingToReload) }
        let recipients = children.filter { $0.value.kind == .coordinator || $0.value.kind.isFront }
        guard recipients.keys.allSatisfy({ state.isWelcomed($0) }) else { return }
        prepareReload()
        for child in recipients.values {
            // Fails only for a child that has exited; its replacement reads the file anyway.
            try? child.process.send(.hangUp)
        }
        awaitsReload = false
    }

    /// Workers that were welcomed once and have lost the coordinator since.
    private var slotsWithoutSession: Set<Int> {
        Set(
            children.filter { slot, child in
                guard state.isWelcomed(slot), let page = page(of: child, slot) else { return false }
                return ControlReader(directory: page.directory).isWelcome(page.life) == false
            }.keys)
    }

    /// Returns where the control segment of a worker of the stack is, once it has reported its
    /// incarnation.
    private func page(
        of child: SupervisedChild, _ slot: Int
    ) -> (directory: String, life: Incarnation)? {
        guard child.kind != .coordinator, !child.isExternal, let pool = child.pool,
            let life = state.incarnation(of: slot)
        else { return nil }
        return (directory.paths.controlDirectory(pool), life)
    }

    /// Collects heartbeats: from the control segments of workers, from the status answers of the
    /// coordinator, and from the reports of front ends and external programs.
    private func lookForLife() {
        guard state.wantsLook(at: .now()) else { return }
        var counters: [Int: UInt64] = [:]
        var silent: [Int: ProcessID] = [:]
        for (slot, child) in children {
            child.output?.resume()
            counters[slot] = counter(of: child, slot)
            if state.isSilent(slot, counter: counters[slot]) {
                silent[slot] = child.process.processID
            }
        }
        handle(.looked(counters, waited: waits.look(at: silent)))
    }

    private func counter(of child: SupervisedChild, _ slot: Int) -> UInt64? {
        guard state.incarnation(of: slot) != nil else { return nil }
        if child.kind == .coordinator { return coordinatorAnswers() }
        guard let page = page(of: child, slot) else { return child.beats }
        return ControlReader(directory: page.directory).heartbeat(of: page.life)
    }

    /// Returns nil if libzmq can't create a socket: no hang is then assumed.
    private func coordinatorAnswers() -> UInt64? {
        do {
            if ping == nil {
                ping = try CoordinatorPing(
                    adminEndpoint: directory.paths.adminEndpoint, secret: secrets?.listeners.admin)
            }
            try ping?.turn()
            if let report = ping?.drainReport() { receiveStatus?(report, .now()) }
            return ping?.answers
        } catch {
            ping = nil
            return nil
        }
    }

    private func waitForSomething() throws(Errno) -> Set<Int32> {
        let now = Instant.now()
        let numbers =
            [stopRequests.descriptorNumber] + (health.map { [$0.number] } ?? [])
            + children.values.flatMap(\.descriptorNumbers)
        return try ReadinessPoll.wait(
            numbers, milliseconds: state.nextDeadline.map { $0.milliseconds(since: now) })
    }

    /// Reads the child's output before its exit status, because the pipe may still hold data of a
    /// child that has exited.
    private func look(
        at child: SupervisedChild, slot: Int, ready: Set<Int32>
    ) throws(Errno) {
        guard child.descriptorNumbers.contains(where: ready.contains) else { return }
        for sign in child.ready.drain() { handle(sign, of: child, slot) }
        passOn(child.output?.readLines(isOver: false, at: MonotonicClock.now()), slot)
        // Processes that it started must not outlive it.
        if child.isExternal, ready.contains(child.process.descriptor.descriptor.number) {
            child.process.killGroup()
        }
        guard let status = try child.process.poll() else { return }
        passOn(child.output?.readLines(isOver: true, at: MonotonicClock.now()), slot)
        noteEnd(of: child, slot, status)
        children[slot] = nil
        handle(.ended(slot: slot, status, hadJob: hadJob(child, slot)))
    }

    /// Returns whether a child of the stack crashed with a job, according to its own record; the
    /// coordinator judges the content.
    private func hadJob(_ child: SupervisedChild, _ slot: Int) -> Bool {
        page(of: child, slot).flatMap {
            ControlReader(directory: $0.directory).crashRecord(of: $0.life)?.job
        } != nil
    }

    private func passOn(_ lines: [String]?, _ slot: Int) {
        for line in lines ?? [] { note(.wrote(line), slot) }
    }

    private func noteEnd(of child: SupervisedChild, _ slot: Int, _ status: ChildStatus) {
        if let program = specifications[slot].externalProgram, let pool = child.pool, !isStopping,
            !state.isWelcomed(slot)
        {
            return note(.endedBeforeReady(pool, program: program, status), slot)
        }
        note(.ended(status, expected: isStopping), slot)
    }

    /// Reports an event of the stack, or of a slot's child.
    private func note(_ event: SupervisorNote.Event, _ slot: Int? = nil) {
        observe(
            SupervisorNote(
                event: event, kind: slot.map { specifications[$0].kind },
                process: slot.flatMap { children[$0]?.process.processID }))
    }

    private func handle(_ sign: Heartbeat, of child: SupervisedChild, _ slot: Int) {
        switch sign.stage {
        case .begun:
            note(.begun, slot)
            handle(.begun(slot: slot, sign.incarnation))
        case .ready:
            note(.welcomed, slot)
            handle(.welcomed(slot: slot, sign.incarnation))
            // Polled from now on, so that an answer can have arrived by the next check.
            if child.kind == .coordinator { _ = coordinatorAnswers() }
        case .alive: child.beats &+= 1
        }
    }

    /// Events caused by an action are handled after the actions before it.
    private func handle(_ event: SupervisorEvent) {
        var events = [event]
        while !events.isEmpty {
            var actions: [SupervisorAction] = []
            state.handle(events.removeFirst(), at: .now(), into: &actions)
            for action in actions {
                if let next = perform(action) { events.append(next) }
            }
        }
    }

    private func perform(_ action: SupervisorAction) -> SupervisorEvent? {
        switch action {
        case .spawn(let slot, let restarts): return spawn(slot, restarts: restarts)
        case .signal(let slot, let signal):
            // Fails only for a child that has exited and is reaped in the next turn.
            try? children[slot]?.process.send(signal)
        case .removeSegments(let kind, let incarnation):
            let count = directory.removeSegments(of: incarnation, kind: kind)
            if count > 0 { note(.removedSegments(kind, count)) }
        case .report(let event, let slot):
            if case .hangs = event, let slot, let child = children[slot] {
                recordStall(of: child, slot)
            }
            if event == .draining {
                isStopping = true
                ping?.leave()
                ping = nil
            }
            note(event, slot)
        case .finish(let end):
            directory.clear()
            self.end = end
        }
        return nil
    }

    /// Records the hang in the control segment, so that the coordinator can tell this kill from
    /// others. Without a segment the kill is not attributed to a job.
    private func recordStall(of child: SupervisedChild, _ slot: Int) {
        guard let page = page(of: child, slot) else { return }
        try? ControlVerdict.stoodStill.leave(in: page.directory, for: page.life)
    }

    private func spawn(_ slot: Int, restarts: UInt32) -> SupervisorEvent? {
        let specification = specifications[slot]
        do throws(Errno) {
            let child = try SupervisedChild(
                specification, restarts: restarts,
                secret: specification.pool.flatMap { secrets?.descriptorNumber(for: $0) })
            children[slot] = child
            note(.started, slot)
            return nil
        } catch {
            note(.cannotStart(program: specification.program, error), slot)
            return .spawnFailed(slot: slot)
        }
    }
}

/// An event that the supervisor logs.
package struct SupervisorNote: Hashable, Sendable, CustomStringConvertible {
    /// What happened, to a child unless stated otherwise.
    package enum Event: Hashable, Sendable {
        case started
        /// It is initialized and connects to its coordinator.
        case begun
        /// The coordinator welcomed it.
        case welcomed
        /// It exited; `expected` during a drain.
        case ended(ChildStatus, expected: Bool)
        /// An external program exited before the coordinator welcomed it.
        case endedBeforeReady(PoolName, program: String, ChildStatus)
        /// Its program could not be started.
        case cannotStart(program: String, Errno)
        /// It is hung and is killed.
        case hangs(Stall)
        /// It took too long to start, even with its extended limit, and is killed.
        case startsTooLong(milliseconds: Int, movedMilliseconds: Int)
        /// It was killed but hasn't exited, because it is blocked in the kernel.
        case unkilled
        /// A native library of it wrote a line to standard output or error.
        case wrote(String)
        /// It is restarted after a delay.
        case backingOff(milliseconds: Int)
        /// It exited because it can't run with these settings.
        case refused(code: Int32)
        /// All children are welcomed for the first time.
        case ready
        /// The stack drains.
        case draining
        /// No child has a configuration to reload.
        case nothingToReload
        /// The segments of a dead child were unlinked.
        case removedSegments(WorkerKind, Int)
    }

    package let event: Event
    /// The kind of the child; nil for an event of the stack.
    package let kind: ProcessKind?
    /// The child's process, if there is one.
    package let process: ProcessID?

    /// The severity of the event.
    package var level: LogLevel {
        switch event {
        case .started, .begun, .welcomed, .removedSegments: .debug
        case .ended(let status, let expected):
            // Status 0 means that an operator asked for a drain or that a worker was recycled.
            expected ? .debug : status.isSuccess ? .info : .warning
        case .cannotStart, .refused: .error
        case .backingOff, .hangs, .startsTooLong, .unkilled, .wrote, .endedBeforeReady:
            .warning
        case .ready, .draining, .nothingToReload: .info
        }
    }

    /// One line for the log.
    package var description: String {
        let number = process.map { "\($0)" }
        let child = [kind?.name, number].compactMap(\.self).joined(separator: " ")
        return switch event {
        case .started: "\(child) started"
        case .begun: "\(child) is connecting to its coordinator"
        case .welcomed: "\(child) ready"
        case .ended(let status, _): "\(child) ended: \(status)"
        case .endedBeforeReady(let pool, let program, let status):
            "pool \(pool): \(program) (process \(number ?? "")) ended before it was ready: "
                + "\(status)"
        case .cannotStart(let program, let errno):
            "\(child): \(program) cannot be started (\(errno)): "
                + "set IMAGEBUS_PROGRAMS to the directory of the programs"
        case .hangs(let stall): "\(child) does not respond: killed" + Self.excuse(stall)
        case .startsTooLong(let milliseconds, let moved):
            "\(child) did not start within \(milliseconds) ms"
                + (moved > 0 ? " and \(moved) ms in which it may have had no CPU time" : "")
                + ": killed"
        case .wrote(let line): "\(child) wrote: \(line)"
        case .unkilled:
            "\(child) was killed but has not exited: it is waiting for an unresponsive "
                + "disk and exits when that wait ends"
        case .backingOff(let milliseconds):
            "\(child) failed repeatedly; next start in \(milliseconds) ms"
        case .refused(let code):
            "\(child) cannot run with these settings (exit \(code)); see its message above"
        case .ready: "all processes are ready"
        case .draining: "draining"
        case .nothingToReload:
            "SIGHUP: nothing to reload; neither a coordinator nor a gateway is running"
        case .removedSegments(let kind, let count):
            "removed \(count) segments of a dead \(kind.name) process"
        }
    }

    private static func excuse(_ stall: Stall) -> String {
        let waited = stall.waitedMilliseconds
        return waited > 0 ? " (meanwhile it waited \(waited) ms for CPU time)" : ""
    }
}

/// The source of requests to stop or to reload the configuration.
package enum StopRequests: ~Copyable {
    /// SIGTERM and SIGINT stop, SIGHUP reloads; must be blocked in all threads.
    case signals(SignalDescriptor)
    /// Each byte of a pipe stops, for supervisors inside another program; its end stops
    /// immediately.
    case pipe(FileDescriptor)

    /// The signals that stop a stack.
    package static let stopSignals: [Signal] = [.terminate, .interrupt]

    /// The descriptor, readable when there is a request.
    var descriptorNumber: Int32 {
        switch self {
        case .signals(let source): source.descriptor.number
        case .pipe(let readEnd): readEnd.number
        }
    }

    /// The requests since the last call.
    struct ReceivedRequests {
        /// The number of stop requests.
        var stops = 0
        /// Whether to reload the configuration.
        var reloads = false
    }

    /// Returns the requests since the last call.
    borrowing func drain() throws(Errno) -> ReceivedRequests {
        switch self {
        case .signals(let source):
            var requests = ReceivedRequests()
            while let received = try source.next() {
                if received.signal == .hangUp {
                    requests.reloads = true
                } else {
                    requests.stops += 1
                }
            }
            return requests
        case .pipe(let readEnd):
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
            defer { buffer.deallocate() }
            // Reads one byte at a time; at the end of the pipe each read counts again, so that the
            // second one forces the end.
            _ = try readEnd.read(into: buffer)
            return ReceivedRequests(stops: 1)
        }
    }
}

/// `poll(2)` over a few descriptors until one is readable or closed.
package enum ReadinessPoll {
    /// Returns the ready descriptors; empty after `milliseconds` (nil: no limit) or a signal.
    package static func wait(_ numbers: [Int32], milliseconds: Int?) throws(Errno) -> Set<Int32> {
        var items = numbers.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let limit = milliseconds.map { Int32(clamping: $0) } ?? -1
        let count = poll(&items, nfds_t(items.count), limit)
        if count < 0 {
            let number = errno
            guard number == EINTR else { throw Errno(rawValue: number) }
            return []
        }
        return Set(items.filter { $0.revents != 0 }.map(\.fd))
    }
}
