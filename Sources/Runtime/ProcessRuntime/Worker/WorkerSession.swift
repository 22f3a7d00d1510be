import Model

/// The worker's side of consecutive connections: the messages to send and the jobs held.
///
/// A pure state machine: events in, actions out. A session begins with `Welcome` and ends with the
/// connection; jobs held at that time are abandoned, because the coordinator has reassigned them.
struct WorkerSession {
    private enum State: Equatable {
        /// Not connected. Next: greeting, ended.
        case away
        /// `Hello` was sent. Next: ready, away, ended.
        case greeting
        /// Welcomed. Next: leaving, away, ended.
        case ready
        /// Goodbye was sent. Held jobs are completed, including those that the coordinator sent
        /// before it received the goodbye. The session ends when no jobs are held and all
        /// outstanding blocks are released. Next: ended.
        case leaving(GoodbyeReason)
        /// The loop stops. Final.
        case ended
    }

    /// An action for the loop, to be executed in order.
    enum Action: Equatable {
        case sendHello
        /// Announce all segments and other state: the coordinator has none of a new session.
        case announceEverything
        /// Notify the supervisor.
        case notifyReady
        /// Cancel all jobs and free every block.
        case abandonEverything
        case start(Job)
        /// Cancel this job; its outcome follows.
        case cancel(JobID)
        /// Apply a new deadline or class to this job.
        case adjust(JobAdjustment)
        /// Free these blocks.
        case release([BlockID])
        /// Mark these blocks as recently used.
        case touched([BlockID])
        /// Apply these cache settings.
        case adopt([NamedCacheSettings])
        /// Apply these transfer settings.
        case adoptDownloads(DownloadSettings)
        /// Send this outcome, which returns the job's credit.
        case sendOutcome(JobOutcome)
        /// Free the blocks of an outcome that is not sent.
        case discard(JobOutcome)
        /// Send goodbye: no new jobs are accepted.
        case sendGoodbye(GoodbyeReason)
        /// Write unsaved data, wait until outstanding blocks are released, then call `flushed`.
        case flush
        /// Stop.
        case end(GoodbyeReason)
        /// Stop with an error, because retrying would not help.
        case giveUp(ImageError)
    }

    private var state: State = .away
    private var held: [JobID: UInt32] = [:]

    /// Whether the coordinator has registered this process.
    var isRegistered: Bool { state == .ready }

    /// Whether goodbye was sent and the session hasn't ended.
    var isLeaving: Bool { if case .leaving = state { true } else { false } }

    /// The only held job and its attempt; `nil` for none or several.
    var onlyJob: (job: JobID, attempt: UInt32)? {
        held.count == 1 ? held.first.map { ($0.key, $0.value) } : nil
    }

    func attempt(of job: JobID) -> UInt32? { held[job] }

    /// Handles a completed handshake.
    mutating func linkUp() -> [Action] {
        switch state {
        case .away, .greeting, .ready:
            state = .greeting
            return [.sendHello]
        case .leaving, .ended: return []
        }
    }

    /// Handles a tick: repeats an unanswered hello.
    func ticked() -> [Action] { state == .greeting ? [.sendHello] : [] }

    /// Handles the end of the connection.
    mutating func linkDown() -> [Action] {
        held.removeAll()
        switch state {
        case .away, .greeting, .ready:
            state = .away
            return [.abandonEverything]
        case .leaving(let reason):
            state = .ended
            return [.abandonEverything, .end(reason)]
        case .ended: return []
        }
    }

    /// Handles a command of the coordinator.
    mutating func received(_ command: WorkerCommand) -> [Action] {
        switch (command, state) {
        case (_, .ended), (_, .away): []
        case (.welcome, .greeting): welcomed()
        case (.welcome, _): welcomedAgain()
        case (.helloRequired, _): helloRequired()
        case (.refused(let error), .greeting): turnedAway(error)
        case (_, .greeting): []
        case (.job(let job), _): release(job.released) + start(job)
        case (.cancelJob(let id), _): held[id] == nil ? [] : [.cancel(id)]
        case (.adjust(let adjustment), _):
            held[adjustment.id] == nil ? [] : [.adjust(adjustment)]
        case (.release(let blocks), _): release(blocks)
        case (.touched(let blocks), _): [.touched(blocks)]
        case (.cacheSettings(let settings), _): [.adopt(settings)]
        case (.downloadSettings(let settings), _): [.adoptDownloads(settings)]
        case (.drain, _): leave(.drained)
        case (.refused, _): leaveNow(.terminated)
        }
    }

