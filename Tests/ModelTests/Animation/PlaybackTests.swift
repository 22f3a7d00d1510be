import Testing

@testable import Model

/// Which frame is shown when, compared with sequences of upstream's player (SDAnimatedImagePlayer
/// 5.21).
@Suite struct PlaybackTests {
    private static let frame = 100_000

    private func player(
        _ count: Int, loops: Int = 0, _ mode: PlaybackMode = .normal, skips: Bool = true
    ) -> Playback {
        var player = Playback(
            durations: Array(repeating: Self.frame, count: count), loops: loops, mode: mode,
            skipsLateFrames: skips)
        player.play()
        return player
    }

    /// The frames shown, one per frame duration, until playback ends.
    private func seen(_ player: inout Playback, _ steps: Int) -> [Int] {
        var seen = [player.index]
        for _ in 0..<steps where player.state == .playing {
            for case .frame(let index) in player.advance(by: Self.frame) { seen.append(index) }
        }
        return seen
    }

    @Test(arguments: [
        (PlaybackMode.normal, [0, 1, 2, 3, 0, 1, 2, 3, 0]),
        (.reverse, [3, 2, 1, 0, 3, 2, 1, 0, 3]),
        (.bounce, [0, 1, 2, 3, 2, 1, 0, 1, 2]),
        (.reversedBounce, [3, 2, 1, 0, 1, 2, 3, 2, 1]),
    ])
    func eachModeHasItsOrder(mode: PlaybackMode, wanted: [Int]) {
        var player = player(4, mode)
        #expect(seen(&player, 8) == wanted)
    }

    @Test(arguments: [
        (PlaybackMode.normal, [0, 1, 2, 0, 1, 2]), (.reverse, [2, 1, 0, 2, 1]),
        (.bounce, [0, 1, 2, 1, 0, 1, 2, 1]), (.reversedBounce, [2, 1, 0, 1, 2, 1]),
    ])
    func afterTwoLoopsTheLastFrameStays(mode: PlaybackMode, wanted: [Int]) {
        var player = player(3, loops: 2, mode)
        #expect(seen(&player, 50) == wanted)
        #expect(player.state == .ended)
        #expect(player.loop == 2)
        #expect(player.index == wanted.last)
        #expect(player.advance(by: 10 * Self.frame).isEmpty)
    }

    @Test func lateFramesAreLeftOutAndThePaceIsKept() {
        var player = player(10)
        #expect(player.advance(by: 3 * Self.frame + 50_000) == [.frame(3)])
        #expect(player.advance(by: 49_999).isEmpty)
        #expect(player.advance(by: 1) == [.frame(4)])
        #expect(player.advance(by: 7 * Self.frame) == [.loop(1), .frame(1)])
    }

    @Test func withoutSkippingEachIsSeenAndTimeIsLost() {
        var player = player(10, skips: false)
        #expect(player.advance(by: 50 * Self.frame) == [.frame(1)])
        #expect(player.advance(by: 1) == [.frame(2)])
    }

    @Test func aStandstillOfAnHourIsNoHourOfWork() {
        var player = player(3)
        let events = player.advance(by: 3_600_000_000)
        #expect(events.count <= 4)
        #expect(player.advance(by: 10).count <= 1)
    }

    @Test func theRateDividesDurations() {
        var player = player(10)
        player.rate = 2
        #expect(player.advance(by: Self.frame) == [.frame(2)])
        player.rate = 0.5
        #expect(player.advance(by: Self.frame).isEmpty)
        #expect(player.advance(by: Self.frame) == [.frame(3)])
        player.rate = 0
        #expect(player.advance(by: 100 * Self.frame).isEmpty)
        player.rate = -1
        #expect(player.advance(by: 100 * Self.frame).isEmpty)
    }

    @Test func whatIsNotReadyIsWaitedFor() {
        var player = player(3)
        #expect(player.advance(by: 5 * Self.frame, isReady: { $0 != 1 }).isEmpty)
        #expect(player.index == 0)
        #expect(player.advance(by: 1) == [.frame(1)])
        #expect(player.advance(by: Self.frame - 2).isEmpty)
    }

    @Test func framesThatArriveContinueWhereItWaits() {
        var player = Playback(
            durations: [Self.frame, Self.frame], loops: 0, isWhole: false)
        player.play()
        #expect(player.advance(by: 5 * Self.frame) == [.frame(1)])
        #expect(player.advance(by: 5 * Self.frame).isEmpty)
        player.extend(to: [Self.frame], isWhole: true)
        #expect(player.count == 2)
        player.extend(to: Array(repeating: Self.frame, count: 3), isWhole: true)
        #expect(player.advance(by: 1) == [.frame(2)])
        #expect(player.advance(by: Self.frame) == [.loop(1), .frame(0)])
    }

    @Test func pauseKeepsAndStopForgets() {
        var player = player(4)
        _ = player.advance(by: 2 * Self.frame)
        player.pause()
        #expect(player.advance(by: 9 * Self.frame).isEmpty)
        #expect(player.index == 2)
        player.play()
        #expect(player.advance(by: Self.frame) == [.frame(3)])
        player.stop()
        #expect((player.index, player.loop, player.state) == (0, 0, .stopped))
        #expect(player.advance(by: 9 * Self.frame).isEmpty)
    }

    @Test func everyFrameCanBeSoughtAndNoOther() {
        var player = player(4)
        for index in 0..<4 {
            player.seek(to: index, loop: 1)
            #expect((player.index, player.loop) == (index, 1))
        }
        player.seek(to: 4)
        player.seek(to: -1)
        #expect(player.index == 3)
        #expect(player.advance(by: Self.frame) == [.loop(2), .frame(0)])
    }

    @Test func whatComesNextIsKnown() {
        #expect(player(5).upcoming(3) == [1, 2, 3])
        #expect(player(5, .reverse).upcoming(2) == [3, 2])
        #expect(player(3, .bounce).upcoming(9) == [1, 2])
        #expect(player(1).upcoming(3).isEmpty)
    }

    @Test(arguments: PlaybackMode.allCases)
    func stepsAreThoseThatPlayingTakes(mode: PlaybackMode) {
        for count in 1...5 {
            var player = player(count, mode)
            for _ in 0..<(3 * count) {
                var ahead = player
                var wanted = [player.index: 0]
                for step in 1...(2 * count) {
                    _ = ahead.advance(by: Self.frame)
                    if wanted[ahead.index] == nil { wanted[ahead.index] = step }
                }
                for (index, step) in wanted { #expect(player.steps(to: index) == step) }
                _ = player.advance(by: Self.frame)
            }
        }
    }

    @Test func theNextFrameIsDueInWhatIsLeft() {
        var player = player(3)
        _ = player.advance(by: 30_000)
        #expect(player.untilNext == 70_000)
        player.rate = 2
        #expect(player.untilNext == 35_000)
        player.rate = 0
        #expect(player.untilNext == nil)
        player.rate = 1
        player.pause()
        #expect(player.untilNext == nil)
    }
}
