import Model
import Testing

@testable import Coordinator

/// Serializers applied to originals and results (SEMANTICS §5.8).
struct TranscodeTests {
    private static let webp = Serializer.transcode(.webp, quality: 70)

    private func image(
        size: Int? = nil, _ options: RequestOptions = .fromLoaderOnly,
        _ serializer: Serializer = webp
    ) -> ImageRequest {
        ImageRequest.image("a", size: size, options).with { $0.context.serializer = serializer }
    }

    /// Stores assigned to workers, except deliveries.
    private func stored(_ stack: Stack) -> [StoreWork] {
        stack.held(.store).compactMap { held in
            guard case .store(let work) = held.job.work, !work.delivers else { return nil }
            return work
        }
    }

    /// The first transformation assigned to a worker.
    private func transformation(_ stack: Stack) throws -> TransformWork {
        let works = stack.held(.transform).compactMap { held -> TransformWork? in
            guard case .transform(let work) = held.job.work else { return nil }
            return work
        }
        return try #require(works.first, "no worker transforms")
    }

    @Test func anOriginalIsDeliveredAsItIsAndWrittenAsTheSerializerMadeIt() throws {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image(), by: client)
        stack.run(.fetch, .decode)
        let delivery = try #require(
            stack.held(.store).lazy.compactMap { held -> StoreWork? in
                guard case .store(let work) = held.job.work else { return nil }
                return work
            }.first)
        // It is published for its readers only, without a key.
        #expect(delivery.key == nil)
        #expect(delivery.tiers == .none)
        #expect(delivery.metadata.info.format == .jpeg)
        stack.finish(.store)
        #expect(stack.image(token)?.info.format == .jpeg)
        stack.finish(.decode)
        let encode = try transformation(stack)
        #expect(encode.steps.isEmpty)
        #expect(encode.output == OutputOptions(format: .webp, quality: 70))
        stack.finish(.transform)
        let work = try #require(stored(stack).first)
        #expect(work.key == "http://example.org/a.jpg")
        #expect(work.tiers == .all)
        #expect(work.waitsForDisk)
        #expect(work.metadata.info.format == .webp)
        #expect(work.metadata.etag == "\"1\"")
        #expect(work.metadata.contentType == nil)
        stack.finish(.store)
        #expect(stack.replies[token]?.count == 1)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func aResultIsEncodedASecondTimeOutOfItsOwnPixels() throws {
        var (stack, client) = Stack.staffed()
        let request = image(size: 5).with { $0.originalStoreCacheTypes = .none }
        let token = stack.load(request, by: client)
        stack.run(.fetch, .decode, .transform, .store)
        #expect(stack.image(token) != nil)
        #expect(stack.counters.decodes == 1)
        let encode = try transformation(stack)
        #expect(encode.steps == request.steps)
        #expect(encode.output.format == .webp)
        stack.finish(.transform)
        let work = try #require(stored(stack).first)
        #expect(work.key == stack.image(token)?.key)
        stack.finish(.store)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func whoWaitsForStoresWaitsForTheSerializerAsWell() {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image(size: 5, [.fromLoaderOnly, .waitStoreCache]), by: client)
        stack.run(.fetch, .decode)
        // The original is decoded again.
        stack.run(.transform)
        while let held = stack.held(.decode).first ?? stack.held(.transform).first {
            stack.finish(held)
            #expect(stack.reply(token) == nil)
        }
        for held in stack.held(.store).dropLast() { stack.finish(held) }
        #expect(stack.reply(token) == nil)
        stack.finish(.store)
        #expect(stack.image(token)?.storedTiers == .all)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func aSerializerThatFailsStoresNothingAndSaysSo() {
        for stage in [JobStage.decode, .transform, .store] {
            var (stack, client) = Stack.staffed()
            let token = stack.load(
                image(size: nil, [.fromLoaderOnly, .waitStoreCache]), by: client)
            stack.run(.fetch, .decode, .store)
            for earlier in [JobStage.decode, .transform].prefix(while: { $0 != stage }) {
                stack.finish(earlier)
            }
            #expect(stack.reply(token) == nil)
            stack.fail(stage, .stepFailed)
            #expect(stack.image(token)?.storedTiers == CacheTypes.none, "\(stage.name)")
            #expect(stack.isAtRest, "\(stack.testDescription)")
        }
    }

    @Test func theFirstWhoWantsTheDiskDecidesForThoseWhoShareItsWork() throws {
        var (stack, client) = Stack.staffed()
        stack.load(
            image().with {
                $0.storeCacheTypes = .memory
                $0.originalStoreCacheTypes = .none
            }, by: client)
        stack.load(image(size: nil, .fromLoaderOnly, .transcode(.png, quality: nil)), by: client)
        let plain = stack.load(
            image(size: nil, [.fromLoaderOnly, .waitStoreCache], .asIs), by: client)
        stack.run(.fetch, .decode, .store, .decode, .transform)
        #expect(stored(stack).map(\.metadata.info.format) == [.png])
        stack.finishAll()
        #expect(stack.image(plain)?.storedTiers == .all)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func whatIsAsItIsNeedsNoWork() {
        var (stack, client) = Stack.staffed()
        stack.load(image(size: 5, .fromLoaderOnly, .asIs), by: client)
        stack.load(
            image().with {
                $0.storeCacheTypes = .memory
                $0.originalStoreCacheTypes = .none
            }, by: client)
        stack.finishAll()
        #expect(stack.counters.transforms == 1)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func theOriginalStaysAtHandUntilTheDiskHasIt() {
        var (stack, client) = Stack.staffed()
        let request = image(size: 5).with { $0.storeCacheTypes = .none }
        stack.load(request, by: client)
        stack.run(.fetch, .decode, .transform, .store)
        // It is being encoded for the second time: the origin is not queried again.
        stack.load(image(size: 6), by: client)
        #expect(stack.held(.fetch).isEmpty)
        stack.finishAll()
        #expect(stack.counters.fetches == 1)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func aCancelEndsTheReplyAndNotTheStore() {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image(size: nil, [.fromLoaderOnly, .waitStoreCache]), by: client)
        stack.run(.fetch, .decode, .store)
        stack.send(.cancel(client, token))
        #expect(stack.error(token) == .cancelled)
        stack.run(.decode, .transform)
        #expect(stored(stack).count == 1)
        stack.finishAll()
        #expect(stack.replies[token]?.count == 1)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func whatIsRemovedMeanwhileIsNotWritten() {
        var (stack, client) = Stack.staffed()
        stack.load(image(), by: client)
        stack.run(.fetch, .decode, .store)
        stack.questions[1] = client
        stack.send(
            .cache(
                client,
                CacheCommand(number: 1, action: .remove, key: "http://example.org/a.jpg")))
        #expect(stack.held(.decode).isEmpty)
        stack.finishAll()
        #expect(stack.counters.transforms == 0)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func anAnimationIsNotMadeIntoOneImage() {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image(size: nil, [.fromLoaderOnly, .waitStoreCache]), by: client)
        stack.run(.fetch)
        let info = ImageInfo(format: .gif, size: PixelSize(width: 4, height: 4), pages: 3)
        stack.finish(.decode, .decoded(DecodedImage(info: info, frames: [])))
        stack.finish(.store)
        #expect(stack.image(token)?.storedTiers == .memory)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func thereIsALimitToWhatIsEncodedAnew() {
        var (stack, client) = Stack.staffed { $0.workGraph.transcodesMax = 0 }
        let token = stack.load(image(size: nil, [.fromLoaderOnly, .waitStoreCache]), by: client)
        stack.run(.fetch, .decode, .store)
        #expect(stack.image(token)?.storedTiers == .memory)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    // MARK: - Outdated entries

    /// A refresh of a cached image whose origin has other bytes, after their decode.
    private func changed(
        size: Int?, pages: Int = 1, _ change: (inout SchedulerLimits) -> Void = { _ in }
    ) -> (Stack, ClientID, Token) {
        var (stack, client) = Stack.staffed(change)
        let token = stack.load(image(size: size, .refreshCached), by: client)
        stack.finish(.query, stack.hit(stack.held(.query)[0], etag: "\"0\""))
        // The bytes differ from the cached ones in length.
        stack.finish(.fetch)
        stack.finish(.query, stack.hit(stack.held(.query)[0], length: 7, etag: "\"0\""))
        guard pages > 1 else {
            stack.finish(.decode)
            return (stack, client, token)
        }
        let info = ImageInfo(format: .gif, size: PixelSize(width: 4, height: 4), pages: pages)
        stack.finish(.decode, .decoded(DecodedImage(info: info, frames: [])))
        return (stack, client, token)
    }

    /// Runs to the end. Returns the removed keys and their tiers.
    private func removals(_ stack: inout Stack) -> [String: CacheTypes] {
        var removed: [String: CacheTypes] = [:]
        while let held = stack.allHeld.first {
            if case .entry(let work) = held.job.work, work.action == .remove {
                removed[work.key, default: .none].formUnion(work.tiers)
            }
            stack.finish(held)
        }
        return removed
    }

    private let key = "http://example.org/a.jpg"

    @Test func anOutdatedEntryGoesWhereNoSerializerMakesANewOne() {
        for (pages, most) in [(3, 64), (1, 0)] {
            var (stack, _, token) = changed(size: nil, pages: pages) {
                $0.workGraph.transcodesMax = most
            }
            // Memory has the unchanged bytes.
            #expect(removals(&stack) == [key: .disk])
            #expect(stack.image(token) != nil)
            #expect(stack.isAtRest, "\(stack.testDescription)")
        }
    }

    @Test func anOutdatedResultGoesWhereNoSerializerMakesANewOne() {
        var (stack, _, token) = changed(size: 5) { $0.workGraph.transcodesMax = 0 }
        stack.finish(.transform)
        let removed = removals(&stack)
        #expect(removed[stack.image(token)?.key ?? ""] == .disk)
        // The original is stored on disk only, and memory may have the older one.
        #expect(removed[key] == .all)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func anOutdatedEntryGoesWhereItsSerializerFails() {
        for stage in [JobStage.decode, .transform, .store] {
            var (stack, _, token) = changed(size: nil)
            while stack.reply(token)?.isRefreshing == true { stack.finish(stack.held(.store)[0]) }
            for earlier in [JobStage.decode, .transform].prefix(while: { $0 != stage }) {
                stack.finish(earlier)
            }
            stack.fail(stage, .stepFailed)
            #expect(removals(&stack) == [key: .all], "\(stage.name)")
            #expect(stack.isAtRest, "\(stack.testDescription)")
        }
    }

    /// After a second failure, the cache itself doesn't serve the entry.
    @Test func aRemovalThatFailsIsTriedOnceMore() {
        func tries(areFailing: Bool) -> Int {
            var (stack, _, token) = changed(size: nil, pages: 3)
            var count = 0
            while let held = stack.allHeld.first {
                var result = stack.success(held)
                if case .entry(let work) = held.job.work, work.action == .remove {
                    count += 1
                    if areFailing { result = .failed(ImageError(.internalError, "as told")) }
                }
                stack.finish(held, result)
            }
            #expect(stack.image(token) != nil)
            #expect(stack.isAtRest, "\(stack.testDescription)")
            return count
        }
        let (once, twice) = (tries(areFailing: false), tries(areFailing: true))
        #expect(once > 0 && twice == 2 * once)
    }

    @Test func whatASerializerReplacesIsNotRemoved() {
        var (stack, _, _) = changed(size: 5)
        #expect(removals(&stack).isEmpty)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func whatWasNotRefreshedStays() {
        var (stack, client) = Stack.staffed { $0.workGraph.transcodesMax = 0 }
        stack.load(image(size: 5), by: client)
        #expect(removals(&stack).isEmpty)
    }

    @Test func aQueryThatCameBeforeARemovalIsMadeAgain() {
        var (stack, client, _) = changed(size: 5) { $0.workGraph.transcodesMax = 0 }
        stack.finish(.transform)
        while let held = stack.held(.store).first { stack.finish(held) }
        let late = stack.load(image(size: 5, []), by: client)
        let removals = stack.held(.query).filter { held in
            if case .entry = held.job.work { true } else { false }
        }
        for held in removals { stack.finish(held) }
        for held in stack.held(.query).prefix(1) { stack.finish(held, stack.hit(held)) }
        #expect(stack.reply(late) == nil, "what it found may have been the older one")
        stack.finishAll()
        #expect(stack.image(late) != nil)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func repliesGoBeforeSerializers() {
        var stack = Stack()
        for kind in WorkerKind.workers where kind != .decode { stack.hire(kind, credit: 4) }
        stack.hire(.decode, credit: 1)
        let client = stack.connect()
        stack.load(image(), by: client)
        stack.load(.image("b", size: nil, .fromLoaderOnly), by: client)
        stack.load(.image("c", size: nil, .fromLoaderOnly), by: client)
        for fetch in stack.held(.fetch) { stack.finish(fetch) }
        var needs: [DecodeNeed] = []
        while let held = stack.held(.decode).first {
            if case .decode(let work) = held.job.work { needs.append(work.need) }
            stack.finish(held)
        }
        #expect(needs == [.header, .header, .header, .full])
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func whatKillsTheEncoderTwiceIsNotTriedAgain() {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image(size: nil, [.fromLoaderOnly, .waitStoreCache]), by: client)
        stack.run(.fetch, .decode, .store, .decode)
        for _ in 0..<2 {
            stack.crash(stack.held(.transform)[0])
            stack.hire(.transform)
        }
        #expect(stack.image(token)?.storedTiers == CacheTypes.none)
        // The image itself is not suspected.
        let again = stack.load(image(), by: client)
        stack.finishAll()
        #expect(stack.image(again) != nil)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func aLostWorkerCostsTheStoreAndNoReply() {
        for kind in [WorkerKind.download, .decode, .transform, .cache] {
            var (stack, client) = Stack.staffed()
            let token = stack.load(
                image(size: 5, [.waitStoreCache, .fromLoaderOnly]), by: client)
            stack.run(.fetch, .decode, .transform)
            stack.finish(stack.held(.decode)[0])
            stack.kill(stack.worker(kind))
            stack.hire(kind, credit: 4)
            stack.finishAll()
            #expect(stack.image(token) != nil, "\(kind.name)")
            #expect(stack.isAtRest, "\(stack.testDescription)")
        }
    }
}
