import Model
import Testing

@testable import Coordinator

/// How often partial data is decoded (SEMANTICS §2.11).
struct PartialPaceTests {
    private static let start = Instant(nanoseconds: 1_000_000_000)

    private func at(_ milliseconds: Int) -> Instant {
        Self.start.adding(milliseconds: milliseconds)
    }

    /// The state after one decode of `bytes` that started at the start and took `milliseconds`.
    private func looked(
        at bytes: UInt64, taking milliseconds: Int = 0, _ end: PartialPace.End = .shown
    ) -> PartialPace {
        var pace = PartialPace()
        pace.begins(of: bytes)
        pace.ended(end, after: milliseconds, at: at(milliseconds))
        return pace
    }

    @Test func theFirstBytesAreLookedAtAtOnce() {
        #expect(PartialPace().permits(1, of: 0, at: Self.start))
        #expect(!PartialPace().permits(0, of: 0, at: Self.start))
    }

    @Test func theBytesHaveToGrow() {
        let large = looked(at: 160_000)
        #expect(!large.permits(169_999, of: 0, at: at(0)))
        #expect(large.permits(170_000, of: 0, at: at(0)))
        let small = looked(at: 2_000)
        #expect(!small.permits(3_023, of: 0, at: at(0)))
        #expect(small.permits(3_024, of: 0, at: at(0)))
        #expect(small.permits(2_200, of: 2_200, at: at(0)), "these are all")
        #expect(!small.permits(2_000, of: 2_000, at: at(0)), "they were seen")
    }

    @Test func threeTimesAsLongPassesAsTheLookTook() {
        let pace = looked(at: 2_000, taking: 400)
        #expect(!pace.permits(90_000, of: 0, at: at(400 + 1_199)))
        #expect(pace.permits(90_000, of: 0, at: at(400 + 1_200)))
    }

    /// All partial images of one round count, and the next round waits for all of them.
    @Test func whatSeveralTookIsAddedUp() {
        var pace = PartialPace()
        pace.begins(of: 2_000)
        pace.begins(of: 2_000)
        pace.ended(.shown, after: 100, at: at(100))
        #expect(!pace.permits(90_000, of: 0, at: at(9_000)))
        pace.ended(.shown, after: 200, at: at(200))
        #expect(!pace.permits(90_000, of: 0, at: at(200 + 899)))
        #expect(pace.permits(90_000, of: 0, at: at(200 + 900)))
    }

    @Test func withoutFruitThePauseDoublesUpToTenSeconds() {
        var pace = PartialPace()
        var (now, bytes, pauses) = (0, UInt64(2_000), [Int]())
        for _ in 0..<10 {
            pace.begins(of: bytes)
            pace.ended(.fruitless, after: 10, at: at(now))
            bytes *= 2
            let pause = (0...20_000).first { pace.permits(bytes, of: 0, at: at(now + $0)) } ?? -1
            pauses.append(pause)
            now += pause
        }
        #expect(
            pauses == [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000])
        pace.begins(of: bytes)
        pace.ended(.left, after: 10, at: at(now))
        #expect(!pace.permits(2 * bytes, of: 0, at: at(now + 9_999)), "that has no effect")
        pace.begins(of: 2 * bytes)
        pace.ended(.shown, after: 10, at: at(now))
        #expect(pace.permits(4 * bytes, of: 0, at: at(now + 30)))
        let slow = looked(at: 2_000, taking: 5_000, .fruitless)
        #expect(!slow.permits(90_000, of: 0, at: at(5_000 + 14_999)), "never less than the rest")
        #expect(slow.permits(90_000, of: 0, at: at(5_000 + 15_000)))
    }

    // MARK: - Transfers

    /// Bytes of a transfer arrive every 100 ms, and each decode takes a given time. Returns when
    /// decodes started, and how many of them were shown.
    private func transfer(
        steps: Int, of bytes: UInt64, from first: UInt64? = nil, taking milliseconds: Int,
        isShown: Bool = true
    ) -> (starts: [Int], shown: Int) {
        var (stack, client) = Stack.staffed()
        stack.load(.image("a", size: 5, [.progressiveLoad, .fromLoaderOnly]), by: client)
        let (began, first) = (stack.now, first ?? bytes)
        var (starts, ends) = ([Int](), Instant?.none)
        for step in 0..<steps * 100 {
            if let end = ends, stack.now >= end {
                if isShown {
                    stack.run(.decode, .transform, .store)
                } else {
                    stack.fail(.decode, .badImageData)
                }
                ends = nil
            }
            // The previous block was released.
            let downloader = stack.worker(.download)
            if step.isMultiple(of: 100), stack.workers[downloader]?.live.isEmpty == true {
                stack.arrive(
                    first + bytes * UInt64(step / 100),
                    of: first + bytes * UInt64(steps), as: .jpeg)
                if ends == nil, !stack.held(.decode).isEmpty {
                    starts.append(stack.now.milliseconds(since: began))
                    ends = stack.now.adding(milliseconds: milliseconds)
                } else if ends == nil {
                    #expect(stack.workers[downloader]?.live.isEmpty == true, "given back")
                }
            }
            stack.now = stack.now.adding(milliseconds: 1)
        }
        #expect(stack.faults == [])
        return (starts, stack.partialCount)
    }

    /// The guarantees for a transfer of six seconds.
    @Test func anOrdinaryTransferIsShownOften() {
        let (starts, shown) = transfer(steps: 60, of: 2_000, taking: 30)
        #expect(starts.first == 0 && shown >= 20, "\(starts)")
    }

    /// Ten bytes per second of a file whose decode takes half a second.
    @Test func bytesThatTrickleAreHardlyLookedAt() {
        let (starts, _) = transfer(steps: 250, of: 1, from: 50_000, taking: 500)
        #expect(starts == [0], "no growth is worth a look")
    }

    @Test func slowDecodesTakeAQuarterOfTheTime() {
        let (starts, _) = transfer(steps: 200, of: 5_000, taking: 500)
        #expect(starts.count >= 3 && starts.count <= 11, "\(starts)")
        #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 >= 2_000 }, "\(starts)")
    }

    @Test func whatCannotBeShownIsTriedLessAndLess() {
        let (starts, shown) = transfer(steps: 200, of: 5_000, taking: 10, isShown: false)
        #expect(shown == 0 && (6...9).contains(starts.count), "\(starts)")
    }
}
