import Model
import Testing

@testable import Coordinator

struct UploadTests {
    private var stack = Stack.staffed()

    @Test mutating func bytesThatCameAlongAreDecodedAndNeverFetched() {
        let token = stack.upload("x") {
            $0.steps = [.flip(horizontal: true, vertical: false)]
        }
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.gets.isEmpty)
        #expect(stack.counters.decodes == 1)
        // The result is stored; the uploaded bytes are not.
        #expect(stack.counters.stores == 1)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func theSameBytesWithTheSameStepsAreTheSameWork() {
        let (first, second) = (stack.client, stack.connect())
        let tokens = [
            stack.upload("x", by: first), stack.upload("x", by: second),
            stack.upload("y", by: second),
        ]
        stack.end(tokens)
        #expect(stack.counters.decodes == 2)
    }

    @Test mutating func whatTheFirstBroughtIsHeldForThoseWhoShareItsWork() {
        let (first, second) = (stack.client, stack.connect())
        let gone = stack.upload("x", by: first)
        stack.finish(stack.held(.query)[0], .miss)
        let stays = stack.upload("x", by: second)
        stack.send(.cancel(first, gone))
        // The decoder is lost: the work restarts with the remaining time.
        stack.replace(.decode)
        stack.end(stays)
    }

    @Test mutating func theBlockIsFreeWhereTheRequestIsRefused() {
        let token = stack.upload("x") { $0.timeoutMilliseconds = 0 }
        #expect(stack.error(token) == .invalidRequest)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func nobodyLoadsByTheNameOfAnUpload() {
        stack.upload("x")
        stack.finishAll()
        #expect(stack.refusal(of: ImageRequest(url: "upload:x")) == .unsupportedScheme)
    }

    @Test mutating func onlyTheCoordinatorIsItsOwnProducer() {
        stack = Stack()
        stack.send(
            .workerJoined(
                WorkerID(77), kind: .coordinator,
                incarnation: Incarnation(Identifier128(high: 1, low: 1)), credit: 1))
        #expect(stack.gone == [WorkerID(77)])
    }
}

/// Bytes that operators store in a cache.
struct PutTests {
    private var stack = Stack.staffed()
    private let key = "http://example.org/a.jpg"

    @Test mutating func bytesThatDecodeAreStoredUnderTheirKeyAndNowhereElse() throws {
        let token = stack.put(key, in: .disk)
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
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func whatIsNoImageIsNotStored() {
        let token = stack.put(key)
        stack.fail(.decode, .badImageData)
        #expect(stack.error(token) == .badImageData)
        #expect(stack.counters.stores == 0)
        // The failure doesn't block loads of a URL that equals the key.
        #expect(stack.scheduler.report["blacklisted"] == 0)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func whatNoTierTookIsAnError() {
        let token = stack.put(key)
        stack.finish(.decode)
        stack.finish(.store, .stored(StoreReport(delivered: nil, tiers: .none)))
        #expect(stack.error(token) == .arenaFull)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func theSameBytesGoUnderTwoKeys() {
        let tokens = [stack.put(key), stack.put("other")]
        stack.end()
        #expect(tokens.map { stack.image($0)?.key } == [key, "other"])
        #expect(stack.counters.stores == 2)
    }

    @Test mutating func aSerializerHoldsForThemAsWell() {
        let token = stack.put(key) {
            $0.context.serializer = .transcode(.png, quality: nil)
        }
        stack.run(.decode, .decode, .transform)
        #expect(stack.reply(token) == nil)
        stack.finish(.store)
        #expect(stack.image(token)?.storedTiers == .all)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func aPutThatMakesNoSenseIsRefused() {
        let tokens = [
            stack.put(""), stack.put("a\u{1F}b"),
            stack.put(key, in: .none),
            stack.put(key) { $0.infoOnly = false },
            stack.put(key) { $0.steps = [.flip(horizontal: true, vertical: true)] },
            stack.put(key) { $0.context.key = nil },
            stack.put(key) { $0.context.key = .filter("x") },
            stack.put(String(repeating: "k", count: MessageLimits.keyBytesMax + 1)),
        ]
        #expect(tokens.allSatisfy { stack.error($0) == .invalidRequest })
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func aPutThatIsSentAgainWhileItIsEncodedAnewIsAnsweredOnce() {
        let transcoded: (inout ImageRequest) -> Void = {
            $0.context.serializer = .transcode(.png, quality: nil)
        }
        let token = stack.put(key, transcoded)
        stack.run(.decode, .decode)
        stack.put(key, token: token, transcoded)
        #expect(stack.reply(token) == nil)
        stack.end()
        #expect(stack.replies[token]?.count == 1)
        #expect(stack.image(token)?.storedTiers == .all)
    }

    @Test mutating func aLaterPutIsWhatIsKept() {
        let first = stack.put(key) {
            $0.context.serializer = .transcode(.png, quality: nil)
        }
        stack.run(.decode, .decode)
        let second = stack.put(key)
        #expect(stack.error(first) == .arenaFull)
        stack.end()
        #expect(stack.image(second)?.storedTiers == .all)
    }

    @Test mutating func aLiveTokenIsAnsweredOnceThoughItsUploadIsRefused() {
        let token = stack.upload("x")
        let forged = BlockReference(segment: 9, offset: 0, length: 1, block: BlockID(77))
        let load = LoadRequest(token: token, image: ImageRequest(url: "upload:x"), uploadBytes: 1)
        stack.send(.loadUpload(stack.client, load, LoadTerms(), forged))
        stack.send(.put(stack.client, load, LoadTerms(), forged))
        #expect(stack.reply(token) == nil)
        stack.put("", token: token)
        #expect(stack.reply(token) == nil)
        stack.end(token)
        #expect(stack.replies[token]?.count == 1)
    }
}
