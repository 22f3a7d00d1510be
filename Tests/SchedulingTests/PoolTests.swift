import Model
import TestKit
import Testing

@testable import Coordinator

/// Which pool gets a job, and which of its workers.
struct PoolTests {
    private static let vector = pool(
        "vector", .decode, WorkerCapabilities(formatsIn: ["svg", "pdf"]))

    private static func pool(
        _ name: String, _ kind: WorkerKind, _ grant: WorkerCapabilities,
        _ change: (inout WorkerPool) -> Void = { _ in }
    ) -> WorkerPool {
        guard let name = PoolName(name) else { preconditionFailure("it is a name") }
        var pool = WorkerPool(name: name, kind: kind)
        pool.grant = grant
        change(&pool)
        return pool
    }

    // MARK: - Routing

    @Test func kindsAreCountedWithoutAList() {
        #expect(WorkerKind.count == WorkerKind.allCases.count)
    }

    @Test func aJobGoesToTheFirstPoolThatIsGrantedIt() throws {
        let second = Self.pool("second", .decode, WorkerCapabilities(formatsIn: ["svg", "gif"]))
        var bench = PoolBench([Self.vector, second])
        let workers = ["vector", "second", "decode"].map { bench.hire($0, credit: 8) }
        let wanted = [ImageFormat.svg, .pdf, .gif, .jpeg, nil].map { bench.decode($0) }
        let homes = [0, 0, 1, 2, 2].map { workers[$0] }
        #expect(bench.assignments() == zip(wanted, homes).map { .init($0, $1) })
        #expect(bench.faults == [])
    }

    /// It gets only jobs of its loader, and only with schemes that it is granted.
    @Test func aPoolOfALoaderIsAskedByThatLoaderAlone() throws {
        let grant = WorkerCapabilities(schemes: ["photos", "https"])
        let loader = Self.pool("mine", .download, grant) {
            ($0.trust, $0.isLoader) = (.external, true)
        }
        var bench = PoolBench([loader])
        let workers = ["mine", "download"].map { bench.hire($0, credit: 8) }
        let wanted = [
            bench.fetch("photos://a", by: .pool("mine")), bench.fetch("https://a"),
            bench.fetch("HTTPS://a", by: .pool("mine")),
        ]
        let homes = [0, 1, 0].map { workers[$0] }
        #expect(bench.assignments() == zip(wanted, homes).map { .init($0, $1) })
        let refused = [
            bench.fetch("other://a", by: .pool("mine")), bench.fetch("a:", by: .pool("nobody")),
            bench.fetch("https://a", by: .pool("download")),
        ]
        let failures = bench.failures()
        #expect(refused.allSatisfy { failures[$0]?.code == .unsupportedScheme }, "\(failures)")
        #expect(bench.assignments() == [] && bench.faults == [])
    }

    /// The names select the pools in order, and no others.
    @Test func namedCodersAreTheOnlyOnesAsked() throws {
        let png = WorkerCapabilities(formatsIn: ["png"])
        var bench = PoolBench([Self.pool("mine", .decode, png), Self.pool("other", .decode, png)])
        let workers = ["mine", "other", "decode"].map { bench.hire($0, credit: 8) }
        let wanted = [
            bench.decode(.png), bench.decode(.png, by: ["other"]),
            bench.decode(.png, by: ["decode", "mine"]), bench.decode(.gif, by: ["mine", "decode"]),
        ]
        let homes = [0, 1, 2, 2].map { workers[$0] }
        #expect(bench.assignments() == zip(wanted, homes).map { .init($0, $1) })
        let refused = [
            bench.decode(.gif, by: ["mine", "other"]), bench.decode(nil, by: ["mine"]),
            bench.decode(.png, by: ["transform", "nobody"]),
        ]
        let failures = bench.failures()
        #expect(refused.allSatisfy { failures[$0]?.code == .unsupportedFormat }, "\(failures)")
        #expect(failures[refused[0]]?.details == ["coders": "mine, other"])
        #expect(bench.faults == [])
    }

