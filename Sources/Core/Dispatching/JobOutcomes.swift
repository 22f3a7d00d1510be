package import ImageModel
package import Messages
import Tables

// What came of a job.
extension Dispatcher {
    /// The first outcome of the attempt that a worker holds counts; every other one only has its
    /// blocks released. `hasReaders`: whether clients read blocks of `results/`, so that room may
    /// come there.
    package mutating func collect(
        _ outcome: JobOutcome, from worker: WorkerID, hasReaders: Bool
    ) {
        guard roster.contains(worker) else { return }
        guard let job = jobs[outcome.id], job.worker == worker, job.attempt == outcome.attempt
        else { return discard(outcome.result, from: worker) }
        var result: JobResult
        do throws(ImageError) {
            result = try check(outcome.result, of: job, from: worker)
        } catch {
            return expel(worker, error)
        }
        if let error = misnamed(result, of: job) {
            discard(result, from: worker)
            result = .failed(error)
        }
        vacate(job)
        jobs.finished(job, at: now)
        if let stoppedAt = job.stoppedAt {
            figures.cancellations.answered(job.stage, since: stoppedAt, at: now)
        }
        guard job.isWanted else {
            forget(job)
            accuseIfOutOfTime(job, result)
            return discard(result, from: worker)
        }
        figures.worked(
            job.stage, microseconds: outcome.workMicroseconds,
            atMost: limits.jobMilliseconds[job.stage])
        if case .failed(let error) = result {
            failed(job, error, at: worker, hasReaders: hasReaders)
            return accuseIfOutOfTime(job, result)
        }
        succeeded(job, result, outcome.workMicroseconds, at: worker)
    }

    private mutating func succeeded(
        _ job: ActiveJob, _ result: JobResult, _ microseconds: UInt64, at worker: WorkerID
    ) {
        acquit(job, result)
        if case .fetched(let body) = result, let account = body.account {
            figures.transfers.record(account, atMost: limits.jobMilliseconds[job.stage])
        }
        // Its blocks are taken before the job lets go of what it read.
        let blocks = take(result, from: worker)
        forecast.made(result.references.reduce(0) { $0 + $1.length }, in: job.pool)
        forget(job)
        if let probe = job.probe { return acquitProducer(probe) }
        let worked = Double(microseconds) / 1_000
        complete(.done(Completion.Ended(job, worked: worked), result, blocks))
    }

    // MARK: - Failure

    /// A failure ends the job, with six exceptions: one that found no space waits for some; one
    /// that its worker gave up unasked is done by another; what could not be read is looked for;
    /// who made bytes that are not what was said loses its session; of an image that a decoder of
    /// others does not know the next one is asked; and an origin may be asked again.
    private mutating func failed(
        _ job: ActiveJob, _ error: ImageError, at worker: WorkerID, hasReaders: Bool
    ) {
        guard !job.isOfForeignCache else { return ended(job, error) }
        switch error.code {
        case .arenaFull:
            if job.waitsForSpace, park(job.id, hasReaders: hasReaders) { return }
            return ended(job, Self.noSpace)
        case .cancelled where job.isStopped, .shuttingDown where job.isStopped:
            return ended(
                job, ImageError(.deadlineExceeded, "the \(job.stage.name) stage took too long"))
        case .cancelled, .shuttingDown: return lost(job.id)
        case .stale where job.submission.input != nil && !job.isExpendable:
            return inputLost(job, at: worker)
        case .badImageData where job.kind == .cache: return inputForged(job)
        case .unsupportedFormat where asksNextCoder(job): return
        default: if delay(job, after: error) { return }
        }
        ended(job, Self.counting(job.retries + 1, in: error))
    }

    /// How far a transfer is, for whoever wants it still.
    package mutating func progressed(_ progress: JobProgress, at worker: WorkerID) {
        guard roster.contains(worker) else { return }
        var (progress, block) = (progress, BlockHandle?.none)
        if let arrived = progress.arrived {
            do throws(ImageError) {
                let checked = try check(arrived, of: progress, from: worker)
                progress.arrived = checked
                block = ledger.take(checked, from: worker, as: progress.format)
            } catch {
                return expel(worker, error)
            }
        }
        guard let job = jobs[progress.id], job.worker == worker,
            job.attempt == progress.attempt, job.isWanted
        else {
            if let block { drop(block) }
            return
        }
        complete(.progressed(progress, block))
    }
}

// Jobs end without a result, or begin again.
extension Dispatcher {
    /// The job is over without a result.
    mutating func ended(_ job: ActiveJob, _ error: ImageError) {
        forget(job)
        if let probe = job.probe { return lost(probe.job) }
        complete(.failed(Completion.Ended(job), error))
    }

