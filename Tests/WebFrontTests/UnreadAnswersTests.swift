import TestKit
import Testing

@testable import WebFront

/// The limits of unread responses, in total and per HTTP client.
@Suite struct UnreadAnswersTests {
    private final class Body {}

    private static func answer(
        _ body: Body, _ bytes: Int, of httpClient: UInt64
    ) -> UnreadAnswers.Answer {
        UnreadAnswers.Answer(body: ObjectIdentifier(body), bytes: bytes, httpClient: httpClient)
    }

    /// 100 of 100 bytes, after one rejection by the limit per client and two by the total limit.
    static func refusing() -> UnreadAnswers {
        var unread = UnreadAnswers(bytesMax: 100)
        let bodies = (0..<3).map { _ in Body() }
        _ = unread.begin(answer(bodies[0], 40, of: 1))
        _ = unread.begin(answer(bodies[1], 40, of: 1))
        _ = unread.begin(answer(bodies[1], 60, of: 2))
        _ = unread.begin(answer(bodies[2], 80, of: 3))
        _ = unread.begin(answer(bodies[2], 80, of: 4))
        return unread
    }

    @Test func allReadersOfABodyHaveItOnce() {
        var unread = UnreadAnswers(bytesMax: 100)
        let body = Body()
        let answers = (1...50).map { Self.answer(body, 60, of: $0) }
        for answer in answers {
            #expect(unread.begin(answer) == .admitted)
            #expect(unread.bytes == 60)
        }
        #expect(unread.begin(Self.answer(Body(), 60, of: 99)) == .allAreFull)
        for answer in answers.dropLast() { unread.end(answer) }
        #expect(unread.bytes == 60)
        unread.end(answers[49])
        #expect(unread.bytes == 0)
        #expect(unread.begin(Self.answer(Body(), 60, of: 99)) == .admitted)
    }

    /// Each response counts in full for its HTTP client, even if others have the same body.
    @Test func oneVisitorHasThreeQuartersAtMost() {
        var unread = UnreadAnswers(bytesMax: 100)
        let body = Body()
        for _ in 0..<7 { #expect(unread.begin(Self.answer(body, 10, of: 1)) == .admitted) }
        #expect(unread.begin(Self.answer(body, 10, of: 1)) == .httpClientIsFull)
        #expect(unread.begin(Self.answer(body, 10, of: 2)) == .admitted)
        unread.end(Self.answer(body, 10, of: 1))
        #expect(unread.begin(Self.answer(body, 10, of: 1)) == .admitted)
        #expect(unread.refusedOfHTTPClients == 1 && unread.refusedOfAll == 0)
    }

    /// The fewer bytes are left, the fewer a client may hold.
    @Test func oneMoreVisitorFindsRoom() {
        var unread = UnreadAnswers(bytesMax: 1_000)
        var (bodies, held) = ([Body](), [UInt64: Int]())
        for _ in 0..<1_000 {
            for httpClient in 1...10 as ClosedRange<UInt64> {
                let body = Body()
                guard unread.begin(Self.answer(body, 1, of: httpClient)) == .admitted else {
                    continue
                }
                bodies.append(body)
                held[httpClient, default: 0] += 1
            }
        }
        #expect(held.values.allSatisfy { (90...100).contains($0) }, "\(held)")
        #expect(unread.begin(Self.answer(Body(), 20, of: 11)) == .admitted)
    }

    /// A client without unread responses gets one that exceeds the total limit, if it is the only
    /// one.
    @Test func aLargeAnswerIsAdmittedAlone() {
        var unread = UnreadAnswers(bytesMax: 100)
        let (small, large) = (Body(), Body())
        #expect(unread.begin(Self.answer(small, 1, of: 1)) == .admitted)
        #expect(unread.begin(Self.answer(large, 500, of: 2)) == .allAreFull)
        unread.end(Self.answer(small, 1, of: 1))
        #expect(unread.begin(Self.answer(large, 500, of: 2)) == .admitted)
        #expect(unread.begin(Self.answer(small, 1, of: 1)) == .allAreFull)
    }

    /// After any sequence of operations nothing is left, and no limit is exceeded.
    @Test func nothingIsLeftBehind() {
        var random = SeededGenerator(seed: 48)
        var unread = UnreadAnswers(bytesMax: 1_000)
        let bodies = (0..<20).map { (Body(), 10 + 13 * $0) }
        var open: [UnreadAnswers.Answer] = []
        for _ in 0..<20_000 {
            if Bool.random(using: &random), let last = open.indices.randomElement(using: &random) {
                unread.end(open.remove(at: last))
            } else {
                let (body, bytes) = bodies[Int.random(in: 0..<20, using: &random)]
                let httpClient = UInt64.random(in: 1...5, using: &random)
                let answer = Self.answer(body, bytes, of: httpClient)
                if unread.begin(answer) == .admitted { open.append(answer) }
            }
            let sizes = Dictionary(open.map { ($0.body, $0.bytes) }) { $1 }
            #expect(unread.bytes == sizes.values.reduce(0, +) && unread.bytes <= 1_000)
        }
        for answer in open { unread.end(answer) }
        #expect(unread.bytes == 0)
        for number in 1...5 as ClosedRange<UInt64> {
            #expect(unread.begin(Self.answer(bodies[0].0, 750, of: number)) == .admitted)
            unread.end(Self.answer(bodies[0].0, 750, of: number))
        }
    }
}
