import ImageModel
import Messages

// A job could not read what it was given (SEMANTICS §7.7).
extension Scheduler {
    /// The bytes behind a reference of the job are gone, or fewer than was said.
    ///
    /// The cache is believed: the producer loses its session, and all that it made is made again.
    /// Any other reader might say so to harm the producer: then the cache looks, at one input after
    /// the other, and who did not tell the truth loses its session. What lies in the cache's own
    /// arena, or in the coordinator's, is there.
    mutating func inputLost(
        _ job: ActiveJob, _ purpose: ActiveJob.Purpose, at worker: WorkerID
    ) {
        guard let input = doubtfulInput(of: job) else { return lost(job.id) }
        guard job.kind == .cache else { return dispute(job, input, accuser: worker) }
        let producer = job.inputs[input].worker
        forget(job)
        expel(producer, Self.bytesMissing)
        // Where the block was not the producer's last one, nothing hung on it any more.
        if case .probe(let id, _, _) = purpose { lost(id) }
    }

    /// The cache was to take an image, and found that the bytes are another one, or none. Who made
    /// them loses its session. As bytes do not lie by themselves, this is evidence against what it
    /// was made of, too: the second time it is not tried again.
    mutating func inputForged(_ job: ActiveJob, _ purpose: ActiveJob.Purpose) {
        guard let input = doubtfulInput(of: job) else { return lost(job.id) }
        let suspect = suspect(of: purpose)
        forget(job)
        if let suspect { accuse(suspect) }
        expel(job.inputs[input].worker, Self.otherImage)
    }

    /// What brought the bytes forth that the cache takes.
    private func suspect(of purpose: ActiveJob.Purpose) -> Suspect? {
        switch purpose {
        case .delivery(let node): .transform(results[node].name.key)
        case .transcode(let node): .transcode(transcodes[node].key, transcodes[node].output)
        default: nil
        }
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
        setAside(job.id, .disputed)
        look(at: input, of: job, accuser: accuser)
    }

    private mutating func look(at input: Int, of job: ActiveJob, accuser: WorkerID) {
        let look = StoreWork(
            key: nil, source: job.work.inputs[input], tiers: .none, delivers: false,
            waitsForDisk: false, metadata: Self.nothing)
        _ = submit(
            .store(look), for: .probe(of: job.id, input: input, accuser: accuser),
            reading: job.inputs[input], .unbounded(.high))
    }

    /// The bytes are there: where those of all inputs are, the reader lied, and its job is another
    /// one's. Where nobody disputes any more, since the request or the producer is gone, nobody
    /// lied.
    mutating func acquitProducer(of id: JobID, _ input: Int, _ accuser: WorkerID) {
        guard let job = jobs[id], job.place == .disputed else { return }
        if let next = doubtfulInput(of: job, from: input + 1) {
            return look(at: next, of: job, accuser: accuser)
        }
        expel(accuser, Self.bytesThere)
        lost(id)
    }

    /// A producer is gone: whether its bytes were there is no question any more.
    mutating func endDisputes(about producer: WorkerID) {
        for id in jobs.keys.sorted(by: { $0.value < $1.value }) {
            guard let job = jobs[id], case .probe = job.purpose, job.input?.worker == producer
            else { continue }
            abandon(id)
        }
    }

    static let nothing = StoredMetadata(
        info: ImageInfo(format: .undefined, size: PixelSize(width: 1, height: 1)))

    private static let bytesMissing = ImageError(
        .protocolViolation, "the bytes that a worker handed over are not where it said")
    private static let otherImage = ImageError(
        .protocolViolation, "the bytes that a worker handed over are not the image that it said")
    private static let bytesThere = ImageError(
        .protocolViolation, "a worker says that bytes are missing which are there")
}