    @Test func aJobWaitsForItsPoolWhileOthersGo() {
        var bench = PoolBench([Self.vector])
        let plain = bench.hire("decode", credit: 8)
        let (svg, jpeg) = (bench.decode(.svg), bench.decode(.jpeg))
        #expect(bench.assignments() == [.init(jpeg, plain)])
        #expect(bench.row("vector")?.queued == 1)
        let vector = bench.hire("vector")
        #expect(bench.assignments() == [.init(svg, vector)])
        #expect(bench.faults == [])
    }

    @Test func whatNoPoolIsGrantedIsRefusedAtOnceByName() throws {
        var bench = PoolBench([
            Self.pool("decode", .decode, WorkerCapabilities(formatsIn: ["jpeg"])),
            Self.pool("download", .download, WorkerCapabilities(schemes: ["https"])),
            Self.pool(
                "transform", .transform,
                WorkerCapabilities(formatsOut: ["png", "jpeg"], steps: ["resize"])),
        ])
        for kind in ["decode", "download", "transform"] { bench.hire(kind, credit: 8) }
        let cases: [(JobID, ErrorCode, [String])] = [
            (bench.decode(.png), .unsupportedFormat, ["'png'", "formats-in", "decode"]),
            (bench.decode(nil), .unsupportedFormat, ["unknown format", "formats-in"]),
            (bench.fetch("http://h/a"), .unsupportedScheme, ["'http'", "schemes", "download"]),
            (bench.transform([], .webp), .unsupportedFormat, ["'webp'", "formats-out"]),
            (
                bench.transform([.rotate(Rotation(degreesClockwise: 90))], .png),
                .stepFailed, ["'rotate'", "steps", "transform"]
            ),
        ]
        let failures = bench.failures()
        for (id, code, words) in cases {
            let error = try #require(failures[id])
            #expect(error.code == code)
            for word in words { #expect(error.message.contains(word), "\(error.message)") }
        }
        #expect(bench.assignments() == [])
        let granted = [bench.decode(.jpeg), bench.fetch("HTTPS://h/a"), bench.transform([], .png)]
        #expect(bench.assignments().map(\.job) == granted)
        #expect(bench.faults == [])
    }

    // MARK: - Claims of workers

    @Test func nothingThatAWorkerSaysWidensAGrant() {
        var bench = PoolBench([Self.vector])
        bench.hire("vector", credit: 8, WorkerCapabilities(formatsIn: ["svg", "pdf", "jpeg"]))
        let (jpeg, svg) = (bench.decode(.jpeg), bench.decode(.svg))
        #expect(bench.assignments().map(\.job) == [svg])
        let plain = bench.hire("decode")
        #expect(bench.assignments() == [.init(jpeg, plain)])
        #expect(bench.faults == [])
    }

    @Test(arguments: [
        ("vector", WorkerCapabilities(formatsIn: ["svg"]), "'pdf'"),
        ("decode", WorkerCapabilities(formatsIn: []), "'all formats'"),
        ("transform", WorkerCapabilities(steps: ["resize"]), "'all steps'"),
    ])
    func whoCannotDoAllThatItsPoolIsGrantedGetsNoSession(
        pool: String, capabilities: WorkerCapabilities, missing: String
    ) {
        var bench = PoolBench([Self.vector])
        let worker = bench.hire(pool, capabilities)
        let job = bench.decode(pool == "vector" ? .svg : .jpeg)
        #expect(bench.assignments() == [])
        #expect(bench.expelled == [worker])
        bench.abandon(job)
        #expect(bench.dispatcher.isIdle)
    }

    @Test func whatIsOfNoUseToItsKindIsNotAskedOfAWorker() {
        var bench = PoolBench([Self.vector])
        let worker = bench.hire("vector", WorkerCapabilities(schemes: [], steps: []))
        let svg = bench.decode(.svg)
        #expect(bench.assignments() == [.init(svg, worker)])
    }

    @Test func bytesThatWereNamedWrongFailAndCostNoDecoderItsSession() {
        let own = Self.pool("heavy", .decode, WorkerCapabilities(formatsIn: ["gif", "webp"]))
        var bench = PoolBench([own])
        let worker = bench.hire("heavy")
        let gif = bench.decode(.gif)
        #expect(bench.assignments() == [.init(gif, worker)])
        bench.finish(gif, .jpeg, by: worker)
        #expect(bench.failures()[gif]?.code == .badImageData)
        #expect(bench.expelled == [])
        let next = bench.decode(.webp)
        #expect(bench.assignments() == [.init(next, worker)])
        #expect(bench.faults == [])
    }

    @Test func whatAPoolWithoutWorkersReadsIsAPartOfTheBudget() {
        var bench = PoolBench([Self.vector]) { $0.outputBytesMax.download = 4 * 150 }
        var busy = 0
        for _ in 0..<8 {
            let job = bench.decode(.svg)
            if bench.failures()[job]?.code == .busy { busy += 1 }
        }
        #expect(busy > 0 && busy < 8, "\(busy)")
        #expect(bench.faults == [])
    }

    @Test func anOutcomeThatThePoolIsNotGrantedEndsTheSession() {
        var bench = PoolBench([
            Self.pool("vector", .decode, Self.vector.grant) { $0.trust = .external }
        ])
        let worker = bench.hire("vector")
        let svg = bench.decode(.svg)
        #expect(bench.assignments() == [.init(svg, worker)])
        bench.finish(svg, .jpeg, by: worker)
        #expect(bench.expelled == [worker])
        let other = bench.hire("vector")
        #expect(bench.assignments() == [.init(svg, other)], "another one does it")
    }

    // MARK: - Limits of a pool

    @Test func aPoolWithoutWorkersKeepsNoOtherOneWaiting() {
        var bench = PoolBench([Self.vector]) {
            $0.queuedJobsMax = 4
            $0.queuedCostMax.decode = 4 * 64
        }
        for _ in 0..<4 { _ = bench.decode(.svg) }
        let fifth = bench.decode(.svg)
        #expect(bench.failures()[fifth]?.code == .busy)
        #expect(bench.dispatcher.refusal(in: .decode) == nil)
        let plain = bench.hire("decode")
        let jpeg = bench.decode(.jpeg)
        #expect(bench.assignments() == [.init(jpeg, plain)])
        #expect(bench.faults == [])
    }

    @Test func aPoolHasACreditAndABudgetOfItsOwn() throws {
        let small = Self.pool("small", .download, WorkerCapabilities(schemes: ["http"])) {
            $0.credit = 2
            $0.outputBytesMax = 100
        }
        var bench = PoolBench([small])
        let worker = bench.hire("small", credit: 256)
        bench.hire("download", credit: 256)
        let jobs = (0..<4).map { bench.fetch("http://h/\($0)") }
        #expect(bench.assignments().map(\.job) == Array(jobs.prefix(2)), "no more than its credit")
        try bench.deliver(jobs[0], bytes: 100, by: worker)
        #expect(bench.assignments() == [], "its output is not used up")
        #expect(bench.row("small")?.outputBytes == 100)
        let other = bench.fetch("https://h/a")
        #expect(bench.assignments().map(\.job) == [other])
        #expect(bench.faults == [])
    }

    // MARK: - Random walk

    @Test(arguments: 1...8)
    func whateverHappensJobsAreWithThoseThatMayDoThem(_ seed: UInt64) {
        var walk = PoolWalk(
            [
                Self.vector,
                Self.pool("plain", .decode, WorkerCapabilities(formatsIn: ["jpeg", "svg"])),
                Self.pool("decode", .decode, WorkerCapabilities(formatsIn: ["png", "gif", "svg"])),
            ], seed: seed)
        for _ in 0..<2_000 where walk.faults.isEmpty { walk.step() }
        #expect(walk.faults == [])
        walk.end()
        #expect(walk.faults == [])
    }
}

/// Plug-in decoders that decline files of unknown formats (SEMANTICS §10.21).
struct NextCoderTests {
    private static func pool(_ name: String, _ formats: Set<String>) -> WorkerPool {
        guard let name = PoolName(name) else { preconditionFailure("it is a name") }
        var pool = WorkerPool(name: name, kind: .decode)
        (pool.trust, pool.credit) = (.external, 1)
        pool.grant = WorkerCapabilities(formatsIn: formats)
        return pool
    }

