import Model

// Handling of job outcomes.
extension Dispatcher {
    /// Accepts the first outcome for the attempt that the worker holds; for any other outcome, only
    /// its blocks are released. `hasReaders` is whether clients read blocks in `results/`, so that
    /// space may be freed there.
    func collect(
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
        jobs.finished(job)
        if let stoppedAt = job.stoppedAt {
            metrics.cancellations.answered(job.stage, since: stoppedAt, at: now)
        }
        guard job.isWanted else {
            forget(job)
            accuseIfOutOfTime(job, result)
            return discard(result, from: worker)
        }
        metrics.worked(
            job.stage, microseconds: outcome.workMicroseconds,
            atMost: limits.jobMilliseconds[job.stage])
        if case .failed(let error) = result {
            failed(job, error, at: worker, hasReaders: hasReaders)
            return accuseIfOutOfTime(job, result)
        }
        succeeded(job, result, outcome.workMicroseconds, at: worker)
    }

    private func succeeded(
        _ job: ActiveJob, _ result: JobResult, _ microseconds: UInt64, at worker: WorkerID
    ) {
        acquit(job, result)
        if case .fetched(let body) = result, let account = body.account {
            metrics.transferred(account, atMost: limits.jobMilliseconds[job.stage])
            shared.counters.transfers.add(account)
        }
        // Takes the result's blocks before the job drops its inputs.
        let blocks = registerBlocks(result, from: worker)
        forecast.produced(result.references.reduce(0) { $0 + $1.length }, in: job.pool)
        forget(job)
        if let probe = job.probe { return acquitProducer(probe) }
        let worked = Double(microseconds) / 1_000
        complete(.ended(Completion.Ended(job, worked: worked), .success(result), blocks))
    }

    // MARK: - Failure

    /// Handles a reported failure of a job, which no worker holds any more.
    private func failed(
        _ job: ActiveJob, _ error: ImageError, at worker: WorkerID, hasReaders: Bool
    ) {
        switch decision(after: error, of: job, hasReaders: hasReaders) {
        case .end(let error): ended(job, error)
        case .again: lost(job)
        case .waitForSpace: jobs.park(job)
        case .retry(let delay): jobs.delay(job, delay)
        case .checkInput: inputLost(job, at: worker)
        case .blameProducer: inputForged(job)
        case .nextDecoder(let pool): move(job, to: pool)
        }
    }

    /// What follows the failure of a job.
    private enum Decision {
        /// The failure is reported.
        case end(ImageError)
        /// Another worker gets the job, as if this one had been lost.
        case again
        /// The job waits until there is space.
        case waitForSpace
        /// The transfer is repeated after a pause.
        case retry(RetryDelay)
        /// The cache checks whether the input is there.
        case checkInput
        /// The producer of the input loses its session.
        case blameProducer
        /// The next decoder gets the image.
        case nextDecoder(PoolID)
    }

    /// The decision table: by cause, by the number of attempts so far and by stage.
    private func decision(
        after error: ImageError, of job: ActiveJob, hasReaders: Bool
    ) -> Decision {
        switch (error.code, job.stage) {
        case _ where job.isOfExternalCache: .end(error)
        case (.arenaFull, _):
            mayPark(job, hasReaders: hasReaders) ? .waitForSpace : .end(Self.noSpace)
        case (.cancelled, _) where job.isStopped, (.shuttingDown, _) where job.isStopped:
            .end(ImageError(.deadlineExceeded, "the \(job.stage.name) stage took too long"))
        case (.cancelled, _), (.shuttingDown, _): .again
        case (.stale, _) where job.submission.input != nil && !job.isExpendable: .checkInput
        case (.badImageData, .store), (.badImageData, .query): .blameProducer
        case (.unsupportedFormat, .decode):
            nextDecoder(of: job).map { .nextDecoder($0) } ?? .end(error)
        case (_, .fetch):
            retryDelay(of: job, after: error).map { .retry($0) }
                ?? .end(Self.counting(job.retries + 1, in: error))
        default: .end(error)
        }
    }

