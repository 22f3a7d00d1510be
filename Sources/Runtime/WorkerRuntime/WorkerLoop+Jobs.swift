import Bootstrap
import ControlSegment
import EventLoop
import Linux
import Messages
import Observability

/// Which timers a job has: that of its deadline, and that of the grace after its first cancel.
struct JobTimers {
    private var deadlines: [JobID: TimerID] = [:]
    private var graces: [JobID: TimerID] = [:]

    /// Returns the deadline that counts no longer.
    mutating func setDeadline(_ timer: TimerID, of job: JobID) -> TimerID? {
        deadlines.updateValue(timer, forKey: job)
    }

    mutating func setGrace(_ timer: TimerID, of job: JobID) { graces[job] = timer }

    /// Whether it was told to stop.
    func hasGrace(_ job: JobID) -> Bool { graces[job] != nil }

    mutating func take(_ job: JobID) -> [TimerID] {
        [deadlines.removeValue(forKey: job), graces.removeValue(forKey: job)].compactMap { $0 }
    }

    mutating func takeAll() -> [TimerID] {
        defer { self = JobTimers() }
        return Array(deadlines.values) + Array(graces.values)
    }
}

extension WorkerLoop {
    /// A job that outlives its time is stopped as if it had been cancelled.
    mutating func start(_ job: Job) {
        setDeadline(of: job.id, millisecondsLeft: job.millisecondsLeft)
        var own = job
        own.id = running.begin(job.id)
        jobLog.began(job, as: own.id, in: bootstrap.log)
        if executor.needsHardCancel { processorTimeAtStart = ProcessorClock.now() }
        executor.start(own)
    }

    mutating func cancel(_ job: JobID) {
        if let own = running.own(job) { executor.cancel(own) }
    }

    /// The coordinator has a longer or a shorter time for it. Whom it told to stop stops.
    mutating func adjust(_ adjustment: JobAdjustment) {
        guard let own = running.own(adjustment.id), !jobTimers.hasGrace(adjustment.id) else {
            return
        }
        setDeadline(of: adjustment.id, millisecondsLeft: adjustment.millisecondsLeft)
        var mine = adjustment
        mine.id = own
        executor.adjust(mine)
    }

    private mutating func setDeadline(of job: JobID, millisecondsLeft: UInt32) {
        let due = Instant.now().adding(milliseconds: Int(millisecondsLeft))
        let timer = timers.schedule(.deadline(job), at: due)
        if let old = jobTimers.setDeadline(timer, of: job) { timers.cancel(old) }
    }

    /// Native code may ignore a cancel: then the end of the process is the cancel.
    mutating func expectEnd(of job: JobID, at now: Instant) {
        guard executor.needsHardCancel, !jobTimers.hasGrace(job) else { return }
        let due = now.adding(milliseconds: policy.cancelGraceMilliseconds)
        jobTimers.setGrace(timers.schedule(.grace(job), at: due), of: job)
    }

    /// Where the work itself may be left alone, too much of it that goes on for nobody does the
    /// same.
    mutating func endIfForsaken() throws {
        guard executor.hasForsakenTooMuch else { return }
        bootstrap.log.warning("too much of what was cancelled goes on", [:])
        try perform(session.gaveUpOnNativeCode())
    }

    /// Somebody else's process says that it lives; where nobody reads that any more, its supervisor
    /// has gone.
    private mutating func sayAlive() throws {
        guard standing == .foreign, pulse == .beats,
            !bootstrap.ready.tell(.alive, bootstrap.incarnation)
        else { return }
        try perform(session.terminated())
    }

    /// Work that does not stop is evidence against its image, strong if it has used more of the
    /// processors than any image takes. A cancel or a short deadline may come at any moment: how
    /// long the job was held the coordinator knows. How long other work takes the request decides.
    private mutating func blame() {
        guard policy.hangSeconds != nil else { return }
        let verdict: ControlVerdict = hangs ? .didNotStop : .cancelledHard
        control?.blameJob(verdict)
    }

    private var hangs: Bool {
        guard let began = processorTimeAtStart else { return false }
        return policy.hangs(after: ProcessorClock.now() - began)
    }

    /// A job that used more than any image takes ends at once, or with the process.
    private mutating func stopHang(at now: Instant) {
        guard policy.stopsHangs, hangs else { return }
        for job in running.wanted { expectEnd(of: job, at: now) }
    }

    /// The job at which the executor's thread stands is the one that a kill is held against.
    private mutating func feelPulse() {
        let before = pulse
        pulse = executor.pulse()
        if pulse != before { recordHeld() }
    }

    /// A job has ended: nothing of it is due any more.
    mutating func forget(_ job: JobID) {
        for timer in jobTimers.take(job) { timers.cancel(timer) }
    }

    mutating func forgetAll() {
        for timer in jobTimers.takeAll() { timers.cancel(timer) }
    }

    mutating func fire(_ timer: WorkerTimer, at now: Instant) throws {
        switch timer {
        case .deadline(let job):
            cancel(job)
            expectEnd(of: job, at: now)
        case .grace(let job):
            bootstrap.log.warning("a job did not heed its cancel", ["job": LogValue(job.value)])
            blame()
            try perform(session.gaveUpOnNativeCode())
        case .farewell:
            guard awaitsRelease else { return }
            bootstrap.log.warning("blocks were not released before the end", [:])
            awaitsRelease = false
            executor.flush()
        case .departure:
            bootstrap.log.warning("ends with what it holds: others do it", [:])
            try perform(session.tookTooLong())
        case .retry: isRetrying = false
        case .tick:
            executor.tick()
            feelPulse()
            stopHang(at: now)
            try endIfForsaken()
            try sayAlive()
            try perform(session.ticked())
            timers.schedule(.tick, at: now.adding(milliseconds: Self.tickMilliseconds))
        }
    }
}