    /// The worker that held the job is gone, or gave it up: another one tries. `goesLast`: the job
    /// may have been the cause, and delays nobody else.
    mutating func lost(_ id: JobID, goesLast: Bool = false) {
        guard let job = jobs[id], job.isWanted else { return }
        guard job.losses + 1 < limits.attemptsMax, !job.isExpendable, !job.isOfForeignCache
        else {
            return ended(job, Self.workerLost)
        }
        jobs.lost(id)
        requeue(id, goesLast: goesLast)
    }

    /// A job that its worker did not finish goes to the front of its class, or behind all others,
    /// as a new attempt.
    mutating func requeue(_ id: JobID, goesLast: Bool = false) {
        jobs.requeue(id, goesLast: goesLast, at: now)
        figures.requeued += 1
    }

    /// Whether the job may wait for space outside, where there is none. One that waits and may not
    /// any more is *busy*: nobody waits for it who would see that it ends.
    package mutating func waitsForSpace(_ id: JobID, _ may: Bool) {
        guard let job = jobs[id], job.waitsForSpace != may else { return }
        jobs.waitsForSpace(id, may)
        if !may, job.place == .parked { ended(job, Self.noSpace) }
    }

    static let noSpace = ImageError.busy("there is no space for the payload")

    /// Work lost more workers than are given to it.
    package static let workerLost = ImageError(
        .workerLost, "too many workers were lost with this work: try again later")
}

// An origin that failed in passing is asked again after a while.
extension Dispatcher {
    /// Puts a transfer that failed aside for another attempt; no worker holds it meanwhile. `false`
    /// where the failure is told at once: it is none of those, there were attempts enough, the
    /// origin asks for a long pause, or nobody waits as long as the next one would.
    mutating func delay(_ job: ActiveJob, after error: ImageError) -> Bool {
        guard job.stage == .fetch, job.retries < limits.fetchRetriesMax, Self.isTransient(error)
        else { return false }
        let pause = millisecondsToRetry(job, error)
        guard error.details["retryAfter"] == nil || pause <= limits.fetchRetryAfterMilliseconds
        else { return false }
        let until = now.adding(milliseconds: pause)
        guard until < job.urgency.deadline else { return false }
        jobs.delay(job.id, RetryDelay(until: until, error: error), at: now)
        return true
    }

    /// The time of another attempt has come, or nobody waits for as long as that.
    mutating func endDelay(of job: ActiveJob, _ delay: RetryDelay) {
        guard delay.until <= now else {
            return ended(job, Self.counting(job.retries, in: delay.error))
        }
        jobs.endDelay(of: job, at: now)
        figures.retries += 1
        requeue(job.id, goesLast: true)
    }

    /// Whether the origin, or the way to it, may be better in a moment.
    static func isTransient(_ error: ImageError) -> Bool {
        switch error.code {
        case .connectionFailed, .nameNotResolved, .timedOut, .shortBody, .connectionBroken,
            .invalidDownloadStatusCode:
            error.retryable
        default: false
        }
    }

    /// The same error; its details say how often the origin was asked.
    static func counting(_ attempts: Int, in error: ImageError) -> ImageError {
        guard attempts > 1 else { return error }
        var error = error
        error.details["attempt"] = "\(attempts)"
        return error
    }

    /// As long as the origin said (RFC 9110 §10.2.3), else twice as long each time.
    private func millisecondsToRetry(_ job: ActiveJob, _ error: ImageError) -> Int {
        if let seconds = error.details["retryAfter"].flatMap({ UInt32($0) }) {
            return Int(seconds) * 1_000
        }
        return Jitter.spread(
            limits.fetchRetryMilliseconds << min(job.retries, Self.doublingsMax), part: 4,
            seed: job.id.value &+ UInt64(job.retries) << 32)
    }

    private static let doublingsMax = 10
}

/// Why a transfer waits, and for when.
struct RetryDelay: Equatable, Sendable {
    let until: Instant
    /// What those who wait are told if none of them can wait that long.
    let error: ImageError
}

// A decoder of somebody else says that it does not know the image (SEMANTICS §10.21).
extension Dispatcher {
    /// Whether there may be something to see of an image before all of its bytes have come. Of what
    /// others alone decode they know.
    package func mayShowPartially(_ format: ImageFormat?) -> Bool {
        format?.traits.input?.isShownPartially ?? limits.pools.isDecodedElsewhere(format)
    }

    /// Whether anybody decodes the format.
    package func isDecoded(_ format: ImageFormat) -> Bool {
        format.isDecodable || limits.pools.isDecodedElsewhere(format)
    }

