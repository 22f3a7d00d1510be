import Coordinator
import Model

/// A scheduler and the state that its peers know: workers, announced segments and handed-over
/// blocks.
struct ForgingStack {
    /// A worker as seen from outside.
    struct Worker {
        let kind: WorkerKind
        let incarnation: Incarnation
        var window: Int
        var held: [JobID: Job] = [:]
        var segments: [SegmentName: UInt64] = [:]
        /// Blocks in `stage` that were referenced and not released.
        var handed: Set<BlockID> = []
        /// Blocks in `results/` that were evicted and not released.
        var evicted: Set<BlockID> = []
        var lastBlock: UInt64 = 10_000
    }

    struct SegmentName: Hashable {
        let arena: ArenaName
        let number: UInt32
    }

    var scheduler: Scheduler
    var now = Instant(nanoseconds: 1_000_000_000)
    var workers: [WorkerID: Worker] = [:]
    var clients: [ClientID] = []
    var waiting: [Token: ClientID] = [:]
    /// Requests that continue without their clients.
    var detached: [Token] = []
    var lastOutcome: (WorkerID, JobOutcome)?
    private var lastWorker: UInt64 = 0
    private var lastClient: UInt64 = 0
    private var lastToken: UInt64 = 0

    static let segmentsMax = 4

    init(isTight: Bool, framesMax: Int) {
        var limits = SchedulerLimits()
        limits.workGraph.framesMax = framesMax
        limits.dispatch.segmentsPerWorkerMax = Self.segmentsMax
        if isTight {
            limits.liveRequestsMax = 8
            limits.dispatch.queuedJobsMax = 2
            limits.hitsMax = 2
            limits.variancesMax = 2
            limits.dispatch.attemptsMax = 2
        }
        scheduler = Scheduler(limits: limits) { headers in
            headers.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
        }
    }

    /// Connected workers, the oldest session first.
    var staff: [WorkerID] { workers.keys.sorted() }

    /// Jobs assigned to workers, the oldest first.
    var held: [(worker: WorkerID, job: Job)] {
        workers.flatMap { worker, record in record.held.values.map { (worker, $0) } }
            .sorted { $0.1.id < $1.1.id }
    }

    // MARK: - Events

    mutating func send(_ event: SchedulerEvent) throws(BrokenInvariant) {
        var actions: [SchedulerAction] = []
        scheduler.handle(event, at: now, into: &actions)
        for action in actions { try observe(action) }
    }

    /// Connects a client with one of two incarnations.
    mutating func join(life: UInt64) throws(BrokenInvariant) {
        guard clients.count < 3 else { return }
        lastClient += 1
        clients.append(ClientID(lastClient))
        let incarnation = Incarnation(Identifier128(high: 8, low: life))
        try send(.clientJoined(ClientID(lastClient), incarnation))
    }

    mutating func leave(_ client: ClientID) throws(BrokenInvariant) {
        clients.removeAll { $0 == client }
        waiting = waiting.filter { $0.value != client }
        try send(.clientLeft(client))
    }

    mutating func hire(_ kind: WorkerKind, credit: UInt32) throws(BrokenInvariant) {
        lastWorker += 1
        let worker = WorkerID(lastWorker)
        let incarnation = Incarnation(Identifier128(high: 7, low: lastWorker))
        workers[worker] = Worker(kind: kind, incarnation: incarnation, window: Int(credit))
        try send(.workerJoined(worker, kind: kind, incarnation: incarnation, credit: credit))
    }

    mutating func kill(_ worker: WorkerID, _ record: CrashRecord? = nil) throws(BrokenInvariant) {
        workers[worker] = nil
        try send(.workerLeft(worker, record))
    }

    /// Sends a request with a new token, or again with that of a detached one.
    mutating func load(
        _ image: ImageRequest, by client: ClientID, detach: Bool, again: Token? = nil
    ) throws(BrokenInvariant) {
        lastToken += 1
        let token = again ?? Token(Identifier128(high: 1, low: lastToken))
        waiting[token] = client
        if detach, again == nil { detached.append(token) }
        let load = LoadRequest(token: token, image: image, wantsProgress: true, detach: detach)
        try send(.load(client, load, LoadTerms(of: image)))
    }

