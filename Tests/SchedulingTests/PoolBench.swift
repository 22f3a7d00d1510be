import Model
import Testing

@testable import Coordinator

/// A dispatcher with further pools, whose workers are controlled by a test.
struct PoolBench {
    /// A job and its worker.
    struct Assignment: Hashable, Comparable {
        let job: JobID
        let worker: WorkerID

        init(_ job: JobID, _ worker: WorkerID) { (self.job, self.worker) = (job, worker) }

        static func < (left: Self, right: Self) -> Bool { left.job < right.job }
    }

    let dispatcher: Dispatcher
    let pools: WorkerPools
    private(set) var expelled: [WorkerID] = []
    private(set) var attempts: [JobID: UInt32] = [:]
    private var pending: [Assignment] = []
    private var errors: [JobID: ImageError] = [:]
    private var lastWorker: UInt64 = 0
    private var lastBlock: UInt64 = 0

    init(_ configured: [WorkerPool], _ change: (inout DispatchLimits) -> Void = { _ in }) {
        var limits = DispatchLimits()
        limits.pools = WorkerPools(configured)
        limits.creditMax.decode = 8
        limits.creditMax.transform = 8
        change(&limits)
        pools = limits.pools
        dispatcher = Dispatcher(limits: limits, SharedState())
        dispatcher.workerJoined(.coordinator, PoolID(.coordinator), Self.life(0), credit: 0)
        let segment = SegmentAnnouncement(arena: .stage, number: 0, size: 1 << 30)
        dispatcher.opened([segment], by: .coordinator)
    }

    private static func life(_ number: UInt64) -> Incarnation {
        Incarnation(Identifier128(high: 1, low: number))
    }

    /// Violated invariants.
    var faults: [String] { dispatcher.audit(isBehind: false) }

    /// The status of a pool.
    func row(_ name: String) -> StatusReport.PoolStatus? {
        dispatcher.pools.first { $0.name.text == name }
    }

    // MARK: - Workers

    @discardableResult
    mutating func hire(
        _ name: String, credit: UInt32 = 1, _ capabilities: WorkerCapabilities = .all
    ) -> WorkerID {
        guard let pool = PoolName(name).flatMap(pools.id) else {
            preconditionFailure("there is no pool \(name)")
        }
        lastWorker += 1
        let worker = WorkerID(lastWorker)
        dispatcher.workerJoined(
            worker, pool, Self.life(lastWorker), credit: credit, capabilities)
        dispatcher.opened(
            [SegmentAnnouncement(arena: .stage, number: 0, size: 1 << 20)], by: worker)
        settle()
        return worker
    }

    mutating func leave(_ worker: WorkerID) {
        dispatcher.workerGone(worker, nil)
        settle()
    }

    mutating func finish(_ job: JobID, _ format: ImageFormat, by worker: WorkerID) {
        let info = ImageInfo(
            format: format, size: PixelSize(width: 8, height: 8), pages: 1, hasAlpha: false)
        answer(job, .decoded(DecodedImage(info: info, frames: [])), by: worker)
    }

    mutating func fail(_ job: JobID, _ code: ErrorCode, by worker: WorkerID) {
        answer(job, .failed(ImageError(code, "as told")), by: worker)
    }

    /// Completes a job with a body in a block that the test keeps.
    mutating func deliver(_ job: JobID, bytes: UInt64, by worker: WorkerID) throws {
        lastBlock += 1
        let reference = BlockReference(
            segment: 0, offset: 0, length: bytes, block: BlockID(lastBlock))
        answer(
            job,
            .fetched(FetchedBody(reference: reference, httpStatus: 200, effectiveURL: "")),
            by: worker)
    }

    private mutating func answer(_ job: JobID, _ result: JobResult, by worker: WorkerID) {
        let outcome = JobOutcome(
            id: job, attempt: attempts[job] ?? 0, result: result, workMicroseconds: 1)
        dispatcher.collect(outcome, from: worker, hasReaders: false)
        settle()
    }

    // MARK: - Jobs

    mutating func fetch(_ url: String, by loader: FetchLoader = .http) -> JobID {
        submit(
            .fetch(FetchWork(url: url, headers: [], bodyBytesMax: 1 << 20, loader: loader)), nil)
    }

    mutating func decode(
        _ format: ImageFormat?, _ priority: Priority = .normal, by coders: [String] = []
    ) -> JobID {
        lastBlock += 1
        let reference = BlockReference(
            segment: 0, offset: lastBlock * 64, length: 64, block: BlockID(lastBlock))
        guard let taken = try? dispatcher.acceptUpload(reference, as: format) else {
            preconditionFailure("the coordinator has these bytes")
        }
        defer { dispatcher.drop(taken.block) }
        let work = DecodeWork(source: taken.reference, need: .header, limits: ImageLimits())
        return submit(.decode(work), taken.block, priority, by: coders)
    }

    mutating func transform(_ steps: [TransformStep], _ format: ImageFormat) -> JobID {
        let info = ImageInfo(
            format: .jpeg, size: PixelSize(width: 8, height: 8), pages: 1, hasAlpha: false)
        let work = TransformWork(
            source: BlockReference(segment: 0, offset: 0, length: 64, block: BlockID(1)),
            layout: PixelLayout(planes: [], orientation: .upright), sourceInfo: info, steps: steps,
            output: OutputOptions(format: format), limits: ImageLimits())
        return submit(.transform(work), nil)
    }

    private mutating func submit(
        _ work: JobWork, _ input: BlockHandle?, _ priority: Priority = .normal,
        by coders: [String] = []
    ) -> JobID {
        let urgency = Urgency(
            priority: priority, deadline: Instant(nanoseconds: .max), flows: Flows(.coordinator))
        var submission = Submission(JobSpec(work), urgency)
        submission.input = input
        submission.coders = coders
        let id = dispatcher.submit(submission)
        settle()
        return id
    }

    mutating func abandon(_ job: JobID) {
        dispatcher.abandon(job)
        settle()
    }

    // MARK: - Results

    /// Assignments since the last call, sorted by job.
    mutating func assignments() -> [Assignment] {
        settle()
        defer { pending = [] }
        return pending.sorted()
    }

    /// Jobs that failed since the last call.
    mutating func failures() -> [JobID: ImageError] {
        settle()
        defer { errors = [:] }
        return errors
    }

    private mutating func settle() {
        handleCompletions()
        dispatcher.dispatch()
        handleCompletions()
        for action in dispatcher.shared.actions {
            switch action {
            case .assign(let worker, let job):
                pending.append(Assignment(job.id, worker))
                attempts[job.id] = job.attempt
            case .expel(let worker, _): expelled.append(worker)
            default: break
            }
        }
        dispatcher.shared.actions = []
    }

    private mutating func handleCompletions() {
        while let completion = dispatcher.nextCompletion() {
            switch completion {
            case .ended(let ended, .failure(let error), _): errors[ended.id] = error
            case .workerGone(let departure): dispatcher.redistribute(after: departure)
            case .began, .progressed, .ended, .unclaimed: break
            }
        }
    }
}
