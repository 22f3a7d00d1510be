import Model
import Testing

@testable import Imagebus

/// A load of one URL.
private func load(_ number: UInt64, _ priority: Priority = .normal) -> LoadRequest {
    var image = ImageRequest(url: "http://a.test/same.jpg")
    image.priority = priority
    return LoadRequest(token: token(number), image: image)
}

/// Which loads are coalesced into one message, and how each of them ends.
@Suite struct SharedRequestTests {
    /// A table with these loads of one URL, submitted in one turn.
    private func pending(
        _ loads: [LoadRequest], isWelcome: Bool = true
    ) -> (PendingRequests, PendingRequests.Actions) {
        var pending = PendingRequests(window: isWelcome ? 4 : nil)
        let actions = loads.flatMap { pending.submitted($0, at: at(1)) }
        return (pending, PendingRequests.Actions(actions))
    }

    @Test func whatAsksForTheSameInOneTurnIsOneMessage() {
        var (pending, actions) = pending((1...1_000).map { load($0) })
        #expect(sent(actions) == [1] && actions.count == 1)
        #expect(pending.sentCount == 1)
        #expect(pending.load(of: token(1))?.members == (1...1_000).map(token))
        _ = pending.delivered(token(1), at: at(2))
        #expect(pending.isEmpty && pending.load(of: token(1))?.members == nil)
    }

    /// The answer may already be on its way, and may since have become outdated.
    @Test func whatWasSentIsNotJoined() {
        var (pending, _) = pending([load(1)])
        pending.flushed()
        #expect(sent(pending.submitted(load(2), at: at(2))) == [2])
        #expect(pending.sentCount == 2)
    }

    @Test func whatWaitsForTheCoordinatorOrTheWindowIsJoinedUntilItGoes() {
        var (pending, actions) = pending([load(1)], isWelcome: false)
        pending.flushed()
        actions += pending.submitted(load(2), at: at(100))
        #expect(actions == [])
        #expect(sent(pending.welcomed(welcome(window: 1), at: at(200))) == [1])
        pending.flushed()
        for number in 3...9 { #expect(pending.submitted(load(UInt64(number)), at: at(300)) == []) }
        pending.flushed()
        #expect(sent(pending.delivered(token(1), at: at(400))) == [3])
        #expect(pending.load(of: token(3))?.members?.count == 7)
    }

    @Test func whatDiffersOrIsAMatterOfItsOwnIsAMessageOfItsOwn() throws {
        let group = GroupID(Identifier128(high: 2, low: 2))
        let changes: [(inout LoadRequest) -> Void] = [
            { $0.image.url = "http://a.test/other.jpg" },
            { $0.image.steps = [.flip(horizontal: true, vertical: false)] },
            { $0.image.output.format = .png }, { $0.image.options = .fromCacheOnly },
            { $0.image.timeoutMilliseconds = 1_000 }, { $0.group = group }, { $0.httpClient = 7 },
            { $0.wantsProgress = true }, { $0.wantsInfo = true },
            { $0.image.headers = [HTTPHeader(name: "Cookie", value: "a")] },
        ]
        for (number, change) in changes.enumerated() {
            var other = load(2)
            change(&other)
            let (_, actions) = pending([load(1), other])
            #expect(sent(actions).count == 2, "change \(number)")
            var third = other
            third.token = token(3)
            let (_, again) = pending([other, third])
            #expect(sent(again).count == 1, "change \(number), twice")
        }
        let trace = try #require(
            TraceContext(text: "00-\(String(repeating: "a", count: 32))-00f067aa0ba902b7-01"))
        let reasons: [(inout LoadRequest) -> Void] = [
            { $0.slot = "hero" }, { $0.logContext.trace = trace }, { $0.detach = true },
            { $0.uploadBytes = 5 },
            { $0.image.options = .refreshCached }, { $0.image.options = .continueInBackground },
        ]
        for (number, change) in reasons.enumerated() {
            var (first, second) = (load(1), load(2))
            change(&first)
            change(&second)
            second.image.options.insert(.avoidAutoCancelImage)
            first.image.options.insert(.avoidAutoCancelImage)
            let (_, actions) = pending([first, second])
            #expect(sent(actions).count == 2, "reason \(number)")
        }
    }

