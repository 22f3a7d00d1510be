import Messages
import Testing

@testable import Dispatching

/// A flow that holds three jobs for each free slot stands aside. It is resumed as soon as that is
/// no longer the case, because one of its jobs ended or workers accept more jobs.
@Suite struct ShareGateTests {
    private let flow = FlowID.session(ClientID(1))
    private var place: HostGates.Place { HostGates.Place(line: 0, flow: flow) }

    /// A gate at which the flow holds that many jobs, and stands aside.
    private func gate(held: Int, free: Int) -> ShareGate {
        var gate = ShareGate()
        for _ in 0..<held { gate.began(flow) }
        gate.sees(free: free)
        gate.stepAside(place)
        let called = gate.call()
        #expect(called == [] && gate.waitingCount == 1)
        return gate
    }

    @Test func moreRoomCallsWhoStandsAside() {
        var gate = gate(held: 3, free: 1)
        gate.sees(free: 2)
        #expect(!gate.isClosed(to: flow))
        let called = gate.call()
        #expect(called == [place] && gate.waitingCount == 0)
        let again = gate.call()
        #expect(again == [], "once")
    }

    @Test func asMuchRoomAsBeforeOrLessCallsNobody() {
        var gate = gate(held: 3, free: 1)
        for free in [1, 0] {
            gate.sees(free: free)
            let called = gate.call()
            #expect(called == [] && gate.waitingCount == 1)
        }
        gate.sees(free: 2)
        let called = gate.call()
        #expect(called == [place], "more than before")
    }

    @Test func moreRoomThatIsNotEnoughCallsLater() {
        var gate = gate(held: 6, free: 1)
        gate.sees(free: 2)
        let early = gate.call()
        #expect(early == [] && gate.waitingCount == 1)
        gate.sees(free: 3)
        let called = gate.call()
        #expect(called == [place])
    }

    @Test func anEndCallsWhoStandsAside() {
        var gate = gate(held: 3, free: 1)
        gate.ended(flow)
        let called = gate.call()
        #expect(called == [place] && gate.waitingCount == 0)
    }

    @Test func aPlaceStandsAsideOnce() {
        var gate = gate(held: 3, free: 1)
        gate.stepAside(place)
        #expect(gate.waitingCount == 1)
        gate.forgetWaiting()
        #expect(gate.waitingCount == 0)
        gate.sees(free: 2)
        let called = gate.call()
        #expect(called == [])
    }

    // MARK: - Shares

    @Test(arguments: 1...8) func aFlowTakesOneMoreBelowThreeForEachThatIsFree(free: Int) {
        var share = FairShare()
        for _ in 0..<3 * free {
            #expect(share.admits(flow, free: free))
            share.took(flow)
        }
        #expect(!share.admits(flow, free: free))
        #expect(!share.admits(flow, free: 0))
        share.gaveBack(flow)
        #expect(share.admits(flow, free: free))
    }

    /// A released share is forgotten, and its flow with it.
    @Test func aShareThatWasGivenBackIsAsItWasAtFirst() {
        let sessions = (1...2).map { number in
            FlowID.client(
                FlowID.Session(client: ClientID(UInt64(number)), owner: .process(7)))
        }
        var share = FairShare()
        for _ in 0..<9 { share.took(sessions[0]) }
        #expect(share.admits(sessions[0], free: 4), "alone it has all of its owner's share")
        share.took(sessions[1])
        #expect(!share.admits(sessions[0], free: 4))
        share.gaveBack(sessions[1])
        #expect(share.admits(sessions[0], free: 4), "it is alone again")
        for _ in 0..<9 { share.gaveBack(sessions[0]) }
        #expect(share.count == 0)
        #expect(sessions.allSatisfy { share.count(of: $0) == 0 })
        #expect(share.count(of: sessions[0].owner) == 0)
        for _ in 0..<9 { share.took(sessions[1]) }
        #expect(share.admits(sessions[1], free: 4))
    }
}
