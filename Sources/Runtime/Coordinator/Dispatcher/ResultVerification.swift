import Model

// Verification of results; workers are not trusted (SEMANTICS §7.7).
extension Dispatcher {
    /// Returns the result with its producer filled in if it answers the job and refers to bytes
    /// that the worker has. Throws an error that ends the session otherwise.
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

    /// Whether the output of an external encoder is no larger than the pixels may be. The cache
    /// must copy it, and other jobs wait meanwhile. The size of any other output follows from the
    /// image size.
    private func isWithinBounds(_ result: JobResult, of job: ActiveJob) -> Bool {
        guard limits.pools.all[job.pool.index].isExternalTransformer,
            case .transform(let work) = job.work, case .transformed(let image) = result
        else { return true }
        return image.info.format == .pam
            || image.reference.length <= UInt64(work.limits.pixelBytesMax)
    }

    /// Checks the partial data of a transfer. The worker must have the bytes; they must not exceed
    /// the reported progress, unless they are a preview, or the limit of the job. Throws an error
    /// that ends the session.
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

    /// Whether the pool may decode this format. Built-in decoders detect the format from the
    /// signature; if it isn't one that they are granted, the bytes were declared incorrectly
    /// (`misnamed`).
    private func isGranted(_ format: ImageFormat, to pool: PoolID) -> Bool {
        limits.pools.all[pool.index].trust == .own || mayDecode(format, pool)
    }

    private func mayDecode(_ format: ImageFormat, _ pool: PoolID) -> Bool {
        limits.pools.all[pool.index].grant.decodes(format)
    }

    /// Returns the error for a decode that found a format that its pool isn't granted.
    func misnamed(_ result: JobResult, of job: ActiveJob) -> ImageError? {
        guard case .decoded(let image) = result, !mayDecode(image.info.format, job.pool) else {
            return nil
        }
        if image.info.format == .svg, case .decode(let work) = job.work, work.canSkipRendering {
            return nil
        }
        return ImageError(
            .badImageData,
            "the image is \(image.info.format.name), but was declared as another format")
    }

    private static let notGranted = ImageError(
        .protocolViolation, "an outcome has a format that is not granted to the worker's pool")
    private static let tooMuch = ImageError(
        .protocolViolation, "a worker reported more bytes of a transfer than could have arrived")
    private static let lie = ImageError(
        .protocolViolation, "an outcome does not match its job")
}

extension JobResult {
    /// Whether the result is of the kind that the work asks for. The location of its bytes is
    /// checked elsewhere.
    func answers(_ work: JobWork) -> Bool {
        switch (work, self) {
        case (_, .failed), (.query, .miss): true
        case (.entry(let work), .entry(let tiers)):
            !work.action.affectsSeveral && tiers.isSubset(of: work.tiers)
        case (.entry(let work), .entries(let page)): page.answers(work)
        case (.entry(let work), .validity): work.action == .contains && work.wantsValidity
        case (.fetch(let work), .fetched(let body)): body.reference.length <= work.bodyBytesMax
        case (.query(let work), .hit(let hit)):
            (hit.tier == .memory || hit.tier == .disk)
                && (work.bytesMax == 0 || (1...work.bytesMax).contains(hit.reference.length))
        case (.store(let work), .stored(let report)): work.delivers == (report.delivered != nil)
        case (.decode(let work), .decoded(let image)): image.answers(work)
        case (.transform(let work), .transformed(let image)):
            image.info.format == work.resultFormat(hasAlpha: image.info.hasAlpha)
                && work.mayBecome(image.info.size)
                && image.has(framesAtMost: work.framesMax(in: image.info.format))
        case (.paint(let work), .transformed(let image)):
            image.info.format == work.resultFormat && image.info.size == work.size
                && image.has(framesAtMost: 1)
        default: false
        }
    }
}

extension EntryPage {
    /// Whether the page has no more entries than requested and only of the requested tiers.
    fileprivate func answers(_ work: EntryWork) -> Bool {
        guard work.action == .list else {
            return entries.isEmpty && work.action.affectsSeveral && (next == 0 || work.inSteps)
        }
        return entries.count <= Int(work.limit)
            && entries.allSatisfy { entry in
                entry.tier.isSubset(of: work.tiers)
                    && (entry.tier == .memory || entry.tier == .disk)
            }
    }
}

extension EncodedImage {
    /// Whether the image has bytes and at most the given number of frames. The cache verifies the
    /// bytes themselves.
    fileprivate func has(framesAtMost most: Int) -> Bool {
        reference.length > 0 && (1...most).contains(info.pages)
            && (info.format != .pam || pixelMap != nil)
    }
}

extension DecodedImage {
    /// Whether the image properties are within the limits of the work, the requested frames and
    /// properties are present without extra ones, and each frame fits in its block.
    fileprivate func answers(_ work: DecodeWork) -> Bool {
        guard info.stillOf == nil, (properties == nil) == work.properties.kinds.isEmpty,
            work.showsDamaged || !isDamaged
        else { return false }
        if let file { return frames.isEmpty && answers(work, by: file) }
        guard work.limits.permit(info, for: work.need), hasFrames(for: work) else { return false }
        var bytesLeft = work.limits.pixelBytesMax
        for frame in frames {
            guard let bytes = frame.layout.byteCount, UInt64(bytes) <= frame.reference.length,
                let pixelBytes = frame.layout.pixelByteCount, frame.layout.isActive,
                frame.layout.hasFrames(of: info, for: work),
                pixelBytes <= bytesLeft, work.keeps.permit(frame.layout.samples),
                frame.layout.embeddedMetadata.allSatisfy({
                    !$0.keptParts.isDisjoint(with: work.keeps)
                }
                )
            else { return false }
            bytesLeft -= pixelBytes
        }
        return true
    }