    private static let names = ["first", "named", "second", "decode"]

    private static func bench(
        _ change: (inout DispatchLimits) -> Void = { _ in }
    ) -> (PoolBench, [WorkerID]) {
        let pools = [
            pool("first", ["undefined", "psd"]), pool("named", ["psd", "exr"]),
            pool("second", ["undefined"]),
        ]
        var bench = PoolBench(pools, change)
        let workers = names.map { bench.hire($0) }
        return (bench, workers)
    }

    /// The pools that get the job in turn, each of which declines it.
    private static func asked(
        _ bench: inout PoolBench, _ job: JobID, _ workers: [WorkerID],
        _ code: ErrorCode = .unsupportedFormat
    ) -> [String] {
        var asked: [String] = []
        while let next = bench.assignments().first {
            guard next.job == job, asked.count < names.count,
                let place = workers.firstIndex(of: next.worker)
            else { break }
            asked.append(names[place])
            bench.fail(job, code, by: next.worker)
        }
        return asked
    }

    @Test(arguments: [
        (ImageFormat?.none, [], ["first", "second", "decode"]),
        (.psd, [], ["first", "named", "decode"]),
        (.exr, [], ["named", "decode"]), (.jpeg, [], ["decode"]),
        (nil, ["second", "first"], ["second", "first"]), (.psd, ["named"], ["named"]),
        (.psd, ["decode", "named"], ["decode"]),
        (nil, ["first", "second", "first"], ["first", "second"]),
    ])
    func theyAreAskedOneAfterTheOther(
        format: ImageFormat?, coders: [String], expected: [String]
    ) {
        var (bench, workers) = Self.bench()
        let job = bench.decode(format, by: coders)
        #expect(Self.asked(&bench, job, workers) == expected)
        #expect(bench.failures()[job]?.code == .unsupportedFormat)
        #expect(bench.expelled == [] && bench.faults == [])
        // The job is gone from all queues.
        #expect(Self.names.allSatisfy { bench.row($0)?.queued == 0 })
    }

