import ImageModel
import Messages
import Testing
import Wire

@testable import Imagebus

private func token(_ number: UInt64) -> Token { Token(Identifier128(high: 1, low: number)) }

@Suite struct LoadMemoTests {
    private let load = LoadRequest(token: token(1), image: ImageRequest(url: "http://a/b"))

    private func memo() throws -> (LoadMemo, [UInt8]) {
        var memo = LoadMemo()
        let body = try encoded(load)
        memo.keep(load, body)
        return (memo, body)
    }

    private func encoded(_ load: LoadRequest) throws -> [UInt8] {
        var encoder = MessageEncoder()
        _ = try encoder.encode(.load(load))
        return encoder.packed()
    }

    @Test func theSameLoadOfAnotherTokenIsKnown() throws {
        let (memo, body) = try memo()
        let other = LoadRequest(token: token(2), image: load.image)
        #expect(memo.rest(of: other) == Array(body.dropFirst(TokenedBody.restOffset)))
        #expect(try encoded(other).dropFirst(TokenedBody.restOffset) == body.dropFirst(18))
    }

    @Test func aLoadThatSaysSomethingElseIsNot() throws {
        let (memo, _) = try memo()
        var image = load.image
        image.timeoutMilliseconds -= 1
        let others = [
            LoadRequest(token: token(1), image: image),
            LoadRequest(token: token(1), group: GroupID(token(1).value), image: load.image),
            LoadRequest(token: token(1), image: load.image, wantsProgress: true),
            LoadRequest(token: token(1), image: load.image, staleRetries: 1),
            LoadRequest(token: token(1), image: load.image, detach: true),
        ]
        for other in others { #expect(memo.rest(of: other) == nil) }
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

    /// What a memo that has seen the first makes of the second.
    private func known(_ first: Reply, _ second: [UInt8]) throws -> Reply? {
        var memo = ReplyMemo()
        var encoder = MessageEncoder()
        let seen = try body(first)
        memo.keep(first, seen.span.bytes, &encoder)
        return memo.reply(second.span.bytes)
    }

    @Test func theSameReplyForAnotherTokenIsKnown() throws {
        let second = reply(token(2), .memory)
        #expect(try known(reply(token(1), .memory), body(second)) == second)
    }

    @Test func onlyHitsAreKept() throws {
        for first in [reply(token(1), .none), reply(token(1), .memory, queue: 1)] {
            #expect(try known(first, body(first)) == nil)
        }
    }

    @Test func aReplyOfOtherBytesIsNot() throws {
        let second = try body(reply(token(2), .disk))
        #expect(try known(reply(token(1), .memory), second) == nil)
    }
}
