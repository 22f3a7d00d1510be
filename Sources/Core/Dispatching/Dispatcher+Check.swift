import ImageModel
import Messages

// Nothing that a worker writes is believed (SEMANTICS §7.7).
extension Dispatcher {
    /// The outcome as far as it answers this job and refers to bytes that the worker has, with the
    /// producer filled in. Throws what ends the session.
    func check(_ result: JobResult, of job: ActiveJob, from worker: WorkerID) throws(ImageError)
        -> JobResult
    {
        if case .decoded(let image) = result, !isGranted(image.info.format, to: job.pool) {
            throw Self.notGranted
        }
        let references = result.references
        guard result.answers(job.work), isWithinBounds(result, of: job),
            references.allSatisfy({ $0.arena == job.work.outputArena })
        else { throw Self.lie }
        return result.with(try ledger.check(references, from: worker))
    }

    /// Whether what somebody else encoded is no longer than pixels may be: the cache has to copy
    /// it, and others wait behind that. How long all else is follows from its size.
    private func isWithinBounds(_ result: JobResult, of job: ActiveJob) -> Bool {
        guard limits.pools.all[job.pool.index].isForeignTransformer,
            case .transform(let work) = job.work, case .transformed(let image) = result
        else { return true }
        return image.info.format == .pam
            || image.reference.length <= UInt64(work.limits.pixelBytesMax)
    }

    /// What a worker hands out of a transfer: bytes that it has, no more of them than it says have
    /// come unless they are a preview, and no more than the job permits in all. Throws what ends
    /// the session.
    func check(
        _ arrived: BlockReference, of progress: JobProgress, from worker: WorkerID
    ) throws(ImageError) -> BlockReference {
        guard progress.isPreview || arrived.length <= progress.received else { throw Self.tooMuch }
        if let job = jobs[progress.id], job.worker == worker, job.attempt == progress.attempt {
            guard case .fetch(let work) = job.work, arrived.length <= work.bodyBytesMax else {
                throw Self.tooMuch
            }
        }
        return try ledger.check(arrived, from: worker, in: .stage)
    }

    /// Whether the pool may decode that. Our own decoders read the signature: where they find
    /// another format than they are granted, whoever made the bytes said it wrong (`misnamed`).
    private func isGranted(_ format: ImageFormat, to pool: PoolID) -> Bool {
        limits.pools.all[pool.index].trust == .own || mayDecode(format, pool)
    }

    private func mayDecode(_ format: ImageFormat, _ pool: PoolID) -> Bool {
        limits.pools.all[pool.index].grant.decodes(format)
    }

    /// The failure of a decode that found a format which its pool is not granted.
    func misnamed(_ result: JobResult, of job: ActiveJob) -> ImageError? {
        guard case .decoded(let image) = result, !mayDecode(image.info.format, job.pool) else {
            return nil
        }
        if image.info.format == .svg, case .decode(let work) = job.work, work.takesDrawingsUndrawn {
            return nil
        }
        return ImageError(
            .badImageData,
            "the bytes are \(image.info.format.name), and were said to be another format")
    }

    private static let notGranted = ImageError(
        .protocolViolation, "an outcome is of a format that the pool of its worker is not granted")
    private static let tooMuch = ImageError(
        .protocolViolation, "a worker handed out more of a transfer than can have come")
    private static let lie = ImageError(
        .protocolViolation, "an outcome does not answer the job that it names")
}