    /// Handles a progress report of a transfer.
    func progressed(_ progress: JobProgress, at worker: WorkerID) {
        guard roster.contains(worker) else { return }
        var (progress, block) = (progress, BlockHandle?.none)
        if let arrived = progress.arrived {
            do throws(ImageError) {
                let checked = try check(arrived, of: progress, from: worker)
                progress.arrived = checked
                block = ledger.register(checked, from: worker, as: progress.format)
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

// Jobs that end without a result or start again.
extension Dispatcher {
    /// Ends a job without a result.
    func ended(_ job: ActiveJob, _ error: ImageError) {
        forget(job)
        if let probe = job.probe { return lost(jobs[probe.job]) }
        fail(job, error)
    }

    /// Requeues a job whose worker is gone or gave it up. With `goesLast`, the job may have caused
    /// the loss and goes to the end so that it delays no others.
    func lost(_ job: ActiveJob?, goesLast: Bool = false) {
        guard let job, job.isWanted else { return }
        guard job.losses + 1 < limits.attemptsMax, !job.isExpendable, !job.isOfExternalCache
        else {
            return ended(job, Self.workerLost)
        }
        job.losses += 1
        requeue(job, goesLast: goesLast)
    }

    /// Requeues an unfinished job as a new attempt, at the front of its class or behind all other
    /// jobs.
    func requeue(_ job: ActiveJob, goesLast: Bool = false) {
        jobs.requeue(job, goesLast: goesLast)
        shared.counters.requeued += 1
    }

    /// Sets whether the job may wait for space. A parked job that may no longer wait ends as
    /// *busy*, because no subscriber would notice that it never ends.
    func waitsForSpace(_ id: JobID, _ may: Bool) {
        guard let job = jobs[id], job.waitsForSpace != may else { return }
        job.waitsForSpace = may
        if !may, job.place == .parked { ended(job, Self.noSpace) }
    }

    static let noSpace = ImageError.busy("there is no space for the payload")

    /// The error for work that lost the maximum number of workers.
    static let workerLost = ImageError(
        .workerLost, "too many workers were lost while running this job: try again later")
}

// Retries of transfers after transient origin failures.
extension Dispatcher {
    /// Returns when to repeat a failed transfer; no worker holds it meanwhile. Returns `nil` if the
    /// failure must be reported at once: it isn't transient, the retries are used up, the origin
    /// asks for a long delay, or no subscriber waits long enough for the next attempt.
    private func retryDelay(of job: ActiveJob, after error: ImageError) -> RetryDelay? {
        guard job.retries < limits.fetchRetriesMax, Self.isTransient(error) else { return nil }
        let pause = millisecondsToRetry(job, error)
        let hasRetryAfter = error.typedDetails[text: \.retryAfterSeconds] != nil
        guard !hasRetryAfter || pause <= limits.fetchRetryAfterMilliseconds else { return nil }
        let until = now.adding(milliseconds: pause)
        return until < job.urgency.deadline ? RetryDelay(until: until, error: error) : nil
    }

    /// Requeues a delayed transfer when its time has come, or ends it if no subscriber waits that
    /// long.
    func endDelay(of job: ActiveJob, _ delay: RetryDelay) {
        guard delay.until <= now else {
            return ended(job, Self.counting(job.retries, in: delay.error))
        }
        job.waited += now.fractionalMilliseconds(since: job.waitingSince)
        shared.counters.retries += 1
        requeue(job, goesLast: true)
    }

    /// Whether a retry may succeed soon because the problem is with the origin or the network path.
    static func isTransient(_ error: ImageError) -> Bool {
        let codes: Set<ErrorCode> = [
            .connectionFailed, .nameNotResolved, .timedOut, .shortBody, .connectionBroken,
            .invalidDownloadStatusCode,
        ]
        return codes.contains(error.code) && error.retryable
    }

    /// Returns the error with the number of attempts in its details.
    static func counting(_ attempts: Int, in error: ImageError) -> ImageError {
        guard attempts > 1 else { return error }
        var error = error
        error.typedDetails.attempt = attempts
        return error
    }

    /// Returns the delay that the origin asked for (RFC 9110 §10.2.3), else an exponential backoff.
    private func millisecondsToRetry(_ job: ActiveJob, _ error: ImageError) -> Int {
        if let seconds = error.typedDetails.retryAfterWholeSeconds { return Int(seconds) * 1_000 }
        return Jitter.spread(
            limits.fetchRetryMilliseconds << min(job.retries, Self.doublingsMax), part: 4,
            seed: job.id.value &+ UInt64(job.retries) << 32)
    }

    private static let doublingsMax = 10
}

/// The retry time of a delayed transfer and the error that delays it.
struct RetryDelay: Equatable, Sendable {
    let until: Instant
    /// The error to report if no subscriber waits until the retry.
    let error: ImageError
}

// Next decoder after an external decoder reported an unsupported format (SEMANTICS §10.21).
extension Dispatcher {
    /// Whether a partial image of this format may be visible before all bytes have arrived.
    /// External decoders decide this themselves for the formats that only they decode.
    func mayShowPartially(_ format: ImageFormat?) -> Bool {
        format?.traits.input?.isShownPartially ?? limits.pools.isDecodedElsewhere(format)
    }

    /// Whether any pool decodes the format.
    func isDecoded(_ format: ImageFormat) -> Bool {
        format.isDecodable || limits.pools.isDecodedElsewhere(format)
    }

    /// Returns the next suitable pool for an image that its decoder doesn't support; `nil` if there
    /// is none or a built-in pool rejected the format.
    private func nextDecoder(of job: ActiveJob) -> PoolID? {
        guard limits.pools.all[job.pool.index].trust == .external else { return nil }
        return limits.pools.coder(
            after: job.pool, among: job.submission.coders, for: needs(of: job.submission))
    }

    private func move(_ job: ActiveJob, to pool: PoolID) {
        do throws(ImageError) {
            if pool != PoolID(.decode) {
                try checkRoom(in: pool, for: job.submission, claimed: job.inputBytes)
            }
            jobs.move(job, to: pool)
        } catch {
            ended(job, error)
        }
    }
}

// Jobs of departed workers.
extension Dispatcher {
    /// Requeues the jobs of a departed worker that are still wanted. Work that needed the worker's
    /// output has been torn down by now and starts again.
    func redistribute(after departure: Departure) {
        let worker = departure.worker
        endDisputes(about: worker)
        // Requeued in descending order because each goes ahead of the previous one.
        let held = jobs.values.filter { $0.worker == worker }.map(\.id)
        let accused = crashed(departure)
        for id in held.sorted(by: >) {
            guard let job = jobs[id] else { continue }
            vacate(job)
            if let stoppedAt = job.stoppedAt {
                metrics.cancellations.ended(departure.pool, with: job.stage, since: stoppedAt)
            }
            let isBlamed = isBlamed(job, for: departure)
            if let crash = departure.crash, id == accused { accuse(job, crash) }
            if isBlamed { accuseOfLoss(job) }
            if job.isWanted {
                lost(job, goesLast: id == accused || isBlamed)
            } else {
                forget(job)
            }
        }
    }

    /// Whether the loss of a worker counts as evidence against a job. A process that the kernel
    /// kills for its memory use leaves no record. The job is known only for workers that run one
    /// job at a time. A canceled job may have caused the exit by that, and a job that just started
    /// can't have used much memory yet.
    private func isBlamed(_ job: ActiveJob, for departure: Departure) -> Bool {
        departure.isLost && job.stoppedAt == nil && job.isWanted
            && (job.kind == .decode || job.kind == .transform)
            && job.heldSince.adding(milliseconds: limits.lossMilliseconds) <= now
    }

    /// Returns the job with which the worker crashed or hung, provided that the worker actually
    /// held it.
    func crashed(_ departure: Departure) -> JobID? {
        guard let crash = departure.crash, let id = crash.job, let job = jobs[id],
            job.worker == departure.worker, job.attempt == crash.attempt
        else { return nil }
        return id
    }
}

// Timers of jobs; time advances only through events.
extension Dispatcher {
    /// The time of the next job timer or retry of parked jobs; `nil` if no job waits for a time.
    var nextDeadline: Instant? {
        let retry = jobs.parked.since?.adding(milliseconds: limits.parkedMilliseconds)
        return nextAlarm.min(retry)
    }

    /// The time of the next job timer.
    var nextAlarm: Instant? { jobs.nextAlarm }

    /// Handles the next due timer: cancels a job that exceeded its deadline. If the worker doesn't
    /// answer the cancellation either, its session ends (SEMANTICS §7.6). Returns `false` if the
    /// timer was already obsolete.
    func fireFirstTimer() -> Bool {
        guard let job = jobs.removeFirstAlarm() else { return false }
        if case .delayed(let delay) = job.place {
            endDelay(of: job, delay)
        } else if let worker = job.worker, !job.isStopped {
            stop(job, at: worker)
        } else if let worker = job.worker {
            expel(worker, Self.silent)
        }
        return true
    }

    /// Removes obsolete timers.
    func forgetAlarms() { jobs.forgetAlarms() }

    private static let silent = ImageError(
        .timedOut, "a worker did not respond to the cancellation of a job")
}

/// The order in which transfers began. Of two responses of an origin, the one to the later request
/// is newer. The initial value precedes the serial of every transfer.
struct TransferSerial: Comparable, Hashable, Sendable {
    private var number: UInt64 = 0

    mutating func next() -> TransferSerial {
        number += 1
        return self
    }

    static func < (left: TransferSerial, right: TransferSerial) -> Bool {
        left.number < right.number
    }
}

extension TransferSerial? {
    /// Whether there was a transfer and it began earlier.
    func isBefore(_ other: TransferSerial) -> Bool { map { $0 < other } ?? false }
}
