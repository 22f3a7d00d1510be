import Model
import Testing

@testable import Imagebus

private func request(_ number: UInt64, slot: String?, avoids: Bool = false) -> LoadRequest {
    var image = ImageRequest(url: "http://a.test/\(number)")
    if avoids { image.options = .avoidAutoCancelImage }
    return LoadRequest(token: token(number), image: image, slot: slot)
}

/// Cancels, failures and loads among the actions, in order.
private func described(_ actions: PendingRequests.Actions) -> [String] {
    actions.map { action in
        switch action {
        case .send(.cancel(let token)): "cancel \(token.value.low)"
        case .load(let load): "load \(load.token.value.low)"
        case .fail(let load, let error): "fail \(load.token.value.low) \(error.code.rawValue)"
        default: "\(action)"
        }
    }
}

@Suite struct PendingSlotTests {
    @Test func theOlderOneIsCancelledBeforeTheNewOneIsSent() {
        var pending = PendingRequests(window: 2)
        _ = pending.submitted(request(1, slot: "s"), at: at(0))
        let actions = pending.submitted(request(2, slot: "s"), at: at(0))
        #expect(described(actions) == ["cancel 1", "load 2"])
    }

    @Test func theOlderOneThatWasNotSentEndsHereFirst() {
        var pending = PendingRequests(window: nil)
        _ = pending.submitted(request(1, slot: "s"), at: at(0))
        #expect(described(pending.submitted(request(2, slot: "s"), at: at(0))) == ["fail 1 2002"])
        #expect(described(pending.welcomed(welcome(), at: at(1))) == ["load 2"])
    }

    @Test func theOlderOneIsCancelledAlthoughTheNewOneWaitsForTheWindow() {
        var pending = PendingRequests(window: 2)
        _ = pending.submitted(request(1, slot: "s"), at: at(0))
        _ = pending.submitted(request(2, slot: nil), at: at(0))
        #expect(described(pending.submitted(request(3, slot: "s"), at: at(0))) == ["cancel 1"])
    }

    @Test func whoAvoidsItCancelsNothing() {
        var pending = PendingRequests(window: 2)
        _ = pending.submitted(request(1, slot: "s"), at: at(0))
        #expect(
            described(pending.submitted(request(2, slot: "s", avoids: true), at: at(0))) == [
                "load 2"
            ])
    }

    @Test func underANewSessionTheyAreSentInTheirOrder() {
        var pending = PendingRequests(window: nil)
        _ = pending.welcomed(welcome(window: 100), at: at(0))
        for number in 1...40 {
            _ = pending.submitted(
                request(UInt64(number), slot: "s", avoids: number > 1), at: at(0))
        }
        _ = pending.sessionEnded(at: at(1))
        #expect(
            described(pending.welcomed(welcome(window: 100), at: at(2)))
                == (1...40).map { "load \($0)" })
    }

    /// Because its bytes were overwritten, or because a cached image was missing.
    @Test(arguments: [true, false])
    func aRepeatedLoadDoesNotCancelWhatCameIntoItsSlotSince(isStale: Bool) {
        var pending = PendingRequests(window: 2)
        _ = pending.submitted(request(1, slot: "s"), at: at(0))
        _ = pending.submitted(request(2, slot: "s", avoids: true), at: at(0))
        let again =
            isStale
            ? pending.foundStale(token(1), at: at(1))
            : pending.foundUnmodified(token(1), at: at(1))
        #expect(messages(again).map(\.slot) == [nil])
        // The slot still holds the newer load.
        #expect(described(pending.submitted(request(3, slot: "s"), at: at(2))) == ["cancel 2"])
    }

    /// A newer load cancels the newest one in its slot, however older ones ended.
    @Test func theEndOfAnOlderLoadLeavesTheSlotToTheNewerOne() {
        let error = ImageError(.busy, "busy")
        let failure = Reply(token: token(1), outcome: .failure(error))
        let ends: [(inout PendingRequests) -> PendingRequests.Actions] = [
            { $0.delivered(token(1), at: at(1)) },
            { $0.replied(failure, at: at(1)) },
            { $0.refused(error, token(1), at: at(1)) },
            { $0.abandoned(token(1), error, at: at(1)) },
            { $0.expire(at: at(1_500)) },
        ]
        var first = request(1, slot: "s")
        first.image.timeoutMilliseconds = 1_000
        for (number, end) in ends.enumerated() {
            for avoids in [false, true] {
                var pending = PendingRequests(window: 2)
                _ = pending.submitted(first, at: at(0))
                _ = pending.submitted(request(2, slot: "s", avoids: avoids), at: at(0))
                _ = end(&pending)
                #expect(pending.load(of: token(1)) == nil, "end \(number)")
                let actions = pending.submitted(request(3, slot: "s"), at: at(2_000))
                #expect(described(actions) == ["cancel 2", "load 3"], "end \(number)")
            }
        }
    }

    @Test func theEndOfAnOlderLoadThatWasNotSentLeavesTheSlotToTheNewerOne() {
        var pending = PendingRequests(window: nil)
        _ = pending.submitted(request(1, slot: "s"), at: at(0))
        _ = pending.submitted(request(2, slot: "s", avoids: true), at: at(0))
        #expect(described(pending.cancelled(token(1))) == ["fail 1 2002"])
        #expect(described(pending.submitted(request(3, slot: "s"), at: at(1))) == ["fail 2 2002"])
    }

    @Test func classesChangeWhereverARequestIs() {
        var pending = PendingRequests(window: nil)
        _ = pending.submitted(request(1, slot: nil), at: at(0))
        #expect(pending.reprioritized(token(1), .high) == [])
        #expect(messages(pending.welcomed(welcome(), at: at(1))).map(\.image.priority) == [.high])
        #expect(
            pending.reprioritized(token(1), .low) == [.send(.reprioritize(token(1), .low))])
        #expect(pending.reprioritized(token(9), .low) == [])
    }
}
