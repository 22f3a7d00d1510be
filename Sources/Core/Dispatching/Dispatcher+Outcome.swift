import ImageModel
package import Messages

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
