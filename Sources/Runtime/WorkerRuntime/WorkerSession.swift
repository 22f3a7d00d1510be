import ImageModel
import Messages

/// The worker's side of one connection after the other: what is said when, and which jobs are held.
///
/// Pure: events in, actions out. A session begins with `Welcome` and ends with the connection; what
/// was held then is abandoned, since the coordinator has given it to somebody else.
struct WorkerSession {
    private enum State: Equatable {
        /// No connection. Next: greeting, ended.
        case away
        /// `Hello` was said. Next: ready, away, ended.
        case greeting
        /// Welcomed. Next: leaving, away, ended.
        case ready
        /// Said goodbye: does what it still holds, and what crossed the goodbye; ends once nothing
        /// is held and what it handed over is released. Next: ended.
        case leaving(GoodbyeReason)
        /// The loop stops. Final.
        case ended
    }

    /// What the loop is to do, in order.
    enum Action: Equatable {
        /// Introduce this process.
        case sayHello
        /// The coordinator knows nothing of us yet: announce all segments, and what else there is.
        case announceEverything
        /// Tell the supervisor.
        case tellReady
        /// Cancel whatever runs and free every block.
        case abandonEverything
        /// Begin this job.
        case start(Job)
        /// Stop this job; its outcome follows.
        case cancel(JobID)
        /// This job has another deadline or class.
        case adjust(JobAdjustment)
        /// These blocks are free.
        case release([BlockID])
        /// These blocks were used.
        case touched([BlockID])
        /// The configuration sets this of the caches.
        case adopt([NamedCacheSettings])
        /// The configuration sets this of transfers.
        case adoptDownloads(DownloadSettings)
        /// Send this outcome; it frees the job's place.
        case sendOutcome(JobOutcome)
        /// Nobody wants what this outcome names.
        case discard(JobOutcome)
        /// Say that nothing new is taken.
        case sayGoodbye(GoodbyeReason)
        /// Write what is unwritten, wait until what was handed over is released, then call
        /// `flushed`.
        case flush
        /// Stop.
        case end(GoodbyeReason)
        /// Stop, and say why: no other try would end better.
        case giveUp(ImageError)
    }

    private var state: State = .away
    private var held: [JobID: UInt32] = [:]

    /// Whether the coordinator knows this process.
    var isWelcome: Bool { state == .ready }

    /// Jobs that were taken and not answered.
    var heldCount: Int { held.count }

    /// The only job that is held, and its attempt; `nil` with none or several.
    var onlyJob: (job: JobID, attempt: UInt32)? {
        held.count == 1 ? held.first.map { ($0.key, $0.value) } : nil
    }

    /// The attempt of a job that is held.
    func attempt(of job: JobID) -> UInt32? { held[job] }

    /// The handshake is done.
    mutating func linkUp() -> [Action] {
        switch state {
        case .away, .greeting, .ready:
            state = .greeting
            return [.sayHello]
        case .leaving, .ended: return []
        }
    }

    /// A second has passed: a hello that was not answered is said again.
    func ticked() -> [Action] { state == .greeting ? [.sayHello] : [] }

    /// The connection ended.
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

    /// The coordinator said something.
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

    /// A job ended.
    mutating func finished(_ outcome: JobOutcome) -> [Action] {
        guard held.removeValue(forKey: outcome.id) != nil else { return [.discard(outcome)] }
        switch state {
        case .leaving:
            return [.sendOutcome(outcome)] + (held.isEmpty ? [.flush] : [])
        case .ready: return [.sendOutcome(outcome)]
        case .away, .greeting, .ended: return [.discard(outcome)]
        }
    }

    /// SIGTERM: the first one leaves in order, the second one now.
    mutating func terminated() -> [Action] {
        if case .leaving = state { return leaveNow(.terminated) }
        return leave(.terminated)
    }

    /// This process has done enough.
    mutating func recycle() -> [Action] {
        state == .ready ? leave(.recycled) : []
    }

    /// Native code did not heed a cancel within the grace.
    mutating func gaveUpOnNativeCode() -> [Action] { leaveNow(.cancelledHard) }

    /// Who was told to leave still holds something: it goes to others with the connection.
    mutating func tookTooLong() -> [Action] {
        guard case .leaving(let reason) = state else { return [] }
        state = .ended
        return [.end(reason)]
    }

    /// Everything is written. With a job that crossed the goodbye, its outcome comes first.
    mutating func flushed() -> [Action] {
        guard case .leaving(let reason) = state, held.isEmpty else { return [] }
        state = .ended
        return [.end(reason)]
    }

    private mutating func welcomed() -> [Action] {
        state = .ready
        return [.announceEverything, .tellReady]
    }

    /// A place that is not free now may be later; a listener that is closed to this process stays
    /// so.
    private mutating func turnedAway(_ error: ImageError) -> [Action] {
        guard error.code == .addressForbidden else { return [] }
        state = .ended
        return [.giveUp(error)]
    }

    /// Two hellos were answered: the second session has replaced the first, and its jobs come as
    /// new attempts (PROTOCOL §5).
    private mutating func welcomedAgain() -> [Action] {
        held.removeAll()
        switch state {
        case .ready: return [.abandonEverything, .announceEverything]
        case .leaving: return [.abandonEverything, .flush]
        case .away, .greeting, .ended: return []
        }
    }

    /// A coordinator that does not know us is not the one that welcomed us.
    private mutating func helloRequired() -> [Action] {
        guard state == .ready else { return state == .greeting ? [.sayHello] : [] }
        held.removeAll()
        state = .greeting
        return [.abandonEverything, .sayHello]
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
            return [.sayGoodbye(reason)] + (held.isEmpty ? [.flush] : [])
        }
    }

    /// The end of the connection follows at once, and with it whatever is held goes to others.
    private mutating func leaveNow(_ reason: GoodbyeReason) -> [Action] {
        guard state != .ended else { return [] }
        state = .ended
        return [.sayGoodbye(reason), .end(reason)]
    }
}
