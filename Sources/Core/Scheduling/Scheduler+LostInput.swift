import ImageModel
import Messages

// A job could not read what it was given (DESIGN §4, §6: a producer forges or truncates).
extension Scheduler {
    /// The bytes behind the job's reference are gone, or fewer than was said.
    ///
    /// The cache is believed: the producer loses its session, and all that it made is made again.
    /// Any other reader might say so to harm the producer: then the cache looks, and who did not
    /// tell the truth loses its session. What lies in the cache's own arena, or in the
    /// coordinator's, is there.
    mutating func inputLost(
        _ job: ActiveJob, _ purpose: ActiveJob.Purpose, at worker: WorkerID
    ) {
        guard let producer = job.input?.worker, producer != cache, producer != .coordinator,
            roster.contains(producer)
        else { return lost(job.id) }
        guard job.kind == .cache else { return dispute(job, accuser: worker) }
        forget(job)
        expel(producer, Self.bytesMissing)
        // Where the block was not the producer's last one, nothing hung on it any more.
        if case .probe(let id, _) = purpose { lost(id) }
    }

    /// The job waits until the cache has looked.
    private mutating func dispute(_ job: ActiveJob, accuser: WorkerID) {
        guard let source = job.work.input, let input = job.input else { return lost(job.id) }
        setAside(job.id, .disputed)
        let look = StoreWork(
            key: nil, source: source, tiers: .none, delivers: false, waitsForDisk: false,
            metadata: Self.nothing)
        _ = submit(
            .store(look), for: .probe(of: job.id, accuser: accuser), reading: input,
            .unbounded(.high))
    }

    /// The bytes are there: the reader lied, and its job is another one's. Where nobody disputes
    /// any more, since the request or the producer is gone, nobody lied.
    mutating func acquitProducer(of id: JobID, _ accuser: WorkerID) {
        guard jobs[id]?.place == .disputed else { return }
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
    private static let bytesThere = ImageError(
        .protocolViolation, "a worker says that bytes are missing which are there")
}
