import Model
import Testing

@testable import Coordinator

struct CancellationTests {
    private var stack = Stack.staffed()
    private let loader = ImageRequest.loader(size: 5)

    @Test mutating func cancelEndsARequestAtOnceAndTellsTheWorker() {
        let token = stack.load(loader)
        stack.cancel(token)
        #expect(stack.error(token) == .cancelled)
        #expect(stack.allHeld.map(\.isCancelled) == [true])
        #expect(stack.counters.cancelled == 1)
        stack.cancel(token)
        #expect(stack.actions == [], "after the terminal reply it does nothing")
        stack.end()
    }

    @Test mutating func aJobThatNobodyHoldsIsSimplyForgotten() {
        stack = Stack()
        let token = stack.load(loader)
        stack.cancel(token)
        #expect(stack.isAtRest)
        stack.hireAll()
        #expect(stack.allHeld.isEmpty)
    }

    @Test mutating func theFirstOfTwoIsCancelledAndTheSecondGetsItsImage() {
        let first = stack.load(loader)
        let second = stack.load(loader)
        stack.cancel(first)
        #expect(stack.error(first) == .cancelled)
        #expect(stack.allHeld.map(\.isCancelled) == [false])
        stack.end(second)
    }

    @Test mutating func aNewcomerGetsANewJobWhileTheDyingOneKeepsItsPlace() {
        stack = Stack.staffed(credit: 1)
        let first = stack.load(loader)
        stack.cancel(first)
        let second = stack.load(loader)
        #expect(stack.held(.fetch).isEmpty, "the credit is taken until the outcome")
        let dying = stack.allHeld[0]
        stack.finish(dying, stack.success(dying))
        #expect(stack.workers[dying.worker]?.live.isEmpty == true, "its block is free at once")
        #expect(stack.held(.fetch).map(\.job.id) != [dying.job.id])
        stack.end(second, fetches: 2)
    }

    @Test(arguments: [JobStage.decode, .transform])
    mutating func aDyingJobKeepsWhatItReads(stage: JobStage) {
        let token = stack.load(loader.discardingOriginal)
        stack.finish(.fetch)
        if stage == .transform { stack.finish(.decode) }
        let dying = stack.held(stage)[0]
        stack.cancel(token)
        #expect(stack.scheduler.report["liveBlocks"] == 1)
        stack.fail(dying, .cancelled)
        #expect(stack.isAtRest)
    }

    @Test mutating func onceTheResultExistsOnlyTheReplyChanges() {
        let token = stack.load(loader)
        stack.run(.fetch, .decode, .transform)
        stack.cancel(token)
        #expect(stack.error(token) == .cancelled)
        #expect(stack.held(.store).count == 2, "both stores go on")
        let newcomer = stack.load(loader)
        stack.end(fetches: 1)
        #expect(stack.image(newcomer) != nil, "a later load gets the delivery")
    }

    @Test mutating func aGroupIsCancelledAsFarAsItWasAdmitted() {
        let (client, other) = (stack.client, stack.connect())
        let group = GroupID(5)
        let members = ["a", "b"].map { stack.load(.image($0), by: client, group: group) }
        let alone = stack.load(.image("c"), by: client)
        let external = stack.load(.image("d"), by: other, group: group)
        stack.send(.cancelGroup(client, group))
        #expect(members.allSatisfy { stack.error($0) == .cancelled })
        let later = stack.load(.image("e"), by: client, group: group)
        stack.end(alone, external, later)
    }

    @Test mutating func aClientThatLeavesTakesItsInterestWithItWithoutReplies() {
        let (client, other) = (stack.client, stack.connect())
        stack.load(.image(), by: client)
        stack.load(.image("b"), by: client)
        let shared = stack.load(.image("b"), by: other)
        stack.disconnect(client)
        #expect(stack.allHeld.map(\.isCancelled) == [true, false])
        stack.end(shared)
        #expect(stack.counters.cancelled == 2)
    }

    @Test mutating func anotherClientsTokenIsNotCancelled() {
        let (client, other) = (stack.client, stack.connect())
        let token = stack.load(.image(), by: client)
        stack.send(.cancel(other, token))
        #expect(stack.reply(token) == nil)
        stack.end()
    }

