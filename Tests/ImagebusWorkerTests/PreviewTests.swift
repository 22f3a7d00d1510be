import Model
import Testing

@testable import ProcessRuntime

/// What a worker does with the preview of a job: it is sent while the coordinator waits for the
/// job, and otherwise its block is freed.
@Suite struct PreviewTests {
    /// The worker's ID of its first job, which the coordinator calls 40.
    private static let own = JobID(1)
    private static let block = BlockID(7)

    /// The reason why the coordinator doesn't wait for the preview when the loop reads it.
    enum Reason: CaseIterable, Sendable {
        case connectionIsLost, sessionIsNew, workerLeaves, jobHasEnded
    }

    /// A welcomed worker that executes a job.
    private func bench() throws -> LoopBench {
        let bench = try LoopBench(try NotingExecutor())
        try bench.join()
        try bench.give(40, milliseconds: 60_000)
        return bench
    }

    private static func preview(of job: JobID) -> JobProgress {
        JobProgress(
            id: job, attempt: 1, received: 1, expected: 2,
            arrived: BlockReference(segment: 0, offset: 64, length: 1, block: block))
    }

    /// Lets the executor report a preview, and runs the loop until it has read that.
    private func report(to bench: LoopBench) throws {
        bench.executor.reporter.send(.progress(Self.preview(of: Self.own)))
        // A turn reads reports before it fires timers, of which this one ends the process.
        bench.loop.timers.schedule(.grace(JobID(40)), at: .now())
        let status = try bench.loop.run()
        #expect(status == ProgramExit.startAgain)
    }

    /// Progress reports that the coordinator gets.
    private func sent(_ bench: LoopBench) -> [JobProgress] {
        bench.outbox.compactMap { message in
            if case .progress(let progress) = message { progress } else { nil }
        }
    }

    @Test func thePreviewOfAHeldJobIsSentAndItsBlockIsKept() throws {
        let bench = try bench()
        try report(to: bench)
        #expect(sent(bench) == [Self.preview(of: JobID(40))])
        #expect(bench.executor.count(.discard(Self.block)) == 0)
        let isOutstanding = !bench.loop.outstandingBlocks.isEmpty
        #expect(isOutstanding, "the coordinator releases it")
    }

    @Test(arguments: Reason.allCases)
    func aPreviewThatNobodyWaitsForIsDiscarded(reason: Reason) throws {
        let bench = try bench()
        switch reason {
        case .connectionIsLost: try bench.happen { $0.linkDown() }
        case .sessionIsNew:
            try bench.happen { $0.linkDown() }
            try bench.join()
        case .workerLeaves: try bench.hear(.drain)
        case .jobHasEnded:
            bench.executor.reporter.finish(
                JobOutcome(id: Self.own, attempt: 1, result: .miss, workMicroseconds: 1))
        }
        try report(to: bench)
        #expect(bench.executor.count(.discard(Self.block)) == 1)
        #expect(sent(bench) == [])
        let isOutstanding = !bench.loop.outstandingBlocks.isEmpty
        #expect(!isOutstanding)
    }
}
