import ImageModel
import Messages

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
