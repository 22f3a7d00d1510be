import Model
import Testing

@testable import Coordinator

/// A flow that holds three jobs for each free slot stands aside. It is resumed as soon as that is
/// no longer the case, because one of its jobs ended or workers accept more jobs.
@Suite struct ShareGateTests {
    private let flow = FlowID.session(ClientID(1))
    private var queued: StageQueue.QueuedFlow { StageQueue.QueuedFlow(queue: 0, flow: flow) }

    /// A gate at which the flow holds that many jobs, and stands aside.
    private func gate(held: Int, free: Int) -> ShareGate {
        var gate = ShareGate()
        for _ in 0..<held { gate.began(flow) }
        gate.sees(free: free)
        gate.stepAside(queued)
        let ready = gate.popReady()
        #expect(ready == [] && gate.waitingCount == 1)
        return gate
    }

    @Test func moreRoomCallsWhoStandsAside() {
        var gate = gate(held: 3, free: 1)
        gate.sees(free: 2)
        #expect(!gate.isClosed(to: flow))
        let ready = gate.popReady()
        #expect(ready == [queued] && gate.waitingCount == 0)
        let again = gate.popReady()
        #expect(again == [], "once")
    }

    @Test func asMuchRoomAsBeforeOrLessCallsNobody() {
        var gate = gate(held: 3, free: 1)
        for free in [1, 0] {
            gate.sees(free: free)
            let ready = gate.popReady()
            #expect(ready == [] && gate.waitingCount == 1)
        }
        gate.sees(free: 2)
        let ready = gate.popReady()
        #expect(ready == [queued], "more than before")
    }

    @Test func moreRoomThatIsNotEnoughCallsLater() {
        var gate = gate(held: 6, free: 1)
        gate.sees(free: 2)
        let early = gate.popReady()
        #expect(early == [] && gate.waitingCount == 1)
        gate.sees(free: 3)
        let ready = gate.popReady()
        #expect(ready == [queued])
    }

    @Test func anEndCallsWhoStandsAside() {
        var gate = gate(held: 3, free: 1)
        gate.ended(flow)
        let ready = gate.popReady()
        #expect(ready == [queued] && gate.waitingCount == 0)
    }

    @Test func aPlaceStandsAsideOnce() {
        var gate = gate(held: 3, free: 1)
        gate.stepAside(queued)
        #expect(gate.waitingCount == 1)
        gate.forgetWaiting()
        #expect(gate.waitingCount == 0)
        gate.sees(free: 2)
        let ready = gate.popReady()
        #expect(ready == [])
    }

    // MARK: - Shares

    @Test(arguments: 1...8) func aFlowTakesOneMoreBelowThreeForEachThatIsFree(free: Int) {
        var share = FairShare()
        for _ in 0..<3 * free {
            #expect(share.admits(flow, free: free))
            share.occupy(flow)
        }
        #expect(!share.admits(flow, free: free))
        #expect(!share.admits(flow, free: 0))
        share.vacate(flow)
        #expect(share.admits(flow, free: free))
    }

    /// A released share is forgotten, and its flow with it.
    @Test func aShareThatWasGivenBackIsAsItWasAtFirst() {
        let sessions = (1...2).map { number in
            FlowID.client(
                FlowID.Session(client: ClientID(UInt64(number)), owner: .process(7)))
        }
        var share = FairShare()
        for _ in 0..<9 { share.occupy(sessions[0]) }
        #expect(share.admits(sessions[0], free: 4), "alone it has all of its owner's share")
        share.occupy(sessions[1])
        #expect(!share.admits(sessions[0], free: 4))
        share.vacate(sessions[1])
        #expect(share.admits(sessions[0], free: 4), "it is alone again")
        for _ in 0..<9 { share.vacate(sessions[0]) }
        #expect(share.count == 0)
        #expect(sessions.allSatisfy { share.count(of: $0) == 0 })
        #expect(share.count(of: sessions[0].owner) == 0)
        for _ in 0..<9 { share.occupy(sessions[1]) }
        #expect(share.admits(sessions[1], free: 4))
    }
}