    /// Logs name the first one.
    @Test func loadsOfDifferentRequestsAreOneMessage() throws {
        var (first, second) = (load(1), load(2))
        first.logContext.requestID = RequestID(text: "first")
        second.logContext.requestID = RequestID(text: "second")
        second.logContext.trace = TraceContext(
            text: "00-\(String(repeating: "a", count: 32))-00f067aa0ba902b7-00")
        let (_, actions) = pending([first, second])
        #expect(sent(actions).count == 1)
    }

    /// In both orders, and with equal or different priorities.
    @Test func loadsOfOneHashThatDifferInMoreThanTheirClassAreTwoMessages() {
        for priority in [Priority.normal, .high] {
            var other = load(2, priority)
            other.image.output.compression = 3
            #expect(other.image.digest == load(1).image.digest)
            for loads in [[load(1), other], [other, load(1)]] {
                let (_, actions) = pending(loads)
                #expect(sent(actions).count == 2)
            }
        }
    }

    @Test func aMemberThatCancelsEndsAtOnceAndAloneAndTheLastOneTellsTheCoordinator() {
        var (pending, _) = pending([load(1), load(2), load(3)])
        pending.flushed()
        #expect(failed(pending.cancelled(token(1))) == [1: .cancelled], "the leading load")
        #expect(pending.cancelled(token(1)) == [])
        #expect(failed(pending.cancelled(token(3))) == [3: .cancelled])
        #expect(pending.load(of: token(1))?.members == [token(2)])
        #expect(pending.cancelled(token(2)) == [.send(.cancel(token(1)))])
        #expect(pending.cancelled(token(2)) == [])
        let error = ImageError(.cancelled, "cancelled")
        let reply = Reply(token: token(1), outcome: .failure(error))
        #expect(failed(pending.replied(reply, at: at(2))) == [2: .cancelled])
        #expect(pending.isEmpty && pending.sentCount == 0)
    }

    @Test func whatIsCancelledByAllBeforeItIsSentIsNotSent() {
        var (pending, _) = pending([load(1), load(2)], isWelcome: false)
        #expect(failed(pending.cancelled(token(1))) == [1: .cancelled])
        #expect(failed(pending.cancelled(token(2))) == [2: .cancelled])
        #expect(pending.isEmpty)
        #expect(pending.welcomed(welcome(window: 4), at: at(3)) == [])
        #expect(sent(pending.submitted(load(3), at: at(3))).count == 1)
    }

    /// A request that is being canceled isn't joined.
    @Test func whatIsBeingCancelledIsNotJoined() {
        var (pending, _) = pending([load(1)])
        #expect(pending.cancelled(token(1)) == [.send(.cancel(token(1)))])
        #expect(sent(pending.submitted(load(2), at: at(1))) == [2])
    }

    @Test func aGroupIsCancelledWithAllItsMembers() {
        let group = GroupID(Identifier128(high: 2, low: 2))
        let loads = (1...3).map { number in
            var load = load(UInt64(number))
            load.group = group
            return load
        }
        var (unsent, _) = pending(loads, isWelcome: false)
        #expect(failed(unsent.cancelledGroup(group)).count == 3)
        #expect(unsent.isEmpty)
        var (pending, _) = pending(loads)
        #expect(pending.cancelledGroup(group) == [.send(.cancelGroup(group))])
        let error = ImageError(.cancelled, "cancelled")
        let reply = Reply(token: token(1), outcome: .failure(error))
        #expect(failed(pending.replied(reply, at: at(2))).count == 3)
    }