    @Test mutating func theDeadlineOfOneWaiterIsACancelWithACodeOfItsOwn() {
        let hasty = stack.load(loader.within(milliseconds: 50))
        let patient = stack.load(loader)
        stack.pass(milliseconds: 49)
        #expect(stack.reply(hasty) == nil)
        stack.pass(milliseconds: 1)
        #expect(stack.error(hasty) == .deadlineExceeded)
        #expect(stack.allHeld.map(\.isCancelled) == [false])
        stack.end(patient)
    }

    @Test mutating func whatHappenedCountsBeforeADeadlineThatNobodyHadNoticed() {
        let token = stack.load(ImageRequest.image().within(milliseconds: 50))
        let query = stack.held(.query)[0]
        stack.wait(milliseconds: 60)
        stack.finish(query, stack.hit(query))
        stack.expectRest([token])
    }

    @Test(arguments: [(JobStage.fetch, 10_000), (.decode, 1_500), (.transform, 1_500)])
    mutating func aWorkerThatDoesNotAnswerACancelLosesItsSession(stage: JobStage, milliseconds: Int)
    {
        let token = stack.load(loader.discardingOriginal)
        while let next = stack.allHeld.first, next.job.work.stage != stage { stack.finish(next) }
        stack.cancel(token)
        let silent = stack.allHeld[0].worker
        stack.pass(milliseconds: milliseconds - 1)
        #expect(stack.expelled.isEmpty)
        stack.pass(milliseconds: 1)
        #expect(stack.gone == [silent])
        #expect(stack.isAtRest)
    }

    @Test mutating func aWorkerThatGivesUpUnaskedIsReplacedByAnotherAttempt() {
        let token = stack.load(loader)
        stack.fail(.fetch, .cancelled)
        #expect(stack.held(.fetch).map(\.job.attempt) == [2])
        stack.end()
        #expect(stack.image(token) != nil, "no load fails by another's cancel")
    }

    @Test mutating func tenThousandWaitersLeaveOneAfterAnother() {
        stack = Stack.staffed { $0.requestsPerClientMax = 10_000 }
        let tokens = (0..<10_000).map { _ in stack.load(loader) }
        for token in tokens.reversed() { stack.cancel(token) }
        #expect(tokens.allSatisfy { stack.error($0) == .cancelled })
        stack.end()
    }

    // MARK: - Published results

    private func durations(_ stage: String) -> StatusReport.Cancellations? {
        stack.scheduler.report.cancellations.first { $0.stage == stage }
    }

    @Test mutating func theTimeFromCancelToAFreeWorkerIsCounted() {
        let token = stack.load(.loader(size: 5))
        stack.finish(.fetch)
        stack.cancel(token)
        stack.wait(milliseconds: 8)
        stack.finishAll()
        let decode = durations("decode")
        #expect(decode?.durations.count == 1 && decode?.hard == 0)
        #expect((8_000...8_500).contains(decode?.durations.microseconds(at: 0.5) ?? 0))
        #expect(durations("fetch") == nil)
    }

    @Test mutating func aHardCancelLastsUntilTheNextProcessIsThere() {
        let token = stack.load(.loader(size: 5))
        stack.finish(.fetch)
        let worker = stack.worker(.decode)
        stack.cancel(token)
        stack.wait(milliseconds: 500)
        stack.kill(worker)
        #expect(durations("decode") == nil)
        stack.wait(milliseconds: 60)
        stack.hire(.decode)
        #expect(durations("decode")?.hard == 1)
        #expect(
            (560_000...594_000).contains(
                durations("decode")?.durations.microseconds(at: 0.99) ?? 0))
    }

    @Test func aHistogramSaysWhatAShareTookAtMost() {
        var histogram = LatencyHistogram()
        #expect(histogram.microseconds(at: 0.5) == nil)
        for value in 1...100 { histogram.record(microseconds: UInt64(value * 1_000)) }
        let before = histogram
        #expect((50_000...53_000).contains(histogram.microseconds(at: 0.5) ?? 0))
        #expect((99_000...105_000).contains(histogram.microseconds(at: 0.99) ?? 0))
        histogram.record(microseconds: .max)
        histogram.record(microseconds: 0)
        #expect(histogram.since(before).count == 2)
        #expect(histogram.microseconds(at: 0) == 1)
        #expect(LatencyHistogram.upperEnd(of: 12).rounded() == 2)
        #expect(LatencyHistogram.upperEnd(of: 120).rounded() == 1_024)
    }
}

