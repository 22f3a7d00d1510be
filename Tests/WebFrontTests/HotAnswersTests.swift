import Model
import ProcessRuntime
import Testing

@testable import Imagebus
@testable import WebFront

/// A kept response is repeated for an equal request: equal by method, target, the fields that were
/// examined to make it, and the second; and only while its voucher is valid. A head answered this
/// way is then recognized byte for byte. The memory for responses is bounded; beyond a limit all
/// are dropped.
@Suite struct HotAnswersTests {
    @Test func anAnswerIsGivenAgainByItsFieldsAndThenByItsHead() throws {
        let bench = try HotBench()
        #expect(try bench.ask(times: 4) == [.computed, .byFields, .byHead, .byHead])
        #expect(bench.front.reported?.source == "http://h/source")
        #expect(bench.front.reported?.cache == .memory)
        #expect(
            bench.uses.collect() == UsedVouchers(loads: 3, numbers: [1]), "each counts as a load")
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
        #expect(try bench.ask("/a", "Accept: c") == .computed)
        #expect(try bench.ask("/a", "Accept:") == .computed)
        #expect(try bench.ask("/a") == .computed, "absent differs from empty")
        #expect(try bench.ask("/a", "Accept: b") == .byHead)
    }

    @Test func anotherMethodOrTargetIsAnotherRequest() throws {
        let bench = try HotBench()
        _ = try bench.ask(times: 3)
        #expect(try bench.ask("/a", "Accept: b", method: "HEAD") == .computed)
        #expect(try bench.ask("/a?", "Accept: b") == .computed)
        #expect(try bench.ask("/A", "Accept: b") == .computed)
        #expect(try bench.ask("/a", "Accept: b") == .byHead)
        #expect(try bench.ask("/a", "Accept: b", method: "HEAD") == .byFields)
    }

    /// Its age, and whether its URL has expired, depend on the second.
    @Test func anAnswerIsOfOneSecond() throws {
        let bench = try HotBench()
        _ = try bench.ask(times: 3)
        bench.front.second = 2
        #expect(try bench.ask(times: 3) == [.computed, .byFields, .byHead])
    }

    /// No path bypasses the voucher: removed or rejected images aren't sent again.
    @Test(arguments: [1, 2, 3]) func anAnswerWhoseVoucherFellIsNotGiven(times: Int) throws {
        let bench = try HotBench()
        _ = try bench.ask(times: times)
        _ = bench.uses.collect()
        bench.file.set(1, to: 0)
        #expect(try bench.ask(times: 2) == [.computed, .computed])
        #expect(bench.uses.collect() == nil)
    }

    @Test func anAnswerIsNotGivenAfterTheEndOfItsClient() throws {
        let bench = try HotBench()
        _ = try bench.ask(times: 3)
        bench.uses.close()
        #expect(try bench.ask(times: 1) == [.computed])
    }

    @Test func otherSettingsForgetAll() throws {
        let bench = try HotBench()
        _ = try bench.ask(times: 3)
        bench.front.hot.forgetAll()
        #expect(try bench.ask(times: 3) == [.computed, .byFields, .byHead])
    }

    /// A head with identifiers is never recognized and doesn't take the place of another one, even
    /// though its peer isn't a trusted proxy here.
    @Test(arguments: ["X-Request-Id: 1", "x-request-id:", "traceparent: 1"])
    func aHeadWithIdentifiersIsNotKept(field: String) throws {
        let bench = try HotBench()
        _ = try bench.ask(times: 1)
        for _ in 1...5 { #expect(try bench.ask("/a", "Accept: b", field) == .byFields) }
        for value in 1...4 {
            #expect(try bench.ask("/a", "Accept: b", "X: \(value)") == .byFields)
            #expect(try bench.ask("/a", "Accept: b", "X: \(value)") == .byHead)
        }
    }

    // MARK: - Limits

    /// Four for different fields; a fifth evicts the oldest.
    @Test func aTargetHasFourAnswers() throws {
        let bench = try HotBench()
        for value in 1...5 { #expect(try bench.ask("/a", "Accept: \(value)") == .computed) }
        for value in 2...5 { #expect(try bench.ask("/a", "Accept: \(value)") == .byFields) }
        #expect(try bench.ask("/a", "Accept: 1") == .computed)
        #expect(try bench.ask("/a", "Accept: 2") == .computed, "the oldest was evicted")
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

    /// A head of 2,048 bytes is recognized, a longer one isn't.
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

    /// A body of 1 MiB is kept, a longer one isn't.
    @Test(arguments: [0, 1]) func aLargeBodyIsNotKept(more: Int) throws {
        let bench = try HotBench()
        bench.front.bodyBytes = 1 << 20 + more
        _ = try bench.ask("/a", method: "HEAD")
        #expect(try bench.ask("/a", method: "HEAD") == (more == 0 ? .byFields : .computed))
    }

    /// 64 responses that cost 1 MiB each reach the limit. Then neither a head fits, nor another
    /// response, which drops all others.
    @Test func allThatIsKeptHasALimit() throws {
        let bench = try HotBench()
        let overhead = 2_048 + "/10".utf8.count
        bench.front.bodyBytes = 1 << 20 - overhead
        for number in 10..<74 {
            #expect(try bench.ask("/\(number)", method: "HEAD") == .computed)
        }
        for _ in 0..<2 { #expect(try bench.ask("/10", method: "HEAD") == .byFields) }
        #expect(try bench.ask("/74", method: "HEAD") == .computed)
        #expect(try bench.ask("/74", method: "HEAD") == .byFields)
        #expect(try bench.ask("/10", method: "HEAD") == .computed)
    }

    /// A response that replaces an older one only costs its own size.
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

    /// 16,384 targets are kept; one more drops all others.
    @Test func targetsHaveALimit() throws {
        let bench = try HotBench()
        for number in 1..<16_384 { bench.front.keep("GET", "/\(number)", LookedAt()) }
        #expect(try bench.ask(times: 2) == [.computed, .byFields])
        bench.front.keep("GET", "/more", LookedAt())
        #expect(try bench.ask(times: 1) == [.computed])
        #expect(try bench.ask("/more") == .byFields)
    }
}