    @Test(arguments: [ErrorCode.badImageData, .limitExceeded, .internalError])
    func anythingElseIsTheAnswer(code: ErrorCode) {
        var (bench, workers) = Self.bench()
        let job = bench.decode(nil)
        #expect(Self.asked(&bench, job, workers, code) == ["first"])
        #expect(bench.failures()[job]?.code == code && bench.faults == [])
    }

    @Test func theNextOneDecodesItAndIsHeldToItsGrant() {
        var (bench, workers) = Self.bench()
        let job = bench.decode(nil)
        #expect(bench.assignments() == [.init(job, workers[0])])
        bench.fail(job, .unsupportedFormat, by: workers[0])
        #expect(bench.assignments() == [.init(job, workers[2])])
        bench.finish(job, .undefined, by: workers[2])
        #expect(bench.failures().isEmpty && bench.expelled == [] && bench.faults == [])
        let other = bench.decode(nil)
        bench.fail(other, .unsupportedFormat, by: workers[0])
        bench.finish(other, .psd, by: workers[2])
        #expect(bench.expelled == [workers[2]], "it exceeded its grant")
    }

    /// A job for an unknown format doesn't overtake others.
    @Test func itGoesBehindThoseWhoWaitThere() {
        var (bench, workers) = Self.bench()
        let (held, waiting) = (bench.decode(.jpeg), bench.decode(.jpeg))
        let job = bench.decode(.psd, by: ["named", "decode"])
        #expect(bench.assignments() == [.init(held, workers[3]), .init(job, workers[1])])
        bench.fail(job, .unsupportedFormat, by: workers[1])
        bench.fail(held, .badImageData, by: workers[3])
        #expect(bench.assignments() == [.init(waiting, workers[3])])
        bench.fail(waiting, .badImageData, by: workers[3])
        #expect(bench.assignments() == [.init(job, workers[3])])
        #expect(bench.faults == [])
    }

