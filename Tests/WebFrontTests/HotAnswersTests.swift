import Messages
import SharedArena
import Testing

@testable import Imagebus
@testable import WebFront

/// An answer that was kept is given again to a request that says the same: by method, target, the
/// fields that were looked at while it was made, and the second; and only while its voucher stands.
/// A head that was answered so is known byte for byte from then on. What is kept is bounded; beyond
/// a limit all is forgotten.
@Suite struct HotAnswersTests {
    @Test func anAnswerIsGivenAgainByItsFieldsAndThenByItsHead() throws {
        let bench = try HotBench()
        #expect(try bench.ask(times: 4) == [.made, .byFields, .byHead, .byHead])
        #expect(bench.front.said?.source == "http://h/source")
        #expect(bench.front.said?.cache == .memory)
        #expect(bench.uses.take() == UsedVouchers(loads: 3, numbers: [1]), "each is a load")
    }

    @Test func aFieldThatWasNotLookedAtMakesNoDifference() throws {
        let bench = try HotBench()
        _ = try bench.ask(times: 3)
        #expect(try bench.ask("/a", "Accept: b", "X: 1") == .byFields)
        #expect(try bench.ask("/a", "Accept: b", "X: 1") == .byHead)
    }

    @Test func anotherValueOfAFieldThatWasLookedAtIsAnotherRequest() throws {
        let bench = try HotBench()
        _ = try bench.ask(times: 3)
        #expect(try bench.ask("/a", "Accept: c") == .made)
        #expect(try bench.ask("/a", "Accept:") == .made)
        #expect(try bench.ask("/a") == .made, "none is not an empty one")
        #expect(try bench.ask("/a", "Accept: b") == .byHead)
    }

    @Test func anotherMethodOrTargetIsAnotherRequest() throws {
        let bench = try HotBench()
        _ = try bench.ask(times: 3)
        #expect(try bench.ask("/a", "Accept: b", method: "HEAD") == .made)
        #expect(try bench.ask("/a?", "Accept: b") == .made)
        #expect(try bench.ask("/A", "Accept: b") == .made)
        #expect(try bench.ask("/a", "Accept: b") == .byHead)
        #expect(try bench.ask("/a", "Accept: b", method: "HEAD") == .byFields)
    }

    /// What it says of its age, and whether its URL has expired, depend on the second.
    @Test func anAnswerIsOfOneSecond() throws {
        let bench = try HotBench()
        _ = try bench.ask(times: 3)
        bench.front.second = 2
        #expect(try bench.ask(times: 3) == [.made, .byFields, .byHead])
    }

    /// Neither way leads past the voucher: what was removed, or refused since, is not given again.
    @Test(arguments: [1, 2, 3]) func anAnswerWhoseVoucherFellIsNotGiven(times: Int) throws {
        let bench = try HotBench()
        _ = try bench.ask(times: times)
        _ = bench.uses.take()
        bench.file.set(1, to: 0)
        #expect(try bench.ask(times: 2) == [.made, .made])
        #expect(bench.uses.take() == nil)
    }

    @Test func anAnswerIsNotGivenAfterTheEndOfItsClient() throws {
        let bench = try HotBench()
        _ = try bench.ask(times: 3)
        bench.uses.close()
        #expect(try bench.ask(times: 1) == [.made])
    }

    @Test func otherSettingsForgetAll() throws {
        let bench = try HotBench()
        _ = try bench.ask(times: 3)
        bench.front.hot.forgetAll()
        #expect(try bench.ask(times: 3) == [.made, .byFields, .byHead])
    }

    // MARK: - Limits

    /// Four for different fields; a fifth drives the oldest out.
    @Test func aTargetHasFourAnswers() throws {
        let bench = try HotBench()
        for value in 1...5 { #expect(try bench.ask("/a", "Accept: \(value)") == .made) }
        for value in 2...5 { #expect(try bench.ask("/a", "Accept: \(value)") == .byFields) }
        #expect(try bench.ask("/a", "Accept: 1") == .made)
        #expect(try bench.ask("/a", "Accept: 2") == .made, "the oldest one made room")
    }

    @Test func anAnswerKnowsFourHeads() throws {
        let bench = try HotBench()
        _ = try bench.ask(times: 1)
        for value in 1...5 {
            #expect(try bench.ask("/a", "Accept: b", "X: \(value)") == .byFields)
        }
        for value in 1...4 {
            #expect(try bench.ask("/a", "Accept: b", "X: \(value)") == .byHead)
        }
        #expect(try bench.ask("/a", "Accept: b", "X: 5") == .byFields)
    }

    /// A head of 2,048 bytes is known again, and a longer one is not.
    @Test func aLongHeadIsNotKept() throws {
        let bench = try HotBench()
        _ = try bench.ask("/a", "Accept: b", "X: p")
        let left = 2_048 - bench.front.headBytes
        let longest = "X: p" + String(repeating: "p", count: left)
        #expect(try bench.ask("/a", "Accept: b", longest) == .byFields)
        #expect(bench.front.headBytes == 2_048)
        #expect(try bench.ask("/a", "Accept: b", longest) == .byHead)
        for _ in 0..<2 {
            #expect(try bench.ask("/a", "Accept: b", longest + "p") == .byFields)
        }
    }

    /// A body of 1 MiB is kept, and a longer one is not.
    @Test(arguments: [0, 1]) func aLargeBodyIsNotKept(more: Int) throws {
        let bench = try HotBench()
        bench.front.bodyBytes = 1 << 20 + more
        _ = try bench.ask("/a", method: "HEAD")
        #expect(try bench.ask("/a", method: "HEAD") == (more == 0 ? .byFields : .made))
    }

    /// 64 answers that cost 1 MiB each are as much as is kept. There is room neither for a head
    /// then nor for one more answer, which forgets all others.
    @Test func allThatIsKeptHasALimit() throws {
        let bench = try HotBench()
        let overhead = 2_048 + "/10".utf8.count
        bench.front.bodyBytes = 1 << 20 - overhead
        for number in 10..<74 {
            #expect(try bench.ask("/\(number)", method: "HEAD") == .made)
        }
        for _ in 0..<2 { #expect(try bench.ask("/10", method: "HEAD") == .byFields) }
        #expect(try bench.ask("/74", method: "HEAD") == .made)
        #expect(try bench.ask("/74", method: "HEAD") == .byFields)
        #expect(try bench.ask("/10", method: "HEAD") == .made)
    }

    /// An answer that takes the place of an older one costs what it costs itself.
    @Test func whatIsReplacedCostsNothing() throws {
        let bench = try HotBench()
        _ = try bench.ask(times: 3, "/b")
        bench.front.bodyBytes = 1 << 20
        for _ in 0..<100 { bench.front.keep("GET", "/a", LookedAt()) }
        for second in 2...100 as ClosedRange<Int64> {
            bench.front.second = second
            bench.front.keep("GET", "/a", LookedAt())
        }
        bench.front.second = 1
        #expect(try bench.ask(times: 1, "/b") == [.byHead])
    }

    /// 16,384 targets are kept; one more forgets all others.
    @Test func targetsHaveALimit() throws {
        let bench = try HotBench()
        for number in 1..<16_384 { bench.front.keep("GET", "/\(number)", LookedAt()) }
        #expect(try bench.ask(times: 2) == [.made, .byFields])
        bench.front.keep("GET", "/more", LookedAt())
        #expect(try bench.ask(times: 1) == [.made])
        #expect(try bench.ask("/more") == .byFields)
    }
}
