import Model
import Testing

@testable import Imagebus

private func request(_ number: UInt64, group: GroupID? = nil) -> LoadRequest {
    LoadRequest(
        token: token(number), group: group, image: ImageRequest(url: "http://a.test/\(number)"))
}

private func reply(_ number: UInt64, _ outcome: Reply.Outcome = .miss(key: "k")) -> Reply {
    Reply(token: token(number), outcome: outcome)
}

@Suite struct PendingRequestsTests {
    /// So many loads, in a session unless there is none.
    private func pending(_ count: UInt64, isWelcome: Bool = true) -> PendingRequests {
        var pending = PendingRequests(window: isWelcome ? 2 : nil)
        for number in 0..<count { _ = pending.submitted(request(number + 1), at: at(0)) }
        return pending
    }

    @Test func loadsWaitForTheWelcomeAndThenForTheWindow() {
        var pending = pending(0, isWelcome: false)
        for number in 1...3 { #expect(pending.submitted(request(UInt64(number)), at: at(0)) == []) }
        #expect(sent(pending.welcomed(welcome(), at: at(1))) == [1, 2])
        #expect(pending.replied(reply(1), at: at(1)) == [.deliver(reply(1))])
        #expect(sent(pending.delivered(token(1), at: at(2))) == [3])
    }

    /// Otherwise queued loads would wait forever.
    @Test func aFailureMakesRoomInTheWindowAsADeliveryDoes() {
        var pending = pending(3, isWelcome: false)
        #expect(sent(pending.welcomed(welcome(), at: at(1))) == [1, 2])
        let failure = reply(1, .failure(ImageError(.busy, "busy")))
        let actions = pending.replied(failure, at: at(2))
        #expect(failed(actions) == [1: .busy])
        #expect(sent(actions) == [3])
    }

    @Test func aCancelBeforeTheSendIsLocal() {
        var pending = pending(1, isWelcome: false)
        #expect(failed(pending.cancelled(token(1))) == [1: .cancelled])
        #expect(pending.isEmpty)
        #expect(pending.welcomed(welcome(), at: at(1)) == [])
    }

    @Test func aCancelAfterTheSendIsSentOnceAndEndsWithTheReply() {
        var pending = pending(1)
        #expect(pending.cancelled(token(1)) == [.send(.cancel(token(1)))])
        #expect(pending.cancelled(token(1)) == [])
        let ended = reply(1, .failure(ImageError(.cancelled, "cancelled")))
        #expect(failed(pending.replied(ended, at: at(1))) == [1: .cancelled])
        #expect(pending.replied(ended, at: at(1)) == [], "it has ended")
    }

    @Test func afterALostSessionWhatIsOpenIsSentAgainAndWhatWasCancelledIsNot() {
        var pending = pending(3)
        _ = pending.cancelled(token(1))
        #expect(failed(pending.sessionEnded(at: at(10))) == [1: .cancelled])
        #expect(sent(pending.welcomed(welcome(), at: at(20))).sorted() == [2, 3])
    }

    /// Otherwise the next coordinator gets more loads than its window, and rejects some as busy.
    @Test func whatWasCancelledWhenTheSessionEndedWidensNoWindow() {
        var pending = pending(5)
        for number in 1...2 { _ = pending.cancelled(token(UInt64(number))) }
        #expect(failed(pending.sessionEnded(at: at(10))).count == 2)
        #expect(sent(pending.welcomed(welcome(), at: at(20))) == [3, 4])
        #expect(pending.sentCount == 2)
    }

    @Test func whatACoordinatorThatShutsDownRefusesGoesToTheNextOne() {
        var pending = pending(3)
        let refusal = Reply.Outcome.failure(ImageError(.shuttingDown, "not now"))
        #expect(sent(pending.replied(reply(1, refusal), at: at(1))) == [3], "a slot is free")
        #expect(pending.expire(at: at(10_000)) == [], "the coordinator is still there")
        #expect(pending.sessionEnded(at: at(10_000)) == [])
        #expect(pending.nextDeadline == at(15_000))
        #expect(sent(pending.welcomed(welcome(), at: at(10_100))).first == 1)
    }

    @Test func whatWasRefusedEndsWhereNoCoordinatorFollows() {
        var pending = pending(2)
        let refusal = Reply.Outcome.failure(ImageError(.shuttingDown, "not now"))
        for number in 1...2 {
            #expect(pending.replied(reply(UInt64(number), refusal), at: at(1)) == [])
        }
        #expect(failed(pending.cancelled(token(2))) == [2: .cancelled])
        #expect(pending.sessionEnded(at: at(2)) == [])
        #expect(failed(pending.expire(at: at(5_002))) == [1: .unavailable])
        #expect(pending.isEmpty)
    }

    @Test func aResentLoadHasTheTimeThatIsLeft() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 60_000)
        _ = pending.submitted(request(1), at: at(0))
        let actions = pending.welcomed(welcome(), at: at(10_000))
        #expect(messages(actions).map(\.image.timeoutMilliseconds) == [20_000])
    }

    @Test func whereNobodyServesTheRequestEndsAsUnavailable() {
        var pending = pending(1, isWelcome: false)
        #expect(pending.nextDeadline == at(5_000))
        #expect(pending.expire(at: at(4_999)) == [])
        #expect(failed(pending.expire(at: at(5_000))) == [1: .unavailable])
        #expect(pending.nextDeadline == nil)
    }

    @Test func theDeadlineEndsWhatTheCoordinatorDoesNotEnd() {
        var pending = PendingRequests(connectTimeoutMilliseconds: 60_000)
        _ = pending.welcomed(welcome(), at: at(0))
        _ = pending.submitted(request(1), at: at(0))
        #expect(pending.expire(at: at(30_499)) == [], "the coordinator has half a second for it")
        let actions = pending.expire(at: at(30_500))
        #expect(failed(actions) == [1: .deadlineExceeded])
        #expect(actions.contains(.send(.cancel(token(1)))))
    }

    @Test func aStaleReplyIsAskedForAgainThreeTimesAndKeepsItsPlaceInTheWindow() {
        var pending = pending(1)
        for retry in 1...3 {
            let actions = pending.foundStale(token(1), at: at(retry))
            #expect(messages(actions).map(\.staleRetries) == [UInt8(retry)])
        }
        #expect(failed(pending.foundStale(token(1), at: at(4))) == [1: .stale])
        _ = pending.submitted(request(2), at: at(5))
        #expect(sent(pending.submitted(request(3), at: at(5))) == [3], "two places are free again")
    }

    /// If bytes are reused faster than they can be read, the coordinator sends copies.
    @Test func whatIsStaleForTheFourthTimeIsAskedForInPieces() {
        var knowing = welcome()
        knowing.chunkWindow = 4 << 20
        for mayAsk in [true, false] {
            var pending = PendingRequests(
                connectTimeoutMilliseconds: 5_000, mayAskForChunks: mayAsk)
            _ = pending.welcomed(knowing, at: at(0))
            _ = pending.submitted(request(1), at: at(0))
            for retry in 1...3 { _ = pending.foundStale(token(1), at: at(retry)) }
            let actions = pending.foundStale(token(1), at: at(4))
            guard mayAsk else {
                #expect(failed(actions) == [1: .stale])
                continue
            }
            #expect(messages(actions).map(\.staleRetries) == [3])
            #expect(messages(actions).map(\.wantsChunks) == [true])
            #expect(failed(pending.foundStale(token(1), at: at(5))) == [1: .stale])
        }
    }

    @Test func whatTheClientEndsItselfIsCancelledAtTheCoordinator() {
        var pending = pending(3)
        let gap = ImageError(.protocolViolation, "a gap")
        let actions = pending.abandoned(token(1), gap, at: at(1))
        #expect(failed(actions) == [1: .protocolViolation])
        #expect(actions.contains(.send(.cancel(token(1)))))
        #expect(sent(actions) == [3])
        #expect(pending.abandoned(token(1), gap, at: at(1)) == [])
    }

    @Test func aGroupIsCancelledWithOneMessage() {
        let group = GroupID(Identifier128(high: 7, low: 7))
        var pending = pending(0)
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
        _ = pending.welcomed(welcome(), at: at(0))
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
        var pending = pending(2)
        let error = ImageError(.invalidRequest, "no")
        #expect(failed(pending.refused(error, token(1), at: at(1))) == [1: .invalidRequest])
        #expect(pending.refused(error, nil, at: at(1)) == [])
        #expect(!pending.isEmpty)
    }
}
