import Linux
import Model
import Synchronization
import TestKit
import Testing

@testable import ImagebusWorker
@testable import ProcessRuntime

@Suite struct LoaderStageTests {
    private let bench: StageBench

    init() throws { bench = try StageBench() }

    private struct Scripted: Loader {
        let schemes = ["test"]
        var answer = Loaded([])

        func load(_ url: String, headers: [HTTPHeader], _ report: LoadReport) throws -> Loaded {
            switch url {
            case "test:waits": throw CancellationError()
            case "test:fails": throw Failure(domain: "D", code: -1, "so", blocks: true)
            case "test:breaks": throw Errno.noDevice
            default: return answer
            }
        }
    }

    private func perform(
        _ loader: Scripted, url: String = "test:a", validators: Validators? = nil
    ) throws -> FetchedBody {
        let report = LoadReport(
            millisecondsLeft: 1_000, bytesMax: 10, wantsProgress: false, send: { _, _ in })
        return try LoaderStage(loader: loader, log: bench.log).perform(
            FetchWork(url: url, headers: [], bodyBytesMax: 10, validators: validators),
            output: bench.arena, report)
    }

    @Test func bytesAndWhatIsSaidOfThemTravel() throws {
        var loaded = Loaded(Array("GIF89a".utf8), etag: "\"1\"")
        loaded.contentType = "image/gif\0" + String(repeating: "é", count: 800)
        let body = try perform(Scripted(answer: loaded))
        #expect(try bench.bytes(body.reference) == loaded.bytes)
        #expect(body.format == .gif && body.etag == "\"1\"" && body.effectiveURL == "test:a")
        let type = try #require(body.contentType)
        #expect(type.utf8.count == 1_024 && type.hasPrefix("image/gif é"))
    }

    @Test func asManyBytesAsThereMayBeAreTaken() throws {
        #expect(throws: Never.self) { try perform(Scripted(answer: Loaded([1, 2]))) }
        let most = [UInt8](repeating: 1, count: 10)
        #expect(try perform(Scripted(answer: Loaded(most))).reference.length == 10)
        for (bytes, code) in [([], ErrorCode.badImageData), (most + [1], .limitExceeded)] {
            let error = refusal { try perform(Scripted(answer: Loaded(bytes))) }
            #expect(error?.code == code)
        }
    }

    @Test func whatIsStillTheSameIsNotSentAgain() throws {
        let loader = Scripted(answer: Loaded([1], etag: "\"1\""))
        let same = try #require(Validators(etag: "\"1\"", lastModified: nil))
        let error = refusal { try perform(loader, validators: same) }
        #expect(error?.code == .cacheNotModified)
        let other = try #require(Validators(etag: "\"2\"", lastModified: nil))
        #expect(try perform(loader, validators: other).reference.length == 1)
    }

    @Test(arguments: [
        ("test:waits", ErrorCode.cancelled), ("test:fails", .foreignFailure),
        ("test:breaks", .internalError),
    ])
    func anErrorOfTheAuthorIsTold(url: String, code: ErrorCode) {
        let error = refusal { try perform(Scripted(), url: url) }
        #expect(error?.code == code)
        if let external = error?.external {
            #expect(external == ExternalFailure(domain: "D", code: -1, blocks: true))
        }
    }
}

@Suite struct LoadReportTests {
    private let reports = Reports()

    private final class Reports: Sendable {
        let amounts = Mutex<[[UInt64]]>([])
    }

    private func report(wantsProgress: Bool, milliseconds: UInt32 = 60_000) -> LoadReport {
        let reports = reports
        return LoadReport(
            millisecondsLeft: milliseconds, bytesMax: 10, wantsProgress: wantsProgress
        ) { received, expected in
            reports.amounts.withLock { $0.append([received, expected]) }
        }
    }

    @Test func theFirstAndTheLastAreAlwaysTold() throws {
        let report = report(wantsProgress: true)
        for step in 1...1_000 { try report(step, of: 1_000) }
        let amounts = reports.amounts.withLock { $0 }
        #expect(amounts.first == [1, 1_000] && amounts.last == [1_000, 1_000])
        #expect(amounts.count < 1_000)
    }

    @Test func whoBeginsToListenIsToldTheLast() throws {
        let report = report(wantsProgress: false)
        try report(3)
        #expect(reports.amounts.withLock { $0.isEmpty })
        report.adjust(millisecondsLeft: 1, wantsProgress: true)
        report.adjust(millisecondsLeft: 1, wantsProgress: true)
        #expect(reports.amounts.withLock { $0 } == [[3, 0]])
    }

