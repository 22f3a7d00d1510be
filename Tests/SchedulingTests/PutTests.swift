import Model
import Testing

@testable import Coordinator

/// Bytes that operators store in a cache.
struct PutTests {
    private let key = "http://example.org/a.jpg"

    @Test func bytesThatDecodeAreStoredUnderTheirKeyAndNowhereElse() throws {
        var (stack, client) = Stack.staffed()
        let token = stack.put(key, by: client, in: .disk)
        let decode = try #require(stack.held(.decode).first?.job.work.decode)
        #expect(decode.need == .header)
        stack.finish(.decode)
        #expect(stack.reply(token) == nil)
        let work = try #require(stack.held(.store).first?.job.work.store)
        #expect(work.key == key)
        #expect(work.tiers == .disk)
        #expect(!work.delivers)
        #expect(work.waitsForDisk)
        stack.finish(.store)
        #expect(stack.image(token)?.storedTiers == .disk)
        #expect(stack.image(token)?.key == key)
        #expect(stack.counters.fetches == 0)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func whatIsNoImageIsNotStored() {
        var (stack, client) = Stack.staffed()
        let token = stack.put(key, by: client)
        stack.fail(.decode, .badImageData)
        #expect(stack.error(token) == .badImageData)
        #expect(stack.counters.stores == 0)
        // The failure doesn't block loads of a URL that equals the key.
        #expect(stack.scheduler.report["blacklisted"] == 0)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func whatNoTierTookIsAnError() {
        var (stack, client) = Stack.staffed()
        let token = stack.put(key, by: client)
        stack.finish(.decode)
        stack.finish(.store, .stored(StoreReport(delivered: nil, tiers: .none)))
        #expect(stack.error(token) == .arenaFull)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func theSameBytesGoUnderTwoKeys() {
        var (stack, client) = Stack.staffed()
        let tokens = [stack.put(key, by: client), stack.put("other", by: client)]
        stack.finishAll()
        #expect(tokens.map { stack.image($0)?.key } == [key, "other"])
        #expect(stack.counters.stores == 2)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func aSerializerHoldsForThemAsWell() {
        var (stack, client) = Stack.staffed()
        let token = stack.put(key, by: client) {
            $0.context.serializer = .transcode(.png, quality: nil)
        }
        stack.run(.decode, .decode, .transform)
        #expect(stack.reply(token) == nil)
        stack.finish(.store)
        #expect(stack.image(token)?.storedTiers == .all)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func aPutThatMakesNoSenseIsRefused() {
        var (stack, client) = Stack.staffed()
        let tokens = [
            stack.put("", by: client), stack.put("a\u{1F}b", by: client),
            stack.put(key, by: client, in: .none),
            stack.put(key, by: client) { $0.infoOnly = false },
            stack.put(key, by: client) { $0.steps = [.flip(horizontal: true, vertical: true)] },
            stack.put(key, by: client) { $0.context.key = nil },
            stack.put(key, by: client) { $0.context.key = .filter("x") },
            stack.put(String(repeating: "k", count: MessageLimits.keyBytesMax + 1), by: client),
        ]
        #expect(tokens.allSatisfy { stack.error($0) == .invalidRequest })
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func aPutThatIsSentAgainWhileItIsEncodedAnewIsAnsweredOnce() {
        var (stack, client) = Stack.staffed()
        let transcoded: (inout ImageRequest) -> Void = {
            $0.context.serializer = .transcode(.png, quality: nil)
        }
        let token = stack.put(key, by: client, transcoded)
        stack.run(.decode, .decode)
        stack.put(key, by: client, token: token, transcoded)
        #expect(stack.reply(token) == nil)
        stack.finishAll()
        #expect(stack.replies[token]?.count == 1)
        #expect(stack.image(token)?.storedTiers == .all)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func aLaterPutIsWhatIsKept() {
        var (stack, client) = Stack.staffed()
        let first = stack.put(key, by: client) {
            $0.context.serializer = .transcode(.png, quality: nil)
        }
        stack.run(.decode, .decode)
        let second = stack.put(key, by: client)
        #expect(stack.error(first) == .arenaFull)
        stack.finishAll()
        #expect(stack.image(second)?.storedTiers == .all)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func aLiveTokenIsAnsweredOnceThoughItsUploadIsRefused() {
        var (stack, client) = Stack.staffed()
        let token = stack.upload("x", by: client)
        let forged = BlockReference(segment: 9, offset: 0, length: 1, block: BlockID(77))
        let load = LoadRequest(
            token: token, image: ImageRequest(url: "upload:x"), uploadBytes: 1)
        stack.send(.loadUpload(client, load, LoadTerms(), forged))
        stack.send(.put(client, load, LoadTerms(), forged))
        #expect(stack.reply(token) == nil)
        stack.put("", by: client, token: token)
        #expect(stack.reply(token) == nil)
        stack.finishAll()
        #expect(stack.replies[token]?.count == 1)
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }
}

extension JobWork {
    /// The work, if it is a decode.
    fileprivate var decode: DecodeWork? { if case .decode(let work) = self { work } else { nil } }
    /// The work, if it is a store.
    fileprivate var store: StoreWork? { if case .store(let work) = self { work } else { nil } }
}
