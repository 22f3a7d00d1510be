import Model
import Testing
import Wire

@testable import Imagebus

@Suite struct LoadMemoTests {
    private let load = LoadRequest(token: token(1), image: ImageRequest(url: "http://a/b"))

    /// Whether the encoder was used is visible from its content afterwards.
    private struct Encoder: ~Copyable {
        var memo = LoadMemo()
        var encoder = MessageEncoder()

        mutating func rest(of load: LoadRequest) throws -> (rest: [UInt8], isEncoded: Bool) {
            _ = try encoder.encode(.status)
            let rest = try memo.rest(of: PendingLoad(load), &encoder)
            return (rest, !encoder.packed().isEmpty)
        }
    }

    private func encoded(_ load: LoadRequest) throws -> [UInt8] {
        var encoder = MessageEncoder()
        _ = try encoder.encode(.load(load))
        return Array(encoder.packed().dropFirst(TokenedBody.restOffset))
    }

    @Test func theSameLoadOfAnotherTokenIsEncodedOnce() throws {
        var encoder = Encoder()
        let first = try encoder.rest(of: load)
        let second = try encoder.rest(of: LoadRequest(token: token(2), image: load.image))
        #expect(first.isEncoded && !second.isEncoded)
        #expect(try first.rest == encoded(load) && second.rest == encoded(load))
    }

    @Test func aLoadThatSaysSomethingElseIsEncodedAsItSays() throws {
        var encoder = Encoder()
        _ = try encoder.rest(of: load)
        var image = load.image
        image.timeoutMilliseconds -= 1
        let others = [
            LoadRequest(token: token(1), image: image),
            LoadRequest(token: token(1), group: GroupID(token(1).value), image: load.image),
            LoadRequest(token: token(1), image: load.image, wantsProgress: true),
            LoadRequest(token: token(1), image: load.image, staleRetries: 1),
            LoadRequest(token: token(1), image: load.image, detach: true),
            LoadRequest(token: token(1), image: load.image, wantsInfo: true),
            LoadRequest(token: token(1), image: load.image, wantsChunks: true),
            LoadRequest(token: token(1), image: load.image, uploadBytes: 1),
            LoadRequest(token: token(1), image: load.image, slot: "a"),
            LoadRequest(token: token(1), image: load.image, httpClient: 1),
            LoadRequest(
                token: token(1), image: load.image,
                logContext: LogContext(requestID: RequestID(text: "a"))),
        ]
        for other in others {
            let found = try encoder.rest(of: other)
            #expect(try found.isEncoded && found.rest == encoded(other))
        }
    }

    @Test func aLoadThatNamesItsRequestIsNotKept() throws {
        var encoder = Encoder()
        let named = LoadRequest(
            token: token(1), image: load.image,
            logContext: LogContext(requestID: RequestID(text: "a")))
        for _ in 0..<2 {
            let found = try encoder.rest(of: named)
            #expect(try found.isEncoded && found.rest == encoded(named))
        }
        #expect(try encoder.rest(of: load).rest == encoded(load))
    }

    /// The encoded timeout is the time that is left.
    @Test func aLoadThatWaitedIsEncodedWithTheTimeThatIsLeft() throws {
        var encoder = MessageEncoder()
        var memo = LoadMemo()
        let waiting = PendingLoad(load)
        let first = try memo.rest(of: waiting, &encoder)
        waiting.millisecondsLeft -= 100
        var later = load
        later.image.timeoutMilliseconds -= 100
        let second = try memo.rest(of: waiting, &encoder)
        #expect(try second == encoded(later) && second != first)
    }
}

@Suite struct ReplyMemoTests {
    private func reply(_ token: Token, _ cacheType: CacheTypes, queue: Double = 0) -> Reply {
        let image = DeliveredImage(
            reference: nil,
            info: ImageInfo(format: .png, size: PixelSize(width: 1, height: 1)),
            cacheType: cacheType, key: "k")
        var timings = StageTimings()
        timings.queue = queue
        return Reply(token: token, outcome: .image(image), timings: timings)
    }

    private func body(_ reply: Reply) throws -> [UInt8] {
        var encoder = MessageEncoder()
        _ = try encoder.encode(.reply(reply))
        return encoder.packed()
    }

    /// The memo's answer to the second reply after it has seen the first, for a load that is
    /// remembered or not, and with or without an earlier reply of that kind.
    private func known(
        _ first: Reply, _ second: [UInt8], isRemembered: Bool = true, again: Bool = false
    ) throws -> ImageAccount? {
        let load = PendingLoad(
            LoadRequest(token: token(1), image: ImageRequest(url: "http://a/b")))
        if isRemembered { load.remembered = RememberedLoad(load, rest: []) }
        var memo = ReplyMemo()
        var encoder = MessageEncoder()
        let seen = try body(first)
        memo.keep(first, seen.span.bytes, &encoder)
        if again, let parts = TokenedBody(seen.span.bytes) {
            #expect(memo.answer(parts.rest, to: load) != nil)
            #expect(load.remembered?.answer?.isOf(parts.rest) == true)
        }
        guard let parts = TokenedBody(second.span.bytes) else { return nil }
        return memo.answer(parts.rest, to: load)
    }

    @Test func theSameReplyForAnotherTokenIsKnown() throws {
        let second = reply(token(2), .memory)
        let seen = reply(token(1), .memory)
        for isRemembered in [false, true] {
            let known = try known(seen, body(second), isRemembered: isRemembered)
            #expect(says(known, what: second))
        }
        let known = try known(seen, body(second), again: true)
        #expect(says(known, what: second))
    }

    private func says(_ answer: ImageAccount?, what reply: Reply) -> Bool {
        answer.map { Reply.Outcome.image($0.image) } == reply.outcome
    }

    @Test func onlyHitsAreKept() throws {
        for first in [reply(token(1), .none), reply(token(1), .memory, queue: 1)] {
            #expect(try known(first, body(first)) == nil)
        }
    }

    @Test func aReplyOfOtherBytesIsNot() throws {
        let second = try body(reply(token(2), .disk))
        #expect(try known(reply(token(1), .memory), second) == nil)
        #expect(try known(reply(token(1), .memory), second, again: true) == nil)
    }
}
