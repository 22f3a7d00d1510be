import Model
import Testing

@testable import Imagebus

/// The images and events of a slot over time.
@Suite struct SlotMachineTests {
    private typealias Script = SlotScript
    private var slot = SlotScript()

    @Test mutating func aLoadShowsItsPlaceholderAndThenItsImage() {
        let id = slot.load("a")
        #expect(slot.drain() == ["k: p", "k: spin", "start 1"])
        #expect(slot.state() == SlotState(url: "a", progress: .none, loads: 1))
        slot.end(id, Script.image("A"))
        #expect(
            slot.drain() == [
                "stop 1", "k: rest", "k: A in transition", "tell 1 A late in transition",
            ])
        #expect(slot.state() == SlotState(url: "a", progress: .whole, loads: 0))
    }

    @Test mutating func whatIsAtHandIsSeenInTheSameTurnWithoutAPlaceholder() {
        slot.load("a", atHand: Script.image("A", .memory))
        #expect(slot.drain() == ["k: A", "tell 1 A"])
        #expect(slot.state() == SlotState(url: "a", progress: .whole, loads: 0))
    }

    @Test mutating func withoutAPlaceholderThePlaceIsEmptied() {
        slot.load("a", placeholder: nil)
        #expect(slot.drain() == ["k: nothing", "k: spin", "start 1"])
    }

    @Test mutating func aNewLoadEndsTheOldOneBeforeItBeginsAndStopsItAfterwards() {
        let first = slot.load("a")
        _ = slot.drain()
        let second = slot.load("b")
        #expect(slot.drain() == ["tell 1 2002", "k: p", "k: 0/0", "start 2", "stop 1"])
        slot.partial(first, "A-")
        slot.cached(first, Script.image("A", .disk))
        slot.advance(first, 1, of: 2)
        slot.end(first, Script.image("A"))
        slot.fail(first)
        #expect(slot.drain() == [], "nothing of the old one is seen")
        slot.end(second, Script.image("B", .memory))
        #expect(slot.drain() == ["stop 2", "k: rest", "k: B", "tell 2 B late"])
        slot.end(second, Script.image("B"))
        #expect(slot.drain() == [], "it ends once")
    }

    @Test mutating func whatIsAtHandStopsTheIndicatorOfTheOldLoad() {
        slot.load("a")
        _ = slot.drain()
        slot.load("b", atHand: Script.image("B", .memory))
        #expect(slot.drain() == ["tell 1 2002", "k: rest", "k: B", "tell 2 B", "stop 1"])
    }

    @Test mutating func keysArePlacesOfTheirOwn() {
        let first = slot.load("a", key: "x")
        let second = slot.load("b", key: "y")
        _ = slot.drain()
        slot.cancel("x")
        #expect(slot.drain() == ["x: rest", "tell 1 2002", "stop 1"])
        slot.end(first, Script.image("A"))
        slot.end(second, Script.image("B", .memory))
        #expect(slot.drain() == ["stop 2", "y: rest", "y: B", "tell 2 B late"])
        slot.load("c", key: "x")
        slot.load("d", key: "y")
        _ = slot.drain()
        slot.cancelAll()
        #expect(
            slot.drain() == [
                "x: rest", "tell 3 2002", "stop 3", "y: rest", "tell 4 2002", "stop 4",
            ])
        slot.cancelAll()
        #expect(slot.drain() == [])
    }

    @Test mutating func aDelayedPlaceholderIsSeenWhereNoImageCame() {
        let failing = slot.load("a", .delayPlaceholder)
        #expect(slot.drain() == ["k: spin", "start 1"])
        slot.fail(failing, .deadlineExceeded)
        #expect(slot.drain() == ["stop 1", "k: rest", "k: p", "tell 1 3002 late"])
        let missing = slot.load("a", [.delayPlaceholder, .avoidAutoSetImage])
        _ = slot.drain()
        slot.end(missing, Script.miss)
        #expect(slot.drain() == ["stop 2", "k: rest", "k: p", "tell 2 miss late"])
        slot.load("a", .delayPlaceholder)
        _ = slot.drain()
        slot.cancel()
        #expect(slot.drain() == ["k: rest", "k: p", "tell 3 2002", "stop 3"])
        slot.load("a", .delayPlaceholder)
        slot.load("b", .delayPlaceholder)
        #expect(!slot.drain().contains("k: p"), "the newer load took the slot")
        slot.load("", .delayPlaceholder)
        #expect(
            slot.drain() == ["tell 5 2002", "k: rest", "k: p", "tell 6 1000", "stop 5"])
    }

    @Test mutating func noURLIs1000AtOnce() {
        slot.load("")
        #expect(slot.drain() == ["k: p", "tell 1 1000"])
    }

    @Test mutating func underAvoidAutoSetImageTheCallerGetsTheImages() {
        let id = slot.load("a", .avoidAutoSetImage)
        _ = slot.drain()
        slot.partial(id, "A-")
        slot.end(id, Script.image("A", .disk))
        #expect(
            slot.drain() == [
                "tell 1 A-… late", "stop 1", "k: rest", "tell 1 A late in transition",
            ])
    }

    @Test mutating func underAvoidAutoCancelImageOldLoadsGoOnBehindTheNewest() {
        let first = slot.load("a")
        let second = slot.load("b", .avoidAutoCancelImage)
        let third = slot.load("c", .avoidAutoCancelImage)
        #expect(slot.state()?.loads == 3)
        _ = slot.drain()
        slot.end(first, Script.image("A", .memory))
        #expect(slot.drain() == ["stop 1", "k: A", "tell 1 A late"])
        slot.end(third, Script.image("C", .memory))
        slot.end(second, Script.image("B", .memory))
        #expect(
            slot.drain() == [
                "stop 3", "k: C", "tell 3 C late", "stop 2", "k: rest", "tell 2 B late",
            ],
            "an older image does not replace a newer one")
    }

    @Test(arguments: [
        (CacheTypes.none, RequestOptions(), true), (.disk, RequestOptions(), true),
        (.memory, RequestOptions(), false), (.memory, .forceTransition, true),
    ])
    mutating func aTransitionIsForWhatCameLate(
        tier: CacheTypes, options: RequestOptions, wants: Bool
    ) {
        let id = slot.load("a", options)
        _ = slot.drain()
        slot.end(id, Script.image("A", tier))
        let end = wants ? " in transition" : ""
        #expect(slot.drain() == ["stop 1", "k: rest", "k: A" + end, "tell 1 A late" + end])
    }

    @Test mutating func whatIsAtHandWantsATransitionOnlyWhereItIsForced() {
        slot.load("a", atHand: Script.image("A", .disk))
        #expect(slot.drain() == ["k: A", "tell 1 A"])
        slot.load("a", .forceTransition, atHand: Script.image("A", .memory))
        #expect(slot.drain() == ["k: A in transition", "tell 2 A in transition"])
    }

    @Test mutating func theEndWaitsForTheTransitionWhereItIsToldSo() {
        let id = slot.load("a", .waitTransition)
        _ = slot.drain()
        slot.end(id, Script.image("A"))
        #expect(slot.drain() == ["stop 1", "k: rest", "k: A in transition"])
        slot.transitionEnded("other")
        #expect(slot.drain() == [])
        slot.transitionEnded()
        #expect(slot.drain() == ["tell 1 A late in transition"])
        slot.transitionEnded()
        #expect(slot.drain() == [])
        let hit = slot.load("b", .waitTransition)
        _ = slot.drain()
        slot.end(hit, Script.image("B", .memory))
        #expect(slot.drain() == ["stop 2", "k: rest", "k: B", "tell 2 B late"], "there is none")
    }

    @Test mutating func aTransitionThatIsCutOffNeverReportsItsEnd() {
        let first = slot.load("a", .waitTransition)
        slot.end(first, Script.image("A"))
        _ = slot.drain()
        slot.cancel()
        #expect(slot.drain() == ["tell 1 2002"])
        slot.transitionEnded()
        #expect(slot.drain() == [])
        let second = slot.load("a", .waitTransition)
        slot.end(second, Script.image("A"))
        _ = slot.drain()
        slot.load("b")
        #expect(slot.drain() == ["tell 2 2002", "k: p", "k: spin", "start 3"])
        slot.transitionEnded()
        #expect(slot.drain() == [])
    }

    @Test mutating func aRefreshedImageIsShownAgainOnlyWhereItChanged() {
        let same = slot.load("a", .delayPlaceholder)
        _ = slot.drain()
        slot.cached(same, Script.image("A", .memory))
        slot.end(same, Script.image("A", .memory))
        #expect(slot.drain() == ["k: partly A", "stop 1", "k: rest", "tell 1 A late"])
        let other = slot.load("a")
        _ = slot.drain()
        slot.cached(other, Script.image("A", .disk))
        slot.end(other, Script.image("B", refreshed: true))
        #expect(
            slot.drain() == [
                "k: partly A in transition", "stop 2", "k: rest", "k: B in transition",
                "tell 2 B late in transition",
            ])
        let failing = slot.load("a", .delayPlaceholder)
        slot.cached(failing, Script.image("A", .memory))
        _ = slot.drain()
        slot.fail(failing, .cancelled)
        #expect(slot.drain() == ["stop 3", "k: rest", "tell 3 2002 late"], "the old image stays")
    }

    @Test mutating func progressBeginsAtNothingAndReachesItsEnd() {
        let id = slot.load("a")
        _ = slot.drain()
        slot.advance(id, 0, of: 9)
        slot.advance(id, 0, of: 9)
        slot.advance(id, 3, of: 9)
        #expect(slot.drain() == ["k: 0/9", "k: 3/9"])
        #expect(slot.state()?.progress.fraction == 1.0 / 3)
        slot.end(id, Script.image("A"))
        #expect(slot.state()?.progress == SlotProgress(received: 9, expected: 9))
        let second = slot.load("b")
        #expect(slot.state()?.progress == SlotProgress.none)
        slot.advance(second, 7, of: 0)
        #expect(slot.state()?.progress.fraction == 0)
        slot.fail(second)
        #expect(slot.state()?.progress.received == 7, "it did not reach its end")
    }

    @Test mutating func keysAndLoadsAreLimited() {
        for number in 0..<SlotMachine<String>.keysMax {
            slot.load("a", key: "\(number)")
        }
        _ = slot.drain()
        slot.load("a", key: "one more")
        #expect(slot.drain() == ["tell 1025 \(ErrorCode.limitExceeded.rawValue)"])
        slot.cancel("7")
        slot.load("a", key: "one more")
        #expect(slot.drain().last == "start 1026")
        #expect(slot.state(of: "7") == nil, "what had ended made room")
        slot.cancelAll()
        for _ in 0..<SlotMachine<String>.loadsMax { slot.load("a", .avoidAutoCancelImage) }
        _ = slot.drain()
        slot.load("a", .avoidAutoCancelImage)
        #expect(slot.drain().count == 1)
    }
}
