import Model
import Testing

@testable import Imagebus

private let welcome = ClientWelcome(epoch: Epoch(Identifier128(high: 1, low: 1)), window: 2)

private func at(_ milliseconds: Int) -> Instant {
    Instant(nanoseconds: 1).adding(milliseconds: milliseconds)
}

private func request(_ number: UInt64, group: GroupID? = nil) -> LoadRequest {
    LoadRequest(
        token: Token(Identifier128(high: 0, low: number)), group: group,
        image: ImageRequest(url: "http://a.test/\(number)"))
}

/// Tokens of the loads among the actions, in order.
private func sent(_ actions: PendingRequests.Actions) -> [UInt64] {
    actions.compactMap { action in
        if case .load(let load) = action { load.token.value.low } else { nil }
    }
}

/// Tokens and codes of the failures among the actions.
private func failed(_ actions: PendingRequests.Actions) -> [UInt64: ErrorCode] {
    var failures: [UInt64: ErrorCode] = [:]
    for case .fail(let load, let error) in actions {
        failures[load.token.value.low] = error.code
    }
    return failures
}

private func reply(_ number: UInt64, _ outcome: Reply.Outcome = .miss(key: "k")) -> Reply {
    Reply(token: request(number).token, outcome: outcome)
}

@Suite struct PendingRequestsTests {
    @Test func loadsWaitForTheWelcomeAndThenForTheWindow() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 5_000)
        for number in 1...3 { #expect(pending.submitted(request(UInt64(number)), at: at(0)) == []) }
        #expect(sent(pending.welcomed(welcome, at: at(1))) == [1, 2])
        #expect(pending.replied(reply(1), at: at(1)) == [.deliver(reply(1))])
        #expect(sent(pending.delivered(request(1).token, at: at(2))) == [3])
    }

    /// Otherwise queued loads would wait forever.
    @Test func aFailureMakesRoomInTheWindowAsADeliveryDoes() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 5_000)
        for number in 1...3 { _ = pending.submitted(request(UInt64(number)), at: at(0)) }
        #expect(sent(pending.welcomed(welcome, at: at(1))) == [1, 2])
        let failure = reply(1, .failure(ImageError(.busy, "busy")))
        let actions = pending.replied(failure, at: at(2))
        #expect(failed(actions) == [1: .busy])
        #expect(sent(actions) == [3])
    }

    @Test func aCancelBeforeTheSendIsLocal() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 5_000)
        _ = pending.submitted(request(1), at: at(0))
        #expect(failed(pending.cancelled(request(1).token)) == [1: .cancelled])
        #expect(pending.isEmpty)
        #expect(pending.welcomed(welcome, at: at(1)) == [])
    }

    @Test func aCancelAfterTheSendIsSentOnceAndEndsWithTheReply() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 5_000)
        _ = pending.welcomed(welcome, at: at(0))
        _ = pending.submitted(request(1), at: at(0))
        #expect(pending.cancelled(request(1).token) == [.send(.cancel(request(1).token))])
        #expect(pending.cancelled(request(1).token) == [])
        let ended = reply(1, .failure(ImageError(.cancelled, "cancelled")))
        #expect(failed(pending.replied(ended, at: at(1))) == [1: .cancelled])
        #expect(pending.replied(ended, at: at(1)) == [], "it has ended")
    }

    @Test func afterALostSessionWhatIsOpenIsSentAgainAndWhatWasCancelledIsNot() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 5_000)
        _ = pending.welcomed(welcome, at: at(0))
        for number in 1...3 { _ = pending.submitted(request(UInt64(number)), at: at(0)) }
        _ = pending.cancelled(request(1).token)
        #expect(failed(pending.sessionEnded(at: at(10))) == [1: .cancelled])
        #expect(sent(pending.welcomed(welcome, at: at(20))).sorted() == [2, 3])
    }

    /// Otherwise the next coordinator gets more loads than its window, and rejects some as busy.
    @Test func whatWasCancelledWhenTheSessionEndedWidensNoWindow() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 5_000)
        _ = pending.welcomed(welcome, at: at(0))
        for number in 1...5 { _ = pending.submitted(request(UInt64(number)), at: at(0)) }
        for number in 1...2 { _ = pending.cancelled(request(UInt64(number)).token) }
        #expect(failed(pending.sessionEnded(at: at(10))).count == 2)
        #expect(sent(pending.welcomed(welcome, at: at(20))) == [3, 4])
        #expect(pending.sentCount == 2)
    }

    @Test func whatACoordinatorThatShutsDownRefusesGoesToTheNextOne() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 5_000)
        _ = pending.welcomed(welcome, at: at(0))
        for number in 1...3 { _ = pending.submitted(request(UInt64(number)), at: at(0)) }
        let refusal = Reply.Outcome.failure(ImageError(.shuttingDown, "not now"))
        #expect(sent(pending.replied(reply(1, refusal), at: at(1))) == [3], "a slot is free")
        #expect(pending.expire(at: at(10_000)) == [], "the coordinator is still there")
        #expect(pending.sessionEnded(at: at(10_000)) == [])
        #expect(pending.nextDeadline == at(15_000))
        #expect(sent(pending.welcomed(welcome, at: at(10_100))).first == 1)
    }

    @Test func whatWasRefusedEndsWhereNoCoordinatorFollows() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 5_000)
        _ = pending.welcomed(welcome, at: at(0))
        for number in 1...2 { _ = pending.submitted(request(UInt64(number)), at: at(0)) }
        let refusal = Reply.Outcome.failure(ImageError(.shuttingDown, "not now"))
        for number in 1...2 {
            #expect(pending.replied(reply(UInt64(number), refusal), at: at(1)) == [])
        }
        #expect(failed(pending.cancelled(request(2).token)) == [2: .cancelled])
        #expect(pending.sessionEnded(at: at(2)) == [])
        #expect(failed(pending.expire(at: at(5_002))) == [1: .unavailable])
        #expect(pending.isEmpty)
    }

    @Test func aResentLoadHasTheTimeThatIsLeft() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 60_000)
        _ = pending.submitted(request(1), at: at(0))
        let actions = pending.welcomed(welcome, at: at(10_000))
        guard case .load(let load) = actions.first else {
            Issue.record("the load was not sent: \(actions)")
            return
        }
        #expect(load.message.image.timeoutMilliseconds == 20_000)
    }

    @Test func whereNobodyServesTheRequestEndsAsUnavailable() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 5_000)
        _ = pending.submitted(request(1), at: at(0))
        #expect(pending.nextDeadline == at(5_000))
        #expect(pending.expire(at: at(4_999)) == [])
        #expect(failed(pending.expire(at: at(5_000))) == [1: .unavailable])
        #expect(pending.nextDeadline == nil)
    }

    @Test func theDeadlineEndsWhatTheCoordinatorDoesNotEnd() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 60_000)
        _ = pending.welcomed(welcome, at: at(0))
        _ = pending.submitted(request(1), at: at(0))
        #expect(pending.expire(at: at(30_499)) == [], "the coordinator has half a second for it")
        let actions = pending.expire(at: at(30_500))
        #expect(failed(actions) == [1: .deadlineExceeded])
        #expect(actions.contains(.send(.cancel(request(1).token))))
    }

    @Test func aStaleReplyIsAskedForAgainThreeTimesAndKeepsItsPlaceInTheWindow() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 5_000)
        _ = pending.welcomed(welcome, at: at(0))
        _ = pending.submitted(request(1), at: at(0))
        for retry in 1...3 {
            let actions = pending.foundStale(request(1).token, at: at(retry))
            guard case .load(let load) = actions.first else {
                Issue.record("retry \(retry) was not sent: \(actions)")
                return
            }
            #expect(load.message.staleRetries == UInt8(retry))
        }
        #expect(failed(pending.foundStale(request(1).token, at: at(4))) == [1: .stale])
        _ = pending.submitted(request(2), at: at(5))
        #expect(sent(pending.submitted(request(3), at: at(5))) == [3], "two places are free again")
    }

    /// If bytes are reused faster than they can be read, the coordinator sends copies.
    @Test func whatIsStaleForTheFourthTimeIsAskedForInPieces() {
        var knowing = welcome
        knowing.chunkWindow = 4 << 20
        for mayAsk in [true, false] {
            var pending = PendingRequests(
                connectTimeoutMilliseconds: 5_000, mayAskForChunks: mayAsk)
            _ = pending.welcomed(knowing, at: at(0))
            _ = pending.submitted(request(1), at: at(0))
            for retry in 1...3 { _ = pending.foundStale(request(1).token, at: at(retry)) }
            let actions = pending.foundStale(request(1).token, at: at(4))
            guard mayAsk else {
                #expect(failed(actions) == [1: .stale])
                continue
            }
            guard case .load(let load) = actions.first else {
                Issue.record("it was not sent: \(actions)")
                return
            }
            #expect(load.message.wantsChunks && load.message.staleRetries == 3)
            #expect(failed(pending.foundStale(request(1).token, at: at(5))) == [1: .stale])
        }
    }

    @Test func whatTheClientEndsItselfIsCancelledAtTheCoordinator() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 5_000)
        _ = pending.welcomed(welcome, at: at(0))
        for number in 1...3 { _ = pending.submitted(request(UInt64(number)), at: at(0)) }
        let gap = ImageError(.protocolViolation, "a gap")
        let actions = pending.abandoned(request(1).token, gap, at: at(1))
        #expect(failed(actions) == [1: .protocolViolation])
        #expect(actions.contains(.send(.cancel(request(1).token))))
        #expect(sent(actions) == [3])
        #expect(pending.abandoned(request(1).token, gap, at: at(1)) == [])
    }

    @Test func aGroupIsCancelledWithOneMessage() {
        let group = GroupID(Identifier128(high: 7, low: 7))
        var pending = PendingRequests(connectTimeoutMilliseconds: 5_000)
        _ = pending.welcomed(welcome, at: at(0))
        for number in 1...3 {
            _ = pending.submitted(request(UInt64(number), group: group), at: at(0))
        }
        let actions = pending.cancelledGroup(group)
        #expect(failed(actions) == [3: .cancelled], "the third was not sent yet")
        #expect(actions.filter { $0 == .send(.cancelGroup(group)) }.count == 1)
    }

    /// 40,000 loads of which two are sent: each completion visits only a few queue entries.
    @Test(arguments: ["cancelled one by one", "cancelled as a group", "expired", "delivered"])
    func thousandsOfLoadsEndInFewSteps(_ end: String) throws {
        let count = 40_000
        let group = GroupID(Identifier128(high: 7, low: 7))
        let loads = (1...count).map { PendingLoad(request(UInt64($0), group: group)) }
        var pending = PendingRequests(connectTimeoutMilliseconds: 60_000)
        _ = pending.welcomed(welcome, at: at(0))
        for load in loads { _ = pending.submitted(load, at: at(0)) }
        var failures = 0
        switch end {
        case "cancelled one by one":
            for load in loads.reversed() {
                failures += failed(pending.cancelled(load.token)).count
            }
            #expect(failures == count - 2)
        case "cancelled as a group":
            #expect(failed(pending.cancelledGroup(group)).count == count - 2)
        case "expired": #expect(failed(pending.expire(at: at(30_500))).count == count)
        default:
            for load in loads { _ = pending.delivered(load.token, at: at(1)) }
            #expect(pending.isEmpty)
        }
        #expect(pending.visitCount <= 40 * count, "\(pending.visitCount)")
    }

    /// Each pass over all of them takes time.
    @Test func loadsOfManyDeadlinesAreLookedAtAHundredTimesASecond() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 60_000)
        for number in 0..<1_000 {
            _ = pending.submitted(request(UInt64(number)), at: at(number))
        }
        var looks = 0
        var failures = 0
        while let due = pending.nextDeadline {
            looks += 1
            failures += failed(pending.expire(at: due)).count
        }
        #expect(failures == 1_000)
        #expect(looks <= 101, "\(looks)")
    }

    @Test func aRefusalEndsItsRequestAlone() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 5_000)
        _ = pending.welcomed(welcome, at: at(0))
        for number in 1...2 { _ = pending.submitted(request(UInt64(number)), at: at(0)) }
        let error = ImageError(.invalidRequest, "no")
        #expect(failed(pending.refused(error, request(1).token, at: at(1))) == [1: .invalidRequest])
        #expect(pending.refused(error, nil, at: at(1)) == [])
        #expect(!pending.isEmpty)
    }
}