    /// Its input counts once, even if several pools read it one after the other: 64 bytes of 100.
    @Test func aLargeOneHasRoomAtTheNextOneAsWell() {
        var (bench, workers) = Self.bench { $0.outputBytesMax.download = 4 * 100 }
        let job = bench.decode(nil)
        #expect(Self.asked(&bench, job, workers) == ["first", "second", "decode"])
        #expect(bench.failures()[job]?.code == .unsupportedFormat)
        // The second waiting job exceeds the limit.
        bench.leave(workers[2])
        let (waiting, refused) = (bench.decode(nil), bench.decode(nil))
        #expect(bench.failures()[refused]?.code == .busy)
        bench.fail(waiting, .unsupportedFormat, by: workers[0])
        #expect(bench.failures().isEmpty && bench.row("second")?.queued == 1)
        #expect(bench.faults == [])
    }

    /// It is queued there like any other job, and removed when its request is canceled.
    @Test func itWaitsForTheNextOneAndIsForgotten() {
        var (bench, workers) = Self.bench()
        bench.leave(workers[2])
        let job = bench.decode(nil)
        bench.fail(job, .unsupportedFormat, by: workers[0])
        #expect(bench.row("second")?.queued == 1 && bench.faults == [])
        bench.abandon(job)
        #expect(bench.row("second")?.queued == 0 && bench.faults == [])
    }
}

/// A request for a pool without workers waits until its deadline, and its error states the reason.
struct MissingWorkersTests {
    private var stack = Stack()
    private static let gif = WorkerPool(name: PoolName("scans") ?? PoolName(.cache), kind: .decode)
        .with {
            $0.grant = WorkerCapabilities(formatsIn: ["gif"])
            $0.trust = .external
        }

    @Test(arguments: [WorkerKind.download, .cache, .decode, .transform])
    mutating func theErrorNamesThePoolThatIsMissing(kind: WorkerKind) throws {
        for other in WorkerKind.workers where other != kind { stack.hire(other) }
        let token = stack.load(.image("a", size: 5))
        stack.finishEverything()
        stack.pass(milliseconds: 29_000)
        #expect(stack.failure(token) == nil, "a worker may come")
        stack.pass(milliseconds: 1_000)
        let error = try #require(stack.failure(token))
        #expect(error.code == .deadlineExceeded)
        #expect(error.details["pool"] == kind.name)
        let expected = "no worker of the pool '\(kind.name)' is connected: start one with imagebus "
        #expect(error.message.hasPrefix(expected), "\(error)")
        #expect(error.message.contains("serve --only \(kind.name)"), "\(error)")
    }

    @Test mutating func aWorkerThatComesInTimeDoesIt() {
        for kind in WorkerKind.workers where kind != .decode { stack.hire(kind) }
        let token = stack.load(.image("a", size: 5))
        stack.finishEverything()
        stack.pass(milliseconds: 29_000)
        stack.hire(.decode)
        stack.finishEverything()
        #expect(stack.image(token) != nil)
    }

    @Test mutating func aWorkerThatIsBusyIsNotMissing() throws {
        stack = Stack.staffed()
        let token = stack.load(.loader(size: 5))
        stack.pass(milliseconds: 30_000)
        let error = try #require(stack.failure(token))
        #expect(error.message == "the request took longer than its timeout")
        #expect(error.details == [:])
    }

    // MARK: - Configured pools

    @Test func aPoolOfTheConfigurationIsNamedWithWhatToStart() {
        var bench = PoolBench([Self.gif])
        bench.hire("decode", credit: 8)
        let (gif, jpeg) = (bench.decode(.gif), bench.decode(.jpeg))
        #expect(bench.dispatcher.missingWorkers(for: jpeg) == nil)
        let missing = bench.dispatcher.missingWorkers(for: gif)
        #expect(
            missing?.description
                == "no worker of the pool 'scans' is connected: start the plug-in, "
                + "which connects at back/scans")
        bench.hire("scans")
        #expect(bench.dispatcher.missingWorkers(for: gif) == nil)
    }