    @Test func theHighestClassOfTheMembersCounts() {
        var (pending, actions) = pending([load(1, .low), load(2, .low)], isWelcome: false)
        actions += pending.submitted(load(3), at: at(1))
        #expect(actions == [])
        #expect(
            messages(pending.welcomed(welcome(window: 4), at: at(2))).map(\.image.priority) == [
                .normal
            ])
        let raise = PendingRequests.Action.send(.reprioritize(token(1), .high))
        #expect(pending.submitted(load(4, .high), at: at(2)) == [raise])
        pending.flushed()
        let lower = PendingRequests.Action.send(.reprioritize(token(1), .normal))
        #expect(pending.cancelled(token(4)).last == lower)
        #expect(pending.reprioritized(token(2), .normal) == [])
        #expect(pending.reprioritized(token(2), .high) == [raise])
        #expect(pending.reprioritized(token(3), .low) == [])
        #expect(pending.reprioritized(token(2), .low) == [.send(.reprioritize(token(1), .low))])
    }

    /// The sent message has the latest deadline; each load keeps its own.
    @Test func eachHasItsOwnDeadline() {
        var (pending, _) = pending([load(1)], isWelcome: false)
        _ = pending.submitted(load(2), at: at(4_001))
        let resent = messages(pending.welcomed(welcome(window: 4), at: at(4_501)))
        #expect(resent.map(\.image.timeoutMilliseconds) == [29_500])
        pending.flushed()
        #expect(pending.expire(at: at(30_500)) == [])
        #expect(pending.nextDeadline == at(30_501))
        let first = pending.expire(at: at(30_501))
        #expect(failed(first) == [1: .deadlineExceeded] && first.count == 1)
        #expect(pending.nextDeadline == at(34_501))
        let last = pending.expire(at: at(34_501))
        #expect(failed(last) == [2: .deadlineExceeded])
        #expect(last.contains(.send(.cancel(token(1)))))
        #expect(pending.isEmpty && pending.nextDeadline == nil)
    }

    /// Each load has its own limit for the time without a coordinator.
    @Test func eachWaitsForACoordinatorAsLongAsItMay() {
        var (pending, _) = pending([load(1)], isWelcome: false)
        _ = pending.submitted(load(2), at: at(4_000))
        #expect(failed(pending.expire(at: at(5_001))) == [1: .unavailable])
        #expect(failed(pending.expire(at: at(8_999))) == [:])
        #expect(failed(pending.expire(at: at(9_000))) == [2: .unavailable])
        #expect(pending.isEmpty)
    }

    @Test func progressAndFailuresAreToldToAllByTheirOwnTokens() {
        var (pending, _) = pending([load(1), load(2), load(3)])
        pending.flushed()
        _ = pending.cancelled(token(1))
        let reported = pending.progressed(
            RequestProgress(token: token(1), received: 3, expected: 9))
        let own = [2, 3].map { RequestProgress(token: token($0), received: 3, expected: 9) }
        #expect(reported == PendingRequests.Actions(own.map { .advance($0) }))
        let reply = Reply(token: token(1), outcome: .failure(ImageError(.busy, "busy")))
        #expect(failed(pending.replied(reply, at: at(2))) == [2: .busy, 3: .busy])
        #expect(pending.isEmpty)
    }

    @Test func afterALostSessionItIsSentAgainOnceThoughWhoLedHasLeft() {
        var (pending, _) = pending([load(1), load(2), load(3)])
        pending.flushed()
        _ = pending.cancelled(token(1))
        #expect(pending.sessionEnded(at: at(10)) == [])
        #expect(sent(pending.welcomed(welcome(window: 4), at: at(20))) == [1])
        #expect(pending.load(of: token(1))?.members == [token(2), token(3)])
        // A request canceled by all members in the meantime isn't resent.
        #expect(failed(pending.cancelled(token(2))) == [2: .cancelled])
        #expect(pending.cancelled(token(3)) == [.send(.cancel(token(1)))])
        #expect(failed(pending.sessionEnded(at: at(30))) == [3: .cancelled])
        #expect(pending.isEmpty)
    }

    @Test func aClientThatIsClosedEndsEachOnce() {
        var (pending, _) = pending([load(1), load(2), load(3)])
        pending.flushed()
        _ = pending.cancelled(token(1))
        #expect(failed(pending.closed()) == [2: .cancelled, 3: .cancelled])
        #expect(pending.isEmpty)
    }

    @Test func withoutTheWishEachIsAMessage() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 5_000, sharesLoads: false)
        _ = pending.welcomed(welcome(window: 4), at: at(0))
        let actions = [load(1), load(2)].flatMap { pending.submitted($0, at: at(1)) }
        #expect(sent(PendingRequests.Actions(actions)).count == 2)
    }
}
