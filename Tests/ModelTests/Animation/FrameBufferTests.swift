import Testing

@testable import Model

/// Which frames are held, loaded and evicted within a byte budget.
@Suite struct FrameBufferTests {
    private static let count = 10
    private static let frame = 100

    private func buffer(frames: Int) -> FrameBuffer<String> {
        FrameBuffer(bytesMax: frames * Self.frame, estimate: Self.frame, loadsMax: 2)
    }

    private func steps(from seen: Int) -> (Int) -> Int {
        { ($0 - seen + Self.count) % Self.count }
    }

    private func want(
        _ buffer: inout FrameBuffer<String>, _ seen: Int, ahead: Int = 2
    ) -> FrameBuffer<String>.FrameCommands {
        let next = (1..<(ahead + 1)).map { (seen + $0) % Self.count }
        return buffer.want(seen, then: next, steps: steps(from: seen))
    }

    private func bring(_ buffer: inout FrameBuffer<String>, _ index: Int, seen: Int) {
        buffer.store("\(index)", bytes: Self.frame, at: index, steps: steps(from: seen))
    }

    @Test func theSeenFrameIsLoadedFirstAndNoneTwice() {
        var buffer = buffer(frames: 5)
        #expect(want(&buffer, 0).loads == [0, 1])
        #expect(want(&buffer, 0) == .init())
        bring(&buffer, 0, seen: 0)
        #expect(want(&buffer, 0).loads == [2])
        bring(&buffer, 1, seen: 0)
        bring(&buffer, 2, seen: 0)
        #expect(want(&buffer, 0) == .init())
        #expect(buffer.indices == [0, 1, 2])
        #expect(buffer[1] == "1")
        #expect(buffer.bytes == 300)
    }

    @Test func whatWillBeSeenLastGoesFirst() {
        var buffer = buffer(frames: 4)
        for seen in 0..<Self.count {
            for index in want(&buffer, seen).loads { bring(&buffer, index, seen: seen) }
            #expect(buffer.bytes <= 400)
            #expect(buffer[seen] == "\(seen)")
        }
        // At frame 9 the next ones are 0 and 1; the frames just seen are farthest away.
        _ = want(&buffer, 9)
        #expect(Set(buffer.indices).isSuperset(of: [9, 0]))
    }

    @Test func framesThatHaveRoomAreNeverLoadedAgain() {
        var buffer = buffer(frames: Self.count)
        var loads = 0
        for seen in (0..<50).map({ $0 % Self.count }) {
            for index in want(&buffer, seen).loads {
                bring(&buffer, index, seen: seen)
                loads += 1
            }
        }
        #expect(loads == Self.count)
    }

    @Test func aBufferOfNoBytesHoldsTheSeenFrameAlone() {
        var buffer = FrameBuffer<String>(bytesMax: 0, estimate: Self.frame, loadsMax: 2)
        #expect(buffer.capacity == 1)
        for seen in 0..<4 {
            #expect(want(&buffer, seen).loads == [seen])
            bring(&buffer, seen, seen: seen)
            #expect(buffer.indices == [seen])
        }
    }

    @Test func loadsThatAreNotWantedAnyMoreAreCancelled() {
        var buffer = buffer(frames: 5)
        #expect(want(&buffer, 0).loads == [0, 1])
        let sought = want(&buffer, 7)
        #expect(sought.cancels == [0, 1])
        #expect(sought.loads == [7, 8])
        // The load completes although it was canceled; the frame is not kept.
        bring(&buffer, 0, seen: 7)
        #expect(buffer.indices.isEmpty)
        #expect(buffer.bytes == 0)
    }

    @Test func whatIsLoadedHasItsRoomBeforeItComes() {
        var buffer = buffer(frames: 3)
        for seen in 0..<3 {
            for index in want(&buffer, seen, ahead: 0).loads { bring(&buffer, index, seen: seen) }
        }
        #expect(buffer.indices == [0, 1, 2])
        #expect(want(&buffer, 3, ahead: 1).loads == [3, 4])
        // Two are loading, so one stays: of the frames held, the one that is shown next.
        #expect(buffer.indices == [0])
    }

    @Test func aFrameThatIsLargerThanExpectedLeavesLessRoom() {
        var buffer = buffer(frames: 4)
        _ = want(&buffer, 0)
        bring(&buffer, 0, seen: 0)
        buffer.store("large", bytes: 350, at: 1, steps: steps(from: 0))
        #expect(buffer.indices == [0])
        #expect(buffer.capacity == 1)
        #expect(want(&buffer, 1).loads == [1])
        buffer.store("large", bytes: 350, at: 1, steps: steps(from: 1))
        #expect(buffer.indices == [1])
        #expect(buffer.bytes == 350)
    }

    @Test func smallFramesLeaveRoomForMore() {
        var buffer = buffer(frames: 2)
        #expect(want(&buffer, 0).loads == [0, 1])
        buffer.store("0", bytes: 10, at: 0, steps: steps(from: 0))
        #expect(buffer.capacity == 20)
    }

    @Test func aFailedFrameMayBeLoadedAgain() {
        var buffer = buffer(frames: 2)
        _ = want(&buffer, 0, ahead: 0)
        buffer.giveUp(0)
        #expect(want(&buffer, 0, ahead: 0).loads == [0])
    }

    @Test func clearedItHoldsNothingAndLoadsNothing() {
        var buffer = buffer(frames: 5)
        _ = want(&buffer, 0)
        bring(&buffer, 0, seen: 0)
        #expect(buffer.clear() == [1])
        #expect(buffer.indices.isEmpty)
        #expect(buffer.bytes == 0)
        bring(&buffer, 1, seen: 0)
        #expect(buffer.indices.isEmpty)
    }

    @Test func bytesWithoutEndAreNoOverflow() {
        var buffer = FrameBuffer<String>(bytesMax: .max, estimate: .max, loadsMax: 2)
        #expect(want(&buffer, 0, ahead: 5).loads == [0])
        var small = FrameBuffer<String>(bytesMax: .max, estimate: 1, loadsMax: 2)
        #expect(want(&small, 0, ahead: 5).loads == [0, 1])
    }
}
