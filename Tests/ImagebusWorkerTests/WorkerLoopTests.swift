import Model
import Testing

@testable import ProcessRuntime

/// A worker's reactions to time: a job ends at its deadline, which an adjustment moves; a process
/// whose work ignores that exits after a grace period; a worker that leaves waits for readers of
/// its results for a limited time, and then exits in any case.
///
/// A deadline counts from the arrival of the job, which lies between two readings of the clock:
/// nothing is due a millisecond before the deadline by the first reading, and everything is due at
/// the deadline by the second.
@Suite struct WorkerLoopTests {
    /// The worker's ID of its first job, which the coordinator calls 40.
    private static let own = JobID(1)

    /// A worker that was welcomed.
    private func bench(
        needsHardCancel: Bool = true, _ change: (inout WorkerPolicy) -> Void = { _ in }
    ) throws -> LoopBench {
        let executor = try NotingExecutor(needsHardCancel: needsHardCancel)
        let bench = try LoopBench(executor, change)
        try bench.join()
        return bench
    }

    // MARK: - Deadlines

    @Test func aJobIsCancelledAtItsDeadline() throws {
        let bench = try bench(needsHardCancel: false)
        let before = Instant.now()
        try bench.give(40, milliseconds: 10_000)
        try bench.pass(to: before.adding(milliseconds: 9_999))
        #expect(bench.executor.calls == [.start(Self.own)])
        let due = Instant.now().adding(milliseconds: 10_000)
        try bench.pass(to: due)
        #expect(bench.executor.calls == [.start(Self.own), .cancel(Self.own)])
        // Without native code, no timeout ends the process.
        try bench.pass(to: due.adding(milliseconds: 3_600_000))
        #expect(bench.exitStatus == nil && bench.executor.count(.cancel(Self.own)) == 1)
    }

    @Test func aLongerTimeTakesThePlaceOfTheDeadline() throws {
        let bench = try bench(needsHardCancel: false)
        try bench.give(40, milliseconds: 1_000)
        let before = Instant.now()
        try bench.adjust(40, milliseconds: 60_000)
        try bench.pass(to: before.adding(milliseconds: 59_999))
        let adjustment = JobAdjustment(id: Self.own, millisecondsLeft: 60_000, priority: .normal)
        #expect(bench.executor.calls == [.start(Self.own), .adjust(adjustment)])
        try bench.pass(to: Instant.now().adding(milliseconds: 60_000))
        #expect(bench.executor.count(.cancel(Self.own)) == 1)
    }

    @Test func aShorterTimeTakesThePlaceOfTheDeadline() throws {
        let bench = try bench(needsHardCancel: false)
        try bench.give(40, milliseconds: 60_000)
        try bench.adjust(40, milliseconds: 1_000)
        try bench.pass(to: Instant.now().adding(milliseconds: 1_000))
        #expect(bench.executor.count(.cancel(Self.own)) == 1)
        try bench.pass(to: Instant.now().adding(milliseconds: 120_000))
        #expect(bench.executor.count(.cancel(Self.own)) == 1, "there is no other deadline")
    }

    @Test func jobsHaveDeadlinesOfTheirOwn() throws {
        let bench = try bench(needsHardCancel: false)
        try bench.give(40, milliseconds: 60_000)
        try bench.give(41, milliseconds: 1_000)
        try bench.adjust(40, milliseconds: 30_000)
        try bench.pass(to: Instant.now().adding(milliseconds: 1_000))
        #expect(bench.executor.count(.cancel(Self.own)) == 0)
        #expect(bench.executor.count(.cancel(JobID(2))) == 1)
    }

    // MARK: - Grace period