struct DetachTests {
    private var stack = Stack.staffed()
    private let image = ImageRequest.loader(size: 5)

    @Test mutating func whatWasDetachedGoesOnWithoutItsClient() {
        let token = stack.load(image, detach: true)
        stack.load(.loader("b", size: 5))
        stack.disconnect()
        #expect(stack.held(.fetch).map(\.job.id.value) == [1], "only this one")
        stack.end(token)
    }

    @Test mutating func theNextSessionOfTheSameClientAttachesToIt() {
        let token = stack.load(image, detach: true)
        stack.disconnect()
        let again = stack.connect(again: stack.client)
        stack.load(image, by: again, token: token, detach: true)
        stack.end(token, fetches: 1)
    }

    @Test mutating func anotherClientDoesNot() {
        let token = stack.load(image, detach: true)
        stack.disconnect()
        stack.load(image, by: stack.connect(), token: token)
        #expect(stack.error(token) == .tokenInUse)
        stack.end()
    }

    @Test mutating func aLargeResultIsNotKeptForAClientThatIsGone() {
        stack.load(image, detach: true)
        stack.disconnect()
        stack.run(.fetch, .decode)
        stack.transform(length: 2 << 20)
        stack.end()
        #expect(!stack.scheduler.hits.blocks.hasDeliveries)
    }

    @Test mutating func anOperatorCancelsWhosever() {
        let token = stack.load(image)
        let group = GroupID(4)
        let member = stack.load(.loader("b", size: 5), group: group)
        stack.send(.cancelAny(token))
        #expect(stack.error(token) == .cancelled)
        #expect(stack.reply(member) == nil)
        stack.send(.cancelGroupOfAny(group))
        #expect(stack.error(member) == .cancelled)
        stack.end()
    }
}

/// Slots: a new load cancels the previous load of its slot (SEMANTICS §8.7).
struct SlotTests {
    private var stack = Stack.staffed()
    private let image = ImageRequest.loader(size: 5)
    private let other = ImageRequest.loader("b", size: 5)

    @Test mutating func aNewLoadCancelsTheOlderOneOfItsSlot() {
        let first = stack.load(image, slot: "s")
        let elsewhere = stack.load(other, slot: "t")
        let second = stack.load(other, slot: "s")
        #expect(stack.error(first) == .cancelled)
        stack.end(second, elsewhere)
        #expect(stack.replies[first]?.count == 1)
    }

    @Test mutating func theCancelledReplyComesBeforeAMemoryHit() {
        guard let url = try? SourceURL(other.url) else { return }
        let known = other.with { $0.options = [] }
        stack.publish(CacheKey.result(known, url: url, terms: LoadTerms()))
        let first = stack.load(image, slot: "s")
        let second = stack.load(known, slot: "s")
        #expect(replies() == [first, second])
        #expect(stack.image(second) != nil)
        stack.end()
    }

    @Test mutating func theCancelledReplyComesBeforeARefusal() {
        let first = stack.load(image, slot: "s")
        let second = stack.load(ImageRequest(url: "nonsense"), slot: "s")
        #expect(replies() == [first, second])
        #expect(stack.error(second) == .invalidURL)
        stack.end()
    }

    @Test mutating func whoAvoidsItCancelsNothing() {
        let avoiding = other.with { $0.options.insert(.avoidAutoCancelImage) }
        let first = stack.load(image, slot: "s")
        let second = stack.load(avoiding, slot: "s")
        #expect(stack.reply(first) == nil)
        let third = stack.load(.image("c", size: 5), slot: "s")
        #expect(stack.reply(first) == nil, "the first keeps running: as upstream")
        #expect(stack.error(second) == .cancelled)
        stack.end(first, third)
    }

