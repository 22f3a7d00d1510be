import Model
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
