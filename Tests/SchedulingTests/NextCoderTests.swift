import Model
import Testing

@testable import Coordinator

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
        // With a second waiting job there is no room.
        bench.leave(workers[2])
        let (waiting, refused) = (bench.decode(nil), bench.decode(nil))
        #expect(bench.failures()[refused]?.code == .busy)
        bench.fail(waiting, .unsupportedFormat, by: workers[0])
        #expect(bench.failures().isEmpty && bench.row("second")?.queued == 1)
        #expect(bench.faults == [])
    }

    /// It is queued there like any other job, and removed when it is no longer wanted.
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
