import Model
import Testing

@testable import Coordinator

/// Decodes of partial data that crash workers (SEMANTICS §2.11, §7.5).
struct PartialQuarantineTests {
    private static let options: RequestOptions = [.progressiveLoad, .fromLoaderOnly]

    /// A transfer for loads of these sizes that request partial images.
    private func fetching(_ sizes: Int...) -> (stack: Stack, client: ClientID, tokens: [Token]) {
        var stack = Stack()
        stack.hireAll()
        for kind in [WorkerKind.decode, .transform] {
            for _ in 0..<7 { stack.hire(kind, credit: 4) }
        }
        let client = stack.connect()
        let tokens = sizes.map { stack.load(.image("a", size: $0, Self.options), by: client) }
        return (stack, client, tokens)
    }

    private func crash(_ stage: JobStage, _ stack: inout Stack) {
        stack.crash(stack.held(stage)[0])
        stack.hire(stage.kind)
    }

    /// Completes the canceled jobs.
    private func stopCancelled(_ stack: inout Stack) {
        while let held = stack.allHeld.first(where: \.isCancelled) {
            stack.finish(held, .failed(ImageError(.cancelled, "stopped")))
        }
    }

    @Test(arguments: [JobStage.decode, .transform])
    func afterOneCrashNoneIsMadeOfTheTransfer(in stage: JobStage) {
        var (stack, _, tokens) = fetching(5, 7)
        stack.arrive(2_000)
        if stage == .transform { stack.finish(stack.held(.decode)[0]) }
        crash(stage, &stack)
        stopCancelled(&stack)
        #expect(stack.held(.decode).isEmpty && stack.held(.transform).isEmpty)
        for bytes in [10_000, 20_000, 40_000] as [UInt64] {
            stack.pass(milliseconds: 5_000)
            stack.arrive(bytes)
            #expect(stack.held(.decode).isEmpty, "\(bytes)")
        }
        stack.finishAll()
        #expect(tokens.allSatisfy { stack.image($0) != nil }, "the whole image may be sound")
        #expect(stack.counters.crashes == 1 && stack.isAtRest, "\(stack)")
    }

    /// A decode that ended only because its time was over is a hang.
    @Test func afterOneHangNoneIsMadeOfTheTransfer() {
        var (stack, _, tokens) = fetching(5)
        stack.arrive(2_000)
        stack.finish(.decode, .failed(ImageError(.deadlineExceeded, "it took too long")))
        stack.pass(milliseconds: 5_000)
        stack.arrive(40_000)
        #expect(stack.held(.decode).isEmpty)
        stack.finishAll()
        #expect(stack.image(tokens[0]) != nil && stack.isAtRest, "\(stack)")
    }

    /// A crash record for a job that the worker didn't hold is not evidence.
    @Test func whatAnotherWorkerHoldsIsNotGivenUp() {
        var (stack, client, _) = fetching(5)
        stack.arrive(2_000)
        let partial = stack.held(.decode)[0]
        stack.load(.image("b", size: 5, .fromLoaderOnly), by: client)
        stack.finish(stack.held(.fetch)[1])
        let other = stack.held(.decode)[1]
        stack.kill(
            other.worker,
            crash: CrashRecord(job: partial.job.id, attempt: partial.job.attempt, signal: 11))
        #expect(stack.held(.decode).contains { $0.job.id == partial.job.id })
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    /// Two crashes with partial data quarantine the source, like two with the whole file.
    @Test func itIsEvidenceLikeAnyOther() {
        var (stack, client, tokens) = fetching(5)
        stack.arrive(2_000)
        crash(.decode, &stack)
        stack.finish(stack.held(.fetch)[0])
        crash(.decode, &stack)
        #expect(stack.error(tokens[0]) == .poisoned)
        let next = stack.load(.image("a", size: 9, Self.options), by: client)
        #expect(stack.error(next) == .poisoned && stack.scheduler.report["quarantined"] == 1)
        #expect(stack.isAtRest, "\(stack)")
    }

    /// A suspect isn't decoded partially, and a successful partial decode proves nothing about the
    /// whole.
    @Test func aSuspectShowsNothingBeforeTheWholeWentWell() {
        var (stack, client, tokens) = fetching(5)
        stack.arrive(2_000)
        crash(.decode, &stack)
        stack.send(.cancel(client, tokens[0]))
        stopCancelled(&stack)
        let next = stack.load(.image("a", size: 9, Self.options), by: client)
        stack.arrive(2_000)
        #expect(stack.held(.decode).isEmpty, "another transfer, the same suspect")
        stack.finishAll()
        #expect(stack.image(next) != nil)
        let third = stack.load(.image("a", size: 11, Self.options), by: client)
        stack.arrive(2_000)
        #expect(stack.held(.decode).count == 1, "the whole went well")
        stack.finishAll()
        #expect(stack.image(third) != nil && stack.isAtRest, "\(stack)")
    }

    @Test func aPartThatGoesWellProvesNothingOfTheWhole() {
        var (stack, client, tokens) = fetching(5)
        stack.arrive(2_000)
        let partial = stack.held(.decode)[0]
        let suspect = stack.scheduler.workGraph.dispatcher.jobs[partial.job.id]?.suspect
        guard let suspect else {
            Issue.record("a partial decode is suspected of nothing")
            return
        }
        stack.scheduler.workGraph.dispatcher.accuse(suspect, .crash)
        stack.finish(partial)
        #expect(stack.scheduler.workGraph.dispatcher.isSuspected(suspect))
        stack.send(.cancel(client, tokens[0]))
        stopCancelled(&stack)
    }

    /// The cache finds that an encoded partial image doesn't match its declared properties: this is
    /// evidence, and ends the partial image.
    @Test func whatIsNotTheImageThatWasSaidIsEvidence() {
        var (stack, _, tokens) = fetching(5)
        stack.arrive(2_000)
        stack.run(.decode, .transform)
        let maker = stack.expelled.count
        stack.finish(.store, .failed(ImageError(.badImageData, "another image")))
        #expect(stack.expelled.count == maker + 1 && stack.faults == [])
        #expect(stack.scheduler.audit() == [])
        stack.pass(milliseconds: 5_000)
        stack.arrive(40_000)
        #expect(stack.held(.decode).isEmpty, "the result is suspected")
        stack.finishAll()
        #expect(stack.image(tokens[0]) != nil && stack.isAtRest, "\(stack)")
    }
}