    /// Whether the original file may be returned instead of pixels.
    private func answers(_ work: DecodeWork, by file: BlockReference) -> Bool {
        guard let passThrough = work.passThrough, work.limits.permit(info, for: .header) else {
            return false
        }
        return (1...work.passThroughBytesMax).contains(file.length)
            && passThrough.applies(
                to: info, for: work.need, keepsFrames: work.wantsAllFrames)
    }

    /// The beginning of a file may not contain a visible image yet.
    private func hasFrames(for work: DecodeWork) -> Bool {
        guard work.need != .header else { return frames.isEmpty }
        if work.isPartial { return frames.count <= 1 }
        return !frames.isEmpty && frames.count <= work.framesMax
    }
}

extension PixelLayout {
    /// Whether there is one frame, or, if all frames are wanted, at most as many as the source has.
    /// No frame may be larger than the source, because decoders can only shrink.
    fileprivate func hasFrames(of source: ImageInfo, for work: DecodeWork) -> Bool {
        guard animation != nil else { return true }
        return work.wantsAllFrames && frames <= source.frames
            && planes.allSatisfy { plane in
                let size = orientation.displayed(plane.size)
                return size.width <= source.size.width && size.height <= source.size.height
            }
    }
}

extension JobWork {
    /// The arena of the outcome's bytes.
    var outputArena: ArenaName {
        switch self {
        case .query(let work): work.destination == .results ? .results : .stage
        case .store: .results
        case .fetch, .entry, .decode, .transform, .paint: .stage
        }
    }
}

// Jobs that could not read their input (SEMANTICS §7.7).
extension Dispatcher {
    /// Handles a report that input bytes are missing or truncated.
    ///
    /// The cache is trusted: the producer loses its session and all of its output is produced
    /// again. Any other reader could lie in order to harm the producer, so the cache checks one
    /// input after the other, and the party that lied loses its session. Bytes in the arenas of the
    /// cache and of the coordinator are always present.
    func inputLost(_ job: ActiveJob, at worker: WorkerID) {
        guard let input = untrustedInput(of: job) else { return lost(job) }
        guard job.kind == .cache else {
            jobs.setAside(job, .disputed)
            return look(at: input, of: job, accuser: worker)
        }
        let producer = job.inputs[input].worker
        forget(job)
        expel(producer, Self.bytesMissing)
        // If the producer had replaced the block, its teardown doesn't include the disputed job.
        if let probe = job.probe { lost(jobs[probe.job]) }
    }

    /// Handles the cache's report that the bytes to be stored are not the declared image. The
    /// producer loses its session. Since this is usually caused by the input, it also counts as
    /// evidence against it; the second time, the work is quarantined.
    func inputForged(_ job: ActiveJob) {
        guard let input = untrustedInput(of: job) else { return lost(job) }
        // The contents of external caches are not trusted in the first place.
        if isExternalCache(job.inputs[input].worker) { return ended(job, Self.noImage) }
        forget(job)
        if let maker = job.submission.maker { accuse(maker, .crash) }
        expel(job.inputs[input].worker, Self.otherImage)
        // All other jobs are torn down together with the producer's output.
        if job.isExpendable { fail(job, Self.otherImage) }
    }

    /// Returns the first input, starting at `first`, whose bytes may be missing.
    private func untrustedInput(of job: ActiveJob, from first: Int = 0) -> Int? {
        let inputs = job.inputs
        return inputs.indices.dropFirst(first).first { index in
            let producer = inputs[index].worker
            return producer != cache && producer != .coordinator && roster.contains(producer)
        }
    }

    /// Lets the cache check an input of a suspended job.
    private func look(at input: Int, of job: ActiveJob, accuser: WorkerID) {
        let look = StoreWork(
            key: nil, source: job.work.inputs[input], tiers: .none, delivers: false,
            waitsForDisk: false, metadata: .none)
        var probe = Submission(JobSpec(.store(look)), .unbounded(.high))
        probe.input = job.inputs[input]
        probe.rank = 0
        probe.logContext = job.submission.logContext
        _ = submit(probe, probe: ActiveJob.Probe(job: job.id, input: input, accuser: accuser))
    }

    /// Handles a successful check of one input. If all inputs are present, the reader lied, and the
    /// job goes to another worker. If the dispute has ended because the request or the producer is
    /// gone, nothing happens.
    func acquitProducer(_ probe: ActiveJob.Probe) {
        guard let job = jobs[probe.job], job.place == .disputed else { return }
        if let next = untrustedInput(of: job, from: probe.input + 1) {
            return look(at: next, of: job, accuser: probe.accuser)
        }
        expel(probe.accuser, Self.bytesThere)
        lost(job)
    }

    /// Ends disputes about a departed producer.
    func endDisputes(about producer: WorkerID) {
        for id in jobs.ids {
            guard let job = jobs[id], job.probe != nil, job.submission.input?.worker == producer
            else { continue }
            abandon(id)
        }
    }

    private static let bytesMissing = ImageError(
        .protocolViolation, "the bytes from a worker are not at the location that it reported")

    private static let noImage = ImageError(
        .badImageData, "the bytes from an external cache are not the image that it reported"
    )

    private static let otherImage = ImageError(
        .protocolViolation, "the bytes from a worker are not the image that it reported")

    private static let bytesThere = ImageError(
        .protocolViolation, "a worker reported available bytes as missing")
}

extension StoredMetadata {
    /// Metadata for bytes that are inspected without being stored.
    static let none = StoredMetadata(
        info: ImageInfo(format: .undefined, size: PixelSize(width: 1, height: 1)))
}