    /// Handles the end of a job.
    mutating func finished(_ outcome: JobOutcome) -> [Action] {
        guard held.removeValue(forKey: outcome.id) != nil else { return [.discard(outcome)] }
        switch state {
        case .leaving:
            return [.sendOutcome(outcome)] + (held.isEmpty ? [.flush] : [])
        case .ready: return [.sendOutcome(outcome)]
        case .away, .greeting, .ended: return [.discard(outcome)]
        }
    }

    /// Handles SIGTERM: the first one drains the process, a repeated one ends it immediately.
    mutating func terminated() -> [Action] {
        if case .leaving = state { return leaveNow(.terminated) }
        return leave(.terminated)
    }

    /// Drains the process, so that its supervisor replaces it with a fresh one.
    mutating func recycle() -> [Action] {
        state == .ready ? leave(.recycled) : []
    }

    /// Ends the session because native code did not stop within the grace period of a cancellation.
    mutating func gaveUpOnNativeCode() -> [Action] { leaveNow(.cancelledHard) }

    /// Ends the session after the drain timeout although jobs are held; the coordinator reassigns
    /// them.
    mutating func tookTooLong() -> [Action] {
        guard case .leaving(let reason) = state else { return [] }
        state = .ended
        return [.end(reason)]
    }

    /// Handles the end of flushing. Has no effect while a job is held that the coordinator sent
    /// before it received the goodbye; the outcome of that job flushes again.
    mutating func flushed() -> [Action] {
        guard case .leaving(let reason) = state, held.isEmpty else { return [] }
        state = .ended
        return [.end(reason)]
    }

    private mutating func welcomed() -> [Action] {
        state = .ready
        return [.announceEverything, .notifyReady]
    }

    /// Handles a refused hello. If all sessions are in use, hello is repeated later; if this
    /// process is not allowed to connect, retrying can't help.
    private mutating func turnedAway(_ error: ImageError) -> [Action] {
        guard error.code == .addressForbidden else { return [] }
        state = .ended
        return [.giveUp(error)]
    }

    /// Handles the answer to a repeated hello: the second session has replaced the first, and its
    /// jobs arrive as new attempts (PROTOCOL §5).
    private mutating func welcomedAgain() -> [Action] {
        held.removeAll()
        switch state {
        case .ready: return [.abandonEverything, .announceEverything]
        case .leaving: return [.abandonEverything, .flush]
        case .away, .greeting, .ended: return []
        }
    }

    /// Handles a request for hello: the coordinator was replaced and doesn't know this process yet.
    private mutating func helloRequired() -> [Action] {
        guard state == .ready else { return state == .greeting ? [.sendHello] : [] }
        held.removeAll()
        state = .greeting
        return [.abandonEverything, .sendHello]
    }

    private func release(_ blocks: [BlockID]) -> [Action] {
        blocks.isEmpty ? [] : [.release(blocks)]
    }

    private mutating func start(_ job: Job) -> [Action] {
        guard held[job.id] == nil else { return [] }
        held[job.id] = job.attempt
        return [.start(job)]
    }

    private mutating func leave(_ reason: GoodbyeReason) -> [Action] {
        switch state {
        case .leaving, .ended: return []
        case .away, .greeting:
            state = .leaving(reason)
            return [.flush]
        case .ready:
            state = .leaving(reason)
            return [.sendGoodbye(reason)] + (held.isEmpty ? [.flush] : [])
        }
    }

    /// Ends the connection immediately; the coordinator reassigns all held jobs.
    private mutating func leaveNow(_ reason: GoodbyeReason) -> [Action] {
        guard state != .ended else { return [] }
        state = .ended
        return [.sendGoodbye(reason), .end(reason)]
    }
}