    /// `cancelGraceMilliseconds` after it was canceled, to the millisecond.
    @Test func aJobThatHeedsNoCancelEndsTheProcessAfterTheGrace() throws {
        let bench = try bench()
        try bench.give(40, milliseconds: 1_000)
        let due = Instant.now().adding(milliseconds: 1_000)
        try bench.pass(to: due)
        #expect(bench.executor.count(.cancel(Self.own)) == 1)
        try bench.pass(to: due.adding(milliseconds: 499))
        #expect(bench.exitStatus == nil)
        try bench.pass(to: due.adding(milliseconds: 500))
        #expect(bench.exitStatus == ProgramExit.startAgain && bench.goodbye == .cancelledHard)
    }

    @Test func aCancelOfTheCoordinatorHasTheSameGrace() throws {
        let bench = try bench { $0.cancelGraceMilliseconds = 2_000 }
        try bench.give(40, milliseconds: 60_000)
        let before = Instant.now()
        try bench.hear(.cancelJob(JobID(40)))
        #expect(bench.executor.count(.cancel(Self.own)) == 1)
        try bench.pass(to: before.adding(milliseconds: 1_999))
        #expect(bench.exitStatus == nil)
        try bench.pass(to: Instant.now().adding(milliseconds: 2_000))
        #expect(bench.exitStatus == ProgramExit.startAgain && bench.goodbye == .cancelledHard)
    }

    /// Neither another cancel nor the deadline extends the grace period.
    @Test func theGraceBeginsWithTheFirstCancel() throws {
        let bench = try bench()
        try bench.give(40, milliseconds: 300)
        try bench.hear(.cancelJob(JobID(40)))
        let cancelled = Instant.now()
        try bench.pass(to: cancelled.adding(milliseconds: 300))
        try bench.hear(.cancelJob(JobID(40)))
        #expect(bench.executor.count(.cancel(Self.own)) == 3)
        try bench.pass(to: cancelled.adding(milliseconds: 500))
        #expect(bench.exitStatus == ProgramExit.startAgain)
    }

    /// A canceled job stays canceled, even if its deadline is adjusted afterwards.
    @Test func aJobThatWasCancelledIsNotAdjusted() throws {
        let bench = try bench()
        try bench.give(40, milliseconds: 60_000)
        try bench.hear(.cancelJob(JobID(40)))
        try bench.adjust(40, milliseconds: 600_000)
        #expect(bench.executor.calls == [.start(Self.own), .cancel(Self.own)])
        try bench.pass(to: Instant.now().adding(milliseconds: 500))
        #expect(bench.exitStatus == ProgramExit.startAgain)
    }

    @Test func tooMuchThatGoesOnForNobodyEndsTheProcess() throws {
        let bench = try bench(needsHardCancel: false)
        try bench.give(40, milliseconds: 60_000)
        try bench.loop.fire(.tick, at: .now())
        #expect(bench.exitStatus == nil)
        bench.executor.hasTooManyAbandonedJobs = true
        try bench.loop.fire(.tick, at: .now())
        #expect(bench.exitStatus == ProgramExit.startAgain && bench.goodbye == .cancelledHard)
    }

    /// If the policy says so, a job that used more CPU time than any image takes gets only the
    /// grace period, regardless of its deadline.
    @Test(arguments: [(0, true, true), (0, false, false), (1_000_000, true, false)])
    func workThatHangsIsStopped(seconds: Int, stopsHangs: Bool, isStopped: Bool) throws {
        let bench = try bench {
            ($0.hangSeconds, $0.stopsHangs) = (seconds, stopsHangs)
        }
        try bench.give(40, milliseconds: 3_600_000)
        let now = Instant.now()
        try bench.loop.fire(.tick, at: now)
        #expect(bench.exitStatus == nil)
        // Later ticks don't extend it.
        try bench.loop.fire(.tick, at: now.adding(milliseconds: 400))
        try bench.pass(to: now.adding(milliseconds: 500))
        #expect(bench.exitStatus == (isStopped ? ProgramExit.startAgain : nil))
    }

    // MARK: - Ends of jobs and sessions

