import Model
import Testing
import Wire

@testable import Coordinator

@Suite struct HitMemoTests {
    private let first = Token(Identifier128(high: 1, low: 1))
    private let second = Token(Identifier128(high: 2, low: 2))

    private func load(_ token: Token) -> LoadRequest {
        LoadRequest(token: token, image: ImageRequest(url: "http://example.org/a.jpg"))
    }

    private func body(_ token: Token) throws -> [UInt8] {
        var encoder = MessageEncoder()
        _ = try encoder.encode(.load(load(token)))
        return encoder.packed()
    }

    /// A ticket from a scheduler with this image in memory.
    private func ticket() throws -> HitTicket {
        let scheduler = Scheduler { "\($0.count)" }
        var actions: [SchedulerAction] = []
        let now = Instant(nanoseconds: 1)
        let cache = WorkerID(1)
        let segment = SegmentAnnouncement(arena: .results, number: 0, size: 1 << 20)
        let reference = BlockReference(
            arena: .results, segment: 0, offset: 4_096, length: 100, block: BlockID(5))
        let info = ImageInfo(format: .jpeg, size: PixelSize(width: 1, height: 1))
        let notice = StoredNotice(
            key: "http://example.org/a.jpg", reference: reference, info: info,
            expiresInMilliseconds: nil)
        for event in [
            SchedulerEvent.workerJoined(
                cache, kind: .cache, incarnation: Incarnation(first.value), credit: 1),
            .segmentsOpened(cache, [segment]), .stored(cache, notice),
        ] { scheduler.handle(event, at: now, into: &actions) }
        let load = load(first)
        let (names, plan) = try scheduler.prepare(load, LoadTerms())
        return try #require(scheduler.ticket(for: load, LoadTerms(), plan, names))
    }

    private func found(_ memo: HitMemo, _ body: [UInt8]) -> (hit: HitMemo.Hit, token: Token)? {
        memo.find(body.span.bytes)
    }

    /// The memo after one load of these bytes.
    private func memo(of load: LoadRequest, _ body: [UInt8]) throws -> HitMemo {
        var memo = HitMemo()
        var encoder = MessageEncoder()
        memo.learn(load, body.span.bytes, try ticket(), &encoder)
        return memo
    }

    private func reply(_ token: Token, _ image: DeliveredImage) throws -> [UInt8] {
        var encoder = MessageEncoder()
        _ = try encoder.encode(.reply(Reply(token: token, outcome: .image(image))))
        return encoder.packed()
    }

    private func decoded(_ body: [UInt8]) throws -> ClientMessage {
        var decoder = MessageDecoder()
        return try decoder.clientMessage(.load, body.span.bytes)
    }

    @Test func theSameLoadOfAnotherTokenIsFound() throws {
        let (one, two) = (try body(first), try body(second))
        let memo = try memo(of: load(first), one)
        let (hit, token) = try #require(found(memo, two))
        let ticket = try ticket()
        let answer = try reply(second, ticket.image)
        #expect(token == second && hit.ticket == ticket)
        #expect(hit.reply == Array(answer.dropFirst(TokenedBody.restOffset)))
    }

    @Test func anotherLoadIsNotFound() throws {
        let memo = try memo(of: load(first), try body(first))
        var other = try body(second)
        other[other.count - 1] ^= 1
        #expect(found(memo, other) == nil)
        #expect(found(HitMemo(), try body(first)) == nil)
    }

    /// If a token is repeated, the last one counts; the remaining bytes then differ.
    @Test func onlyTheCanonicalFormIsLearnt() throws {
        let odd = try body(first) + body(second).prefix(TokenedBody.restOffset)
        #expect(try decoded(odd) == .load(load(second)))
        let memo = try memo(of: load(second), odd)
        #expect(found(memo, odd) == nil)
    }
}
