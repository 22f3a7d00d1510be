import Model
import Testing

@testable import Coordinator

/// Exact limits: as many as permitted are accepted, one more is not, and a released one makes room.
@Suite struct LimitEdgeTests {
    /// An owner may hold bytes as long as a third of its total remains free.
    @Test func overlaysOfOneClientLeaveRoomForOthers() {
        let (flow, other) = (ClientID(1), ClientID(2))
        var bytes = SharedSpace<ClientID>(max: 8)
        #expect(bytes.admits(6, for: flow) && !bytes.admits(7, for: flow))
        bytes.take(6, for: flow)
        #expect(!bytes.admits(1, for: flow))
        #expect(bytes.admits(1, for: other) && !bytes.admits(3, for: other))
        bytes.giveBack(6, of: flow)
        #expect(bytes.count == 0 && bytes.count(of: flow) == 0)
        #expect(bytes.admits(6, for: flow) && bytes.admits(6, for: other))
    }

    @Test func aWorkerHasSoManySegmentsAndNoMore() {
        var stack = Stack { $0.dispatch.segmentsPerWorkerMax = 2 }
        let worker = stack.hire(.download)
        func segment(_ number: UInt32) -> SegmentAnnouncement {
            SegmentAnnouncement(arena: .stage, number: number, size: 1 << 20)
        }
        stack.send(.segmentsOpened(worker, [segment(1)]))
        stack.send(.segmentsClosed(worker, [segment(1)]))
        stack.send(.segmentsOpened(worker, [segment(2)]))
        #expect(stack.expelled.isEmpty, "a closed segment makes room")
        stack.send(.segmentsOpened(worker, [segment(3)]))
        #expect(stack.expelled.map(\.0) == [worker])
        #expect(stack.expelled.first?.1.code == .protocolViolation)
    }

    @Test(arguments: [10, 11]) func soManyURLsOfAClientWaitAndNoMore(count: Int) {
        var stack = Stack { $0.prefetchesPerClientMax = 10 }
        stack.hireAll()
        let client = stack.connect()
        for _ in 0..<2 {
            let batch = stack.prefetch((0..<count).map { "p\($0)" }, by: client)
            #expect(stack.refusals[batch]?.code == (count > 10 ? .busy : nil))
            stack.finishEverything()
        }
        #expect(stack.isAtRest)
    }

    @Test func soManyBatchesOfAClientAreOpenAndNoMore() {
        var stack = Stack { $0.batchesPerClientMax = 2 }
        stack.hireAll()
        let client = stack.connect()
        for round in 1...2 {
            let batches = ["a", "b"].map { stack.prefetch(["\($0)\(round)"], by: client) }
            #expect(batches.allSatisfy { stack.refusals[$0] == nil })
            let refused = stack.prefetch(["c"], by: client)
            #expect(stack.refusals[refused]?.code == .busy)
            stack.finishEverything()
        }
        #expect(stack.isAtRest)
    }
}