    /// No timer of a job fires after its outcome; the process is recycled after its maximum number
    /// of jobs.
    @Test func anOutcomeEndsTheTimersOfItsJobAndRecyclesTheProcess() throws {
        let bench = try bench { $0.jobsMax = 1 }
        bench.executor.answersStart = true
        try bench.give(40, milliseconds: 60_000)
        let status = try bench.loop.run()
        #expect(status == ProgramExit.startAgain)
        #expect(
            bench.executor.calls == [.start(Self.own), .finished(Self.own), .flush])
        #expect(bench.outbox.suffix(2) == [.outcome(Self.outcome(40)), .goodbye(.recycled)])
        while let timer = bench.loop.timers.removeDue(at: Instant(nanoseconds: .max)) {
            switch timer {
            case .deadline, .grace: Issue.record("the job has ended")
            case .farewell, .departure, .retry, .tick: continue
            }
        }
    }

    /// In real time: the deadline passes while the loop waits.
    @Test func aJobThatStopsAtItsDeadlineDoesNotEndTheProcessBeforeItsTime() throws {
        let bench = try bench { $0.jobsMax = 1 }
        bench.executor.answersCancel = true
        try bench.give(40, milliseconds: 20)
        let status = try bench.loop.run()
        #expect(status == ProgramExit.startAgain && bench.goodbye == .recycled)
        #expect(
            bench.executor.calls == [
                .start(Self.own), .cancel(Self.own), .finished(Self.own), .flush,
            ])
    }

    private static func outcome(_ job: UInt64, block: UInt64? = nil) -> JobOutcome {
        let result = block.map { number in
            JobResult.fetched(
                FetchedBody(
                    reference: BlockReference(
                        segment: 0, offset: 64, length: 1, block: BlockID(number)),
                    httpStatus: 200, effectiveURL: "http://h/a"))
        }
        return JobOutcome(
            id: JobID(job), attempt: 1, result: result ?? .miss, workMicroseconds: 1)
    }

    /// The next coordinator reuses job numbers; no state of the previous session applies to them.
    @Test func theEndOfASessionForgetsAllThatWasDueAndSaid() throws {
        let bench = try bench()
        try bench.give(40, milliseconds: 1_000)
        try bench.give(41, milliseconds: 1_000)
        try bench.happen { $0.finished(Self.outcome(41, block: 7)) }
        try bench.hear(.cancelJob(JobID(40)))
        try bench.happen { $0.linkDown() }
        #expect(bench.executor.calls.suffix(2) == [.abandon, .release([BlockID(7)])])
        #expect(bench.outbox.isEmpty)
        try bench.pass(to: Instant.now().adding(milliseconds: 60_000))
        #expect(bench.exitStatus == nil && bench.loop.timers.count == 0)
        try bench.join()
        try bench.give(40, milliseconds: 60_000)
        #expect(bench.executor.calls.last == .start(JobID(3)), "under a new name")
        try bench.adjust(40, milliseconds: 1_000)
        try bench.pass(to: Instant.now().adding(milliseconds: 1_000))
        #expect(bench.executor.calls.last == .cancel(JobID(3)))
    }

    @Test func aHelloIsSaidEachSecondUntilItIsAnswered() throws {
        let bench = try LoopBench(try NotingExecutor())
        try bench.happen { $0.linkUp() }
        try bench.loop.fire(.tick, at: .now())
        let hellos = bench.outbox.compactMap { message -> WorkerHello? in
            if case .hello(let hello) = message { hello } else { nil }
        }
        #expect(hellos.map(\.credit) == [3, 3] && hellos.allSatisfy(\.takesReleases))
        #expect(hellos.count == bench.outbox.count)
    }

    // MARK: - Leaving

    /// A worker that has handed over block 7 and leaves.
    private func leaving(_ leave: (LoopBench) throws -> Void) throws -> LoopBench {
        let bench = try bench()
        try bench.give(40, milliseconds: 60_000)
        try bench.happen { $0.finished(Self.outcome(40, block: 7)) }
        try leave(bench)
        return bench
    }

    @Test func whoLeavesWaitsForWhatItHandedOver() throws {
        let bench = try leaving { try $0.hear(.drain) }
        #expect(bench.goodbye == .drained && bench.executor.count(.flush) == 0)
        try bench.hear(.release([BlockID(6)]))
        #expect(bench.executor.count(.flush) == 0)
        try bench.hear(.release([BlockID(7)]))
        #expect(bench.executor.calls.suffix(2) == [.release([BlockID(7)]), .flush])
        try bench.pass(to: Instant.now().adding(milliseconds: 3_000))
        #expect(bench.executor.count(.flush) == 1, "once")
        #expect(bench.exitStatus == nil, "not before all is written")
        try bench.happen { $0.flushed() }
        #expect(bench.exitStatus == ProgramExit.success)
    }

    @Test func whoLeavesWaitsThreeSecondsAtMost() throws {
        let before = Instant.now()
        let bench = try leaving { try $0.hear(.drain) }
        try bench.pass(to: before.adding(milliseconds: 2_999))
        #expect(bench.executor.count(.flush) == 0)
        try bench.pass(to: Instant.now().adding(milliseconds: 3_000))
        #expect(bench.executor.count(.flush) == 1)
        try bench.hear(.release([BlockID(7)]))
        #expect(bench.executor.count(.flush) == 1, "once")
    }

    @Test func whoHandedNothingOverIsFlushedAtOnce() throws {
        let bench = try bench()
        try bench.hear(.drain)
        #expect(bench.executor.calls == [.flush] && bench.goodbye == .drained)
    }

    // MARK: - Time limits when leaving

    /// A dismissed worker has seven and a half seconds, whatever it holds.
    @Test(arguments: [GoodbyeReason.drained, .terminated])
    func whoIsToldToLeaveEndsInTime(reason: GoodbyeReason) throws {
        let bench = try bench()
        try bench.give(40, milliseconds: 60_000)
        let before = Instant.now()
        if reason == .drained {
            try bench.hear(.drain)
        } else {
            try bench.happen { $0.terminated() }
        }
        #expect(bench.goodbye == reason)
        try bench.pass(to: before.adding(milliseconds: 7_499))
        #expect(bench.exitStatus == nil)
        try bench.pass(to: Instant.now().adding(milliseconds: 7_500))
        #expect(bench.exitStatus == ProgramExit.success)
    }

    /// A process that leaves on its own initiative may finish its jobs.
    @Test func whoLeavesByItselfHasTheTimeItNeeds() throws {
        let bench = try bench(needsHardCancel: false)
        try bench.give(40, milliseconds: 3_600_000)
        try bench.happen { $0.recycle() }
        try bench.pass(to: Instant.now().adding(milliseconds: 3_000_000))
        #expect(bench.exitStatus == nil && bench.goodbye == .recycled)
        #expect(bench.executor.calls == [.start(Self.own)])
    }

    private static let ends: [(GoodbyeReason, WorkerTrust, Bool, Int32)] = [
        (.drained, .own, false, ProgramExit.success),
        (.terminated, .own, false, ProgramExit.success),
        (.terminated, .own, true, ProgramExit.success),
        (.terminated, .external, false, ProgramExit.success),
        (.terminated, .external, true, ProgramExit.internalError),
        (.cancelledHard, .own, false, ProgramExit.startAgain),
        (.recycled, .external, true, ProgramExit.startAgain),
    ]

    /// The exit status tells the supervisor whether to start a replacement. The status of an
    /// expelled external worker tells its author that something is wrong with it.
    @Test(arguments: ends.indices) func theStatusSaysHowItEnded(index: Int) throws {
        let (reason, standing, isExpelled, status) = Self.ends[index]
        let bench = try LoopBench(try NotingExecutor(), standing: standing)
        bench.loop.isExpelled = isExpelled
        try bench.loop.perform([.end(reason)])
        #expect(bench.exitStatus == status)
    }
}