    @Test func aPoolThatGetsNoJobNeedsNoWorker() {
        let none = Self.gif.with { $0.grant = WorkerCapabilities(formatsIn: []) }
        for (pool, names) in [(Self.gif, ["scans"]), (none, [])] {
            var bench = PoolBench([pool])
            for kind in WorkerKind.workers { bench.hire(kind.name) }
            var report = StatusReport()
            report.pools = bench.dispatcher.pools
            #expect(report.missingWorkers.map(\.pool.text) == names)
        }
    }
}

extension WorkerPool {
    fileprivate func with(_ change: (inout WorkerPool) -> Void) -> WorkerPool {
        var pool = self
        change(&pool)
        return pool
    }
}

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
            preconditionFailure("unknown pool \(name)")
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

/// Workers of several pools come and go; jobs are added, completed and canceled in any order.
struct PoolWalk {
    private var bench: PoolBench
    private var random: SeededGenerator
    private var held: [JobID: (worker: WorkerID, format: ImageFormat)] = [:]
    private var formats: [JobID: ImageFormat] = [:]
    private var workers: [WorkerID: String] = [:]
    private(set) var faults: [String] = []

    private static let all: [ImageFormat] = [.jpeg, .png, .gif, .svg, .pdf, .bmp]
    private let names = ["vector", "plain", "decode"]

    init(_ pools: [WorkerPool], seed: UInt64) {
        bench = PoolBench(pools)
        random = SeededGenerator(seed: seed)
    }

    mutating func step() {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: hire()
        case 1:
            if let worker = workers.keys.sorted().randomElement(using: &random) { leave(worker) }
        case 2: if let job = formats.keys.sorted().randomElement(using: &random) { abandon(job) }
        case 3...6: submit()
        default: if let job = held.keys.sorted().randomElement(using: &random) { finish(job) }
        }
        look()
    }

    /// Workers for every job are present: nothing may remain queued.
    mutating func end() {
        for name in names {
            workers[bench.hire(name, credit: 8)] = name
            look()
        }
        while let job = held.keys.min() {
            finish(job)
            look()
        }
        if !bench.dispatcher.isIdle { faults.append("something is left: \(formats)") }
    }

    private mutating func hire() {
        guard workers.count < 6, let name = names.randomElement(using: &random) else { return }
        workers[bench.hire(name, credit: UInt32(1 + Int.random(in: 0..<3, using: &random)))] = name
    }

    private mutating func leave(_ worker: WorkerID) {
        workers[worker] = nil
        held = held.filter { $0.value.worker != worker }
        bench.leave(worker)
    }

    private mutating func submit() {
        guard formats.count < 200, let format = Self.all.randomElement(using: &random) else {
            return
        }
        let priority = Priority.allCases.randomElement(using: &random) ?? .normal
        let job = bench.decode(format, priority)
        formats[job] = format
    }

    private mutating func abandon(_ job: JobID) {
        bench.abandon(job)
        formats[job] = nil
    }

    private mutating func finish(_ job: JobID) {
        guard let (worker, format) = held.removeValue(forKey: job) else { return }
        formats[job] = nil
        bench.finish(job, format, by: worker)
    }

    private mutating func look() {
        for assignment in bench.assignments() { check(assignment) }
        for (job, error) in bench.failures() {
            let format = formats.removeValue(forKey: job)
            held[job] = nil
            // A worker may have been lost too often.
            let isRight = error.code == (format == .bmp ? .unsupportedFormat : .workerLost)
            if !isRight { faults.append("\(String(describing: format)) failed: \(error)") }
        }
        faults += bench.faults
        if !bench.expelled.isEmpty { faults.append("somebody was expelled") }
    }

    private mutating func check(_ assignment: PoolBench.Assignment) {
        guard let format = formats[assignment.job] else {
            return faults.append("nobody wants \(assignment.job)")
        }
        held[assignment.job] = (assignment.worker, format)
        let name = workers[assignment.worker] ?? ""
        let wanted = Self.pool(of: format)
        if !name.isEmpty, name != wanted {
            faults.append("\(format) is at \(name), not at \(wanted)")
        }
    }

    private static func pool(of format: ImageFormat) -> String {
        switch format {
        case .svg, .pdf: "vector"
        case .jpeg: "plain"
        default: "decode"
        }
    }
}