    /// Gives the decode to the next pool that may do it; `false` where there is none, or where it
    /// was one of ours that said so.
    mutating func asksNextCoder(_ job: ActiveJob) -> Bool {
        guard job.kind == .decode, limits.pools.all[job.pool.index].trust == .foreign,
            let pool = limits.pools.coder(
                after: job.pool, among: job.submission.coders, for: needs(of: job.submission))
        else { return false }
        do throws(ImageError) {
            if pool != PoolID(.decode) {
                try checkRoom(in: pool, for: job.submission, claimed: job.inputBytes)
            }
            jobs.move(job.id, to: pool, at: now)
        } catch {
            ended(job, error)
        }
        return true
    }
}

// Jobs of workers that are gone.
extension Dispatcher {
    /// Jobs that a worker held which is gone are done by another, as far as anybody wants them
    /// still: whoever needed what it had made has given up by now, and begins again.
    package mutating func redistribute(after departure: Departure) {
        let worker = departure.worker
        endDisputes(about: worker)
        // Each goes before the one that was put in front last.
        let held = jobs.values.filter { $0.worker == worker }.map(\.id)
        let accused = crashed(departure)
        for id in held.sorted(by: >) {
            guard let job = jobs[id] else { continue }
            vacate(job)
            if let stoppedAt = job.stoppedAt {
                figures.cancellations.ended(departure.pool, with: job.stage, since: stoppedAt)
            }
            let isBlamed = isBlamed(job, for: departure)
            if let crash = departure.crash, id == accused { accuse(job, crash) }
            if isBlamed { accuseOfLoss(job) }
            guard let left = jobs[id] else { continue }
            if left.isWanted {
                lost(id, goesLast: id == accused || isBlamed)
            } else {
                forget(left)
            }
        }
    }

    /// Whether the loss of a worker is held against a job: the kernel kills a process that takes
    /// too much memory, and that leaves no record. Only of workers that do one job at a time is it
    /// known which job that was; one that was told to stop may have ended its worker by that, and
    /// one that had just begun took no memory yet.
    private func isBlamed(_ job: ActiveJob, for departure: Departure) -> Bool {
        departure.isLost && job.stoppedAt == nil && job.isWanted
            && (job.kind == .decode || job.kind == .transform)
            && job.heldSince.adding(milliseconds: limits.lossMilliseconds) <= now
    }

    /// The job with which the worker crashed or hung: one that it held, whatever it wrote down.
    package func crashed(_ departure: Departure) -> JobID? {
        guard let crash = departure.crash, let id = crash.job, let job = jobs[id],
            job.worker == departure.worker, job.attempt == crash.attempt
        else { return nil }
        return id
    }
}

// Time passes only in events; this is what it does to jobs.
extension Dispatcher {
    /// When the next alarm of a job rings, or those that found no space try again; `nil` while no
    /// job waits for time.
    package var nextDeadline: Instant? {
        let retry = jobs.parked.since?.adding(milliseconds: limits.parkedMilliseconds)
        return nextAlarm.orEarlier(retry)
    }

    /// When the next alarm rings.
    package var nextAlarm: Instant? { jobs.nextAlarm }

    /// Looks after the job whose alarm is the first; `false` where that does not count any more.
    package mutating func ringFirstAlarm() -> Bool {
        guard let id = jobs.takeFirstAlarm() else { return false }
        lookAfter(id)
        return true
    }

    /// Throws out alarms that are of no use.
    package mutating func forgetAlarms() { jobs.forgetAlarms() }

    /// A worker that did not give a job up by itself is told to; one that does not even answer
    /// then loses its session (SEMANTICS §7.6).
    private mutating func lookAfter(_ id: JobID) {
        guard let job = jobs[id] else { return }
        if case .delayed(let delay) = job.place { return endDelay(of: job, delay) }
        guard let worker = job.worker else { return }
        guard job.isStopped else { return stop(id, at: worker) }
        let silent = ImageError(.timedOut, "a worker does not answer a cancelled job")
        expel(worker, silent)
    }
}

/// In which order transfers began: of two answers of an origin, that to the later question is the
/// newer one.
package struct TransferSerial: Comparable, Hashable, Sendable {
    private var number: UInt64 = 0

    /// Before all transfers.
    package init() {}

    /// The serial of the next transfer.
    mutating func next() -> TransferSerial {
        number += 1
        return self
    }

    package static func < (left: TransferSerial, right: TransferSerial) -> Bool {
        left.number < right.number
    }
}

extension TransferSerial? {
    /// Whether there was a transfer, and it began earlier.
    package func isBefore(_ other: TransferSerial) -> Bool { map { $0 < other } ?? false }
}