    @Test func amountsThatAreNoneAreNothing() throws {
        try report(wantsProgress: true)(-1, of: .min)
        #expect(reports.amounts.withLock { $0 } == [[0, 0]])
    }

    @Test func itSaysWhenNobodyWaits() throws {
        let report = report(wantsProgress: true)
        try report.check()
        report.cancel()
        #expect(report.isCancelled)
        #expect(throws: CancellationError.self) { try report.check() }
        #expect(throws: CancellationError.self) { try report(1) }
        #expect(reports.amounts.withLock { $0.isEmpty })
    }

    @Test func timeThatIsOverIsNone() {
        #expect(report(wantsProgress: false, milliseconds: 0).millisecondsLeft == 0)
        #expect(report(wantsProgress: false).millisecondsLeft > 0)
    }
}

@Suite struct ThreadedExecutorTests {
    private let bench: StageBench
    private let reporter: WorkerReporter

    init() throws {
        bench = try StageBench()
        reporter = try WorkerReporter()
    }

    /// An executor whose jobs each wait at their own gate and then return three bytes, even if
    /// canceled.
    private func executor(_ gates: [JobID: Gate]) -> ThreadedExecutor {
        let arena = bench.arena
        return ThreadedExecutor(
            name: "test", credit: 4, arena: arena, reporter: reporter
        ) { _ in
            return { job, _ throws(ImageError) in
                _ = gates[job.id]?.wait()
                let block = try arena.reserve(3)
                return .fetched(
                    FetchedBody(
                        reference: block.reference(length: 3), httpStatus: 200, effectiveURL: ""))
            }
        }
    }

    private func job(_ id: UInt64, milliseconds: UInt32 = 60_000) -> Job {
        Job(
            id: JobID(id), attempt: 2,
            work: .fetch(FetchWork(url: "test:a", headers: [], bodyBytesMax: 10)),
            millisecondsLeft: milliseconds, priority: .normal)
    }

    /// Collects that many outcomes; runs the executor's follow-up when functions return.
    private func outcomes(_ count: Int, of executor: ThreadedExecutor) throws -> [JobOutcome] {
        var found: [JobOutcome] = []
        while found.count < count {
            guard let report = try reporter.mailbox.next(milliseconds: 60_000) else { break }
            switch report {
            case .outcome(let outcome): found.append(outcome)
            case .attend: executor.attend()
            default: continue
            }
        }
        return found
    }

    @Test func jobsRunBesideEachOther() throws {
        let gates = [JobID(1): Gate(), JobID(2): Gate()]
        let executor = executor(gates)
        for id in [1, 2, 3] as [UInt64] { executor.start(job(id)) }
        #expect(try outcomes(1, of: executor).map(\.id) == [JobID(3)])
        gates[JobID(2)]?.open()
        #expect(try outcomes(1, of: executor).map(\.id) == [JobID(2)])
        gates[JobID(1)]?.open()
        let last = try outcomes(1, of: executor)
        #expect(last.map(\.attempt) == [2] && bench.arena.usage.blocks == 3)
        for reference in last.flatMap({ Array($0.result.references) }) {
            executor.release([reference.block])
        }
        #expect(bench.arena.usage.blocks == 2)
    }

    /// The outcome is reported at once; a result produced later is discarded.
    @Test func aJobThatNobodyWantsIsOverAtOnce() throws {
        let gates = [JobID(1): Gate(), JobID(2): Gate()]
        let executor = executor(gates)
        executor.start(job(1))
        executor.start(job(2, milliseconds: 0))
        executor.cancel(JobID(1))
        executor.cancel(JobID(2))
        executor.cancel(JobID(2))
        let codes = try outcomes(2, of: executor).map { outcome -> ErrorCode? in
            if case .failed(let error) = outcome.result { error.code } else { nil }
        }
        #expect(codes == [.cancelled, .deadlineExceeded])
        gates.values.forEach { $0.open() }
        executor.start(job(3))
        while bench.arena.usage.blocks != 1 || executor.abandonedCount > 0 {
            guard try reporter.mailbox.next(milliseconds: 60_000) != nil else { break }
            executor.attend()
        }
        #expect(bench.arena.usage.blocks == 1 && executor.abandonedCount == 0)
    }

    @Test func functionsThatGoOnForNobodyEndTheProcess() throws {
        let gate = Gate()
        let ids = (1...UInt64(ThreadedExecutor.abandonedMax + 1)).map { JobID($0) }
        let executor = executor(Dictionary(uniqueKeysWithValues: ids.map { ($0, gate) }))
        for id in ids {
            #expect(!executor.hasTooManyAbandonedJobs)
            executor.start(job(id.value))
            executor.abandon()
        }
        #expect(executor.hasTooManyAbandonedJobs)
        gate.open()
    }
}