    @Test mutating func slotsOfOthersAreOthers() {
        let first = stack.load(image, slot: "s")
        stack.load(other, by: stack.connect(), slot: "s")
        #expect(stack.reply(first) == nil)
        stack.end()
    }

    @Test mutating func aResentLoadDoesNotCancelItself() {
        let token = stack.load(image, slot: "s")
        stack.load(image, token: token, slot: "s")
        #expect(stack.reply(token) == nil)
        stack.end(token)
    }

    @Test mutating func aSlotOfWhatHasEndedIsForgotten() {
        for index in 0..<100 { stack.load(image, slot: "s\(index)") }
        #expect(stack.scheduler.clients[stack.client]?.slots.count == 100)
        stack.end()
        #expect(stack.scheduler.clients[stack.client]?.slots.isEmpty == true)
    }

    @Test mutating func aSlotIsLeftWithoutANewLoad() {
        let first = stack.load(image, slot: "s")
        stack.send(.leaveSlot(stack.client, slot: "s"))
        #expect(stack.error(first) == .cancelled)
        stack.end()
    }

    @Test mutating func anUploadTakesItsSlotOnlyWhereNobodyCameMeanwhile() {
        let newer = stack.load(image, slot: "s")
        let upload = stack.upload("x", slot: "s")
        #expect(stack.reply(newer) == nil)
        let newest = stack.load(other, slot: "s")
        #expect(stack.error(newer) == .cancelled)
        stack.end(upload, newest)
    }

    /// A reattached load is older than all loads of the client's new session: it regains its slot
    /// only if the slot is free.
    @Test mutating func aDetachedLoadLeavesItsSlotToANewerOne() {
        let detached = stack.load(image, detach: true, slot: "s")
        stack.disconnect()
        let session = stack.connect(again: stack.client)
        let newer = stack.load(other, by: session, slot: "s")
        stack.load(image, by: session, token: detached, detach: true, slot: "s")
        #expect(stack.reply(newer) == nil, "attaching isn't a new load")
        let newest = stack.load(.loader("c", size: 5), by: session, slot: "s")
        #expect(stack.error(newer) == .cancelled, "the slot was still its own")
        #expect(stack.reply(detached) == nil)
        stack.end(detached, newest)
    }

    @Test mutating func aDetachedLoadTakesAFreeSlotBack() {
        let detached = stack.load(image, detach: true, slot: "s")
        stack.disconnect()
        let session = stack.connect(again: stack.client)
        stack.load(image, by: session, token: detached, detach: true, slot: "s")
        let newer = stack.load(other, by: session, slot: "s")
        #expect(stack.error(detached) == .cancelled)
        stack.end(newer)
        #expect(stack.scheduler.clients[session]?.slots.isEmpty == true)
    }

    @Test mutating func aSlotHasAName() {
        for name in ["", "a b", String(repeating: "s", count: 129)] {
            let token = stack.load(image, slot: name)
            #expect(stack.error(token) == .invalidRequest)
        }
    }

    @Test mutating func aLoadWithASlotHasNoShortWay() {
        let known = image.with { $0.options = [] }
        guard let url = try? SourceURL(known.url) else { return }
        stack.publish(CacheKey.result(known, url: url, terms: LoadTerms()))
        let token = Token(Identifier128(high: 6, low: 6))
        let plain = LoadRequest(token: token, image: known)
        let slotted = LoadRequest(token: token, image: known, slot: "s")
        #expect(stack.ticket(for: plain, LoadTerms()) != nil)
        #expect(stack.ticket(for: slotted, LoadTerms()) == nil)
        stack.load(known, slot: "s")
    }

    @Test mutating func continuingInTheBackgroundIsDetaching() {
        let token = stack.load(image.with { $0.options.insert(.continueInBackground) })
        stack.disconnect()
        stack.end(token)
    }

    private func replies() -> [Token] {
        stack.actions.compactMap { if case .reply(_, let reply) = $0 { reply.token } else { nil } }
    }
}