    /// Stores nonexistent bytes under a key, with a new token or a live one.
    mutating func put(_ reader: inout ByteReader, by client: ClientID) throws(BrokenInvariant) {
        let live = waiting.filter { $0.value == client }.keys
        let again = reader.pick(live.sorted { $0.value.low < $1.value.low })
        lastToken += 1
        let fresh = Token(Identifier128(high: 1, low: lastToken))
        let token = reader.bool() ? again ?? fresh : fresh
        waiting[token] = client
        var image = ImageRequest(url: "\(Scheduler.uploadScheme):x")
        image.infoOnly = reader.bool()
        image.context.key = reader.bool() ? .text("k") : nil
        let load = LoadRequest(token: token, image: image, uploadBytes: 1)
        let block = BlockID(UInt64(reader.byte()))
        let reference = BlockReference(segment: 0, offset: 0, length: 1, block: block)
        try send(.put(client, load, LoadTerms(), reference))
    }

    mutating func open(_ segments: [SegmentAnnouncement], by worker: WorkerID)
        throws(BrokenInvariant)
    {
        guard var record = workers[worker] else { return }
        var isSound = true
        for segment in segments {
            let name = SegmentName(arena: segment.arena, number: segment.number)
            if record.segments[name] == segment.size { continue }
            isSound =
                isSound && record.segments.count < Self.segmentsMax && segment.size > 0
                && segment.size <= 1 << 40
                && record.segments[name] == nil
                && (segment.arena == .stage || record.kind == .cache)
            record.segments[name] = segment.size
        }
        workers[worker]?.segments = record.segments
        try send(.segmentsOpened(worker, segments))
        try expect(
            isSound == (workers[worker] != nil), "segments are announced as they are, or not at all"
        )
    }

    mutating func close(_ segments: [SegmentAnnouncement], by worker: WorkerID)
        throws(BrokenInvariant)
    {
        guard var record = workers[worker] else { return }
        var isKnown = true
        for segment in segments {
            let name = SegmentName(arena: segment.arena, number: segment.number)
            isKnown = isKnown && record.segments.removeValue(forKey: name) != nil
        }
        workers[worker]?.segments = record.segments
        try send(.segmentsClosed(worker, segments))
        try expect(isKnown || workers[worker] == nil, "only what was announced is closed")
    }

    /// Delivers a worker's outcome, for its own job or another.
    mutating func answer(_ outcome: JobOutcome, from worker: WorkerID) throws(BrokenInvariant) {
        guard let record = workers[worker] else { return }
        lastOutcome = (worker, outcome)
        let isAsked = record.held[outcome.id]?.attempt == outcome.attempt
        if isAsked { workers[worker]?.held[outcome.id] = nil }
        let references = outcome.result.references
        for reference in references where reference.arena == .stage {
            workers[worker]?.handed.insert(reference.block)
        }
        try send(.outcome(worker, outcome))
        guard workers[worker] != nil else { return }
        var named: Set<BlockID> = []
        for reference in references {
            let isKnown = record.handed.contains(reference.block) && !isAsked
            try expect(isKnown || isSound(reference, of: record), "a forgery is not believed")
            let isNew =
                !record.handed.contains(reference.block) && named.insert(reference.block).inserted
            try expect(isKnown || isNew, "no block is handed over twice")
        }
    }

    /// Whether the worker may reference these bytes, as far as can be seen from outside.
    func isSound(_ reference: BlockReference, of worker: Worker) -> Bool {
        let name = SegmentName(arena: reference.arena, number: reference.segment)
        guard let size = worker.segments[name], reference.block.value != 0 else { return false }
        return reference.offset <= size && reference.length <= size - reference.offset
    }
}
