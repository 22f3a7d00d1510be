import ImageModel
package import Messages

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

extension JobResult {
    /// Whether it is what the work asks for; where its bytes are is another question.
    func answers(_ work: JobWork) -> Bool {
        switch (work, self) {
        case (_, .failed), (.query, .miss): true
        case (.entry(let work), .entry(let tiers)):
            !work.action.isOfSeveral && tiers.isSubset(of: work.tiers)
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
    /// Whether it has no more entries than were asked for, of the tiers that were meant.
    fileprivate func answers(_ work: EntryWork) -> Bool {
        guard work.action == .list else {
            return entries.isEmpty && work.action.isOfSeveral && (next == 0 || work.inSteps)
        }
        return entries.count <= Int(work.limit)
            && entries.allSatisfy { entry in
                entry.tier.isSubset(of: work.tiers)
                    && (entry.tier == .memory || entry.tier == .disk)
            }
    }
}

extension EncodedImage {
    /// Whether there are bytes of one image, or of so many frames at most. Whether they are what
    /// was said, the cache reads in them.
    fileprivate func has(framesAtMost most: Int) -> Bool {
        reference.length > 0 && (1...most).contains(info.pages)
            && (info.format != .pam || pixelMap != nil)
    }
}

extension DecodedImage {
    /// Whether the facts are within the limits that the work names, and frames came if they were
    /// wanted, no more than were asked for, and further facts likewise.
    /// Each lies in its block as it says.
    fileprivate func answers(_ work: DecodeWork) -> Bool {
        guard info.stillOf == nil, (facts == nil) == work.facts.kinds.isEmpty,
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
                frame.layout.enclosures.allSatisfy({ !$0.wishes.isDisjoint(with: work.keeps) })
            else { return false }
            bytesLeft -= pixelBytes
        }
        return true
    }

    /// Whether a file may stand in the place of pixels.
    private func answers(_ work: DecodeWork, by file: BlockReference) -> Bool {
        guard let passing = work.passing, work.limits.permit(info, for: .header) else {
            return false
        }
        return (1...work.passedBytesMax).contains(file.length)
            && passing.passes(info, for: work.need, keepsFrames: work.wantsAllFrames)
    }

    /// The beginning of a file need not have anything to show yet.
    private func hasFrames(for work: DecodeWork) -> Bool {
        guard work.need != .header else { return frames.isEmpty }
        if work.isPartial { return frames.count <= 1 }
        return !frames.isEmpty && frames.count <= work.framesMax
    }
}

extension PixelLayout {
    /// Whether there is one frame, or, if all of them are wanted, no more than the source has, each
    /// no larger than the source: a decoder may reduce them.
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
    /// Where the bytes of its outcome lie.
    var outputArena: ArenaName {
        switch self {
        case .query(let work): work.destination == .results ? .results : .stage
        case .store: .results
        case .fetch, .entry, .decode, .transform, .paint: .stage
        }
    }
}

// A job could not read what it was given (SEMANTICS §7.7).
extension Dispatcher {
    /// The bytes behind a reference of the job are gone, or fewer than was said.
    ///
    /// The cache is believed: the producer loses its session, and all that it made is made again.
    /// Any other reader might say so to harm the producer: then the cache looks, at one input after
    /// the other, and who did not tell the truth loses its session. What lies in the cache's own
    /// arena, or in the coordinator's, is there.
    mutating func inputLost(_ job: ActiveJob, at worker: WorkerID) {
        guard let input = doubtfulInput(of: job) else { return lost(job.id) }
        guard job.kind == .cache else { return dispute(job, input, accuser: worker) }
        let producer = job.inputs[input].worker
        forget(job)
        expel(producer, Self.bytesMissing)
        // Where the block was not the producer's last one, nothing hung on it any more.
        if let probe = job.probe { lost(probe.job) }
    }

    /// The cache was to take an image, and found that the bytes are another one, or none. Who made
    /// them loses its session. As bytes do not lie by themselves, this is evidence against what it
    /// was made of, too: the second time it is not tried again.
    mutating func inputForged(_ job: ActiveJob) {
        guard let input = doubtfulInput(of: job) else { return lost(job.id) }
        // What others keep may be anything.
        if isForeignCache(job.inputs[input].worker) { return ended(job, Self.noImage) }
        forget(job)
        if let maker = job.submission.maker { accuse(maker, .crash) }
        expel(job.inputs[input].worker, Self.otherImage)
        // Others hang on what the producer made, and are torn down with it.
        if job.isExpendable { complete(.failed(Completion.Ended(job), Self.otherImage)) }
    }

    /// The first of the job's inputs, from that one on, whose bytes may not be there.
    private func doubtfulInput(of job: ActiveJob, from first: Int = 0) -> Int? {
        let inputs = job.inputs
        return inputs.indices.dropFirst(first).first { index in
            let producer = inputs[index].worker
            return producer != cache && producer != .coordinator && roster.contains(producer)
        }
    }

    /// The job waits until the cache has looked.
    private mutating func dispute(_ job: ActiveJob, _ input: Int, accuser: WorkerID) {
        jobs.setAside(job.id, .disputed, at: now)
        look(at: input, of: job, accuser: accuser)
    }

    private mutating func look(at input: Int, of job: ActiveJob, accuser: WorkerID) {
        let look = StoreWork(
            key: nil, source: job.work.inputs[input], tiers: .none, delivers: false,
            waitsForDisk: false, metadata: .none)
        var probe = Submission(JobSpec(.store(look)), .unbounded(.high))
        probe.input = job.inputs[input]
        probe.rank = 0
        probe.logContext = job.submission.logContext
        _ = submit(probe, probe: ActiveJob.Probe(job: job.id, input: input, accuser: accuser))
    }

    /// The bytes are there: where those of all inputs are, the reader lied, and its job is another
    /// one's. Where nobody disputes any more, since the request or the producer is gone, nobody
    /// lied.
    mutating func acquitProducer(_ probe: ActiveJob.Probe) {
        guard let job = jobs[probe.job], job.place == .disputed else { return }
        if let next = doubtfulInput(of: job, from: probe.input + 1) {
            return look(at: next, of: job, accuser: probe.accuser)
        }
        expel(probe.accuser, Self.bytesThere)
        lost(probe.job)
    }

    /// A producer is gone: whether its bytes were there is no question any more.
    mutating func endDisputes(about producer: WorkerID) {
        for id in jobs.ids {
            guard let job = jobs[id], job.probe != nil, job.submission.input?.worker == producer
            else { continue }
            abandon(id)
        }
    }

    private static let bytesMissing = ImageError(
        .protocolViolation, "the bytes that a worker handed over are not where it said")

    private static let noImage = ImageError(
        .badImageData, "the bytes that a cache of others handed over are not the image that it said"
    )

    private static let otherImage = ImageError(
        .protocolViolation, "the bytes that a worker handed over are not the image that it said")

    private static let bytesThere = ImageError(
        .protocolViolation, "a worker says that bytes are missing which are there")
}

extension StoredMetadata {
    /// Of bytes that are looked at and kept under no key.
    package static let none = StoredMetadata(
        info: ImageInfo(format: .undefined, size: PixelSize(width: 1, height: 1)))
}
