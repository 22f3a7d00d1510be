import ImageModel
import Messages
import Testing

@testable import Dispatching

/// Decoders of others say what they know (SEMANTICS §10.21).
struct NextCoderTests {
    private static func pool(_ name: String, _ formats: Set<String>) -> WorkerPool {
        guard let name = PoolName(name) else { preconditionFailure("it is a name") }
        var pool = WorkerPool(name: name, kind: .decode)
        (pool.trust, pool.credit) = (.foreign, 1)
        pool.grant = WorkerCapabilities(formatsIn: formats)
        return pool
    }

    private static let names = ["first", "named", "second", "decode"]

    private static func bench() -> (PoolBench, [WorkerID]) {
        var bench = PoolBench([
            pool("first", ["undefined", "psd"]), pool("named", ["psd", "exr"]),
            pool("second", ["undefined"]),
        ])
        let workers = names.map { bench.hire($0) }
        return (bench, workers)
    }

    /// Who is asked in turn, where nobody knows it.
    private static func asked(
        _ bench: inout PoolBench, _ job: JobID, _ workers: [WorkerID],
        _ code: ErrorCode = .unsupportedFormat
    ) -> [String] {
        var asked: [String] = []
        while let next = bench.assignments().first {
            guard next.job == job, let place = workers.firstIndex(of: next.worker) else { break }
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
    ])
    func theyAreAskedOneAfterTheOther(
        format: ImageFormat?, coders: [String], expected: [String]
    ) {
        var (bench, workers) = Self.bench()
        let job = bench.decode(format, by: coders)
        #expect(Self.asked(&bench, job, workers) == expected)
        #expect(bench.failures()[job]?.code == .unsupportedFormat)
        #expect(bench.expelled == [] && bench.faults == [])
        // Nothing is left of it where it was.
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
        #expect(bench.expelled == [workers[2]], "it said what it is not granted")
    }

    /// It waits there like any other job, and goes where nobody wants it any more.
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
