import Model
import Testing

@testable import Coordinator

struct StoreTests {
    private var stack = Stack.staffed()
    private let waiting = ImageRequest.loader("a", size: 5, .waitStoreCache)

    @Test mutating func waitStoreCacheWaitsForBothStoresAndSaysWhichTiersHaveIt() {
        let token = stack.load(waiting)
        let hasty = stack.load(.loader(size: 5))
        stack.run(.fetch, .decode, .transform)
        let stores = stack.held(.store)
        #expect(stack.stores.allSatisfy { $0.waitsForDisk })
        stack.finish(stores[1])
        #expect(stack.image(hasty) != nil)
        #expect(stack.image(hasty)?.storedTiers == nil)
        #expect(stack.reply(token) == nil)
        stack.finish(stores[0])
        #expect(stack.image(token)?.storedTiers == .all)
        #expect(stack.isAtRest)
    }

    @Test mutating func theOtherOrderWaitsAsWell() {
        let token = stack.load(waiting)
        stack.run(.fetch, .decode, .transform)
        stack.finishFirst(.store)
        #expect(stack.reply(token) == nil)
        stack.finish(.store)
        stack.expectRest([token])
    }

    @Test mutating func anOriginalThatCouldNotBeStoredKeepsNobodyWaiting() {
        let token = stack.load(waiting)
        stack.run(.fetch, .decode, .transform)
        let stores = stack.held(.store)
        stack.finish(stores[1])
        stack.fail(stores[0], .internalError)
        stack.expectRest([token])
    }

    @Test mutating func factsWaitForTheOriginalWhenAskedTo() {
        let token = stack.load(
            ImageRequest.loader("a", .waitStoreCache).with { $0.infoOnly = true })
        stack.run(.fetch, .decode)
        #expect(stack.reply(token) == nil)
        stack.finish(.store)
        #expect(stack.image(token)?.storedTiers == .all)
        #expect(stack.isAtRest)
    }

    @Test mutating func factsThatNothingIsStoredOfSaySo() {
        let token = stack.load(
            ImageRequest.loader("a", .waitStoreCache).with {
                $0.infoOnly = true
                $0.storeCacheTypes = .none
                $0.originalStoreCacheTypes = .none
            })
        stack.run(.fetch, .decode)
        #expect(stack.image(token)?.storedTiers == CacheTypes.none)
        #expect(stack.isAtRest)
    }

    @Test mutating func aCancelWhileTheReplyWaitsForAStoreIsHeard() {
        let token = stack.load(waiting)
        stack.run(.fetch, .decode, .transform)
        stack.finish(stack.held(.store)[1])
        stack.cancel(token)
        #expect(stack.error(token) == .cancelled)
        stack.finish(.store)
        #expect(stack.replies[token]?.count == 1)
        #expect(stack.isAtRest)
    }

    @Test mutating func theOriginalOfManyResultsIsStoredOnce() {
        stack = Stack.staffed(credit: 8)
        for size in 1...5 { stack.load(.loader(size: size)) }
        stack.load(.loader())
        stack.finish(.fetch)
        stack.finishEach(.decode)
        let originals = stack.stores.filter {
            $0.key == "http://example.org/a.jpg" && !$0.delivers
        }
        #expect(originals.count == 1)
        stack.end()
    }

    @Test mutating func aFullQueueOfTheCacheCostsTheOriginalAndNothingElse() {
        stack = Stack.staffed(credit: 1) { $0.dispatch.queuedJobsMax = 1 }
        let token = stack.load(.loader(size: 5))
        stack.finish(.fetch)
        // One query is held by the cache and one waits.
        for name in ["x", "y"] { stack.load(.image(name)) }
        stack.finish(.decode)
        #expect(stack.scheduler.dispatcher.waiting(in: .store).jobs == 0)
        stack.end(token)
    }

    @Test mutating func promotionFollowsTheStoreTiers() {
        stack.load(.image())
        stack.load(.image("b").with { $0.storeCacheTypes = .disk })
        #expect(stack.queries.map(\.promotes) == [true, false])
    }
}

/// Serializers applied to originals and results (SEMANTICS §5.8).
struct TranscodeTests {
    private var stack = Stack.staffed()
    private static let webp = Serializer.transcode(.webp, quality: 70)

    private func image(
        size: Int? = nil, _ options: RequestOptions = .fromLoaderOnly,
        _ serializer: Serializer = webp
    ) -> ImageRequest {
        ImageRequest.image("a", size: size, options).with { $0.context.serializer = serializer }
    }

    /// Stores assigned to workers, except deliveries.
    private func stored() -> [StoreWork] { stack.stores.filter { !$0.delivers } }

    /// The first transformation assigned to a worker.
    private func transformation() throws -> TransformWork {
        let works = stack.transforms
        return try #require(works.first, "no worker transforms")
    }

    @Test mutating func anOriginalIsDeliveredAsItIsAndWrittenAsTheSerializerMadeIt() throws {
        let token = stack.load(image())
        stack.run(.fetch, .decode)
        let delivery = try #require(stack.stores.first)
        // It is published for its readers only, without a key.
        #expect(delivery.key == nil)
        #expect(delivery.tiers == .none)
        #expect(delivery.metadata.info.format == .jpeg)
        stack.finish(.store)
        #expect(stack.image(token)?.info.format == .jpeg)
        stack.finish(.decode)
        let encode = try transformation()
        #expect(encode.steps.isEmpty)
        #expect(encode.output == OutputOptions(format: .webp, quality: 70))
        stack.finish(.transform)
        let work = try #require(stored().first)
        #expect(work.key == "http://example.org/a.jpg")
        #expect(work.tiers == .all)
        #expect(work.waitsForDisk)
        #expect(work.metadata.info.format == .webp)
        #expect(work.metadata.etag == "\"1\"")
        #expect(work.metadata.contentType == nil)
        stack.finish(.store)
        #expect(stack.replies[token]?.count == 1)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func aResultIsEncodedASecondTimeOutOfItsOwnPixels() throws {
        let request = image(size: 5).discardingOriginal
        let token = stack.load(request)
        stack.run(.fetch, .decode, .transform, .store)
        #expect(stack.image(token) != nil)
        #expect(stack.counters.decodes == 1)
        let encode = try transformation()
        #expect(encode.steps == request.steps)
        #expect(encode.output.format == .webp)
        stack.finish(.transform)
        let work = try #require(stored().first)
        #expect(work.key == stack.image(token)?.key)
        stack.finish(.store)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func whoWaitsForStoresWaitsForTheSerializerAsWell() {
        let token = stack.load(image(size: 5, [.fromLoaderOnly, .waitStoreCache]))
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
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func aSerializerThatFailsStoresNothingAndSaysSo() {
        for stage in [JobStage.decode, .transform, .store] {
            stack = Stack.staffed()
            let token = stack.load(image(size: nil, [.fromLoaderOnly, .waitStoreCache]))
            stack.run(.fetch, .decode, .store)
            for earlier in [JobStage.decode, .transform].prefix(while: { $0 != stage }) {
                stack.finish(earlier)
            }
            #expect(stack.reply(token) == nil)
            stack.fail(stage, .stepFailed)
            #expect(stack.image(token)?.storedTiers == CacheTypes.none, "\(stage.name)")
            #expect(stack.isAtRest, "\(stack)")
        }
    }

    @Test mutating func theFirstWhoWantsTheDiskDecidesForThoseWhoShareItsWork() throws {
        stack.load(
            image().with {
                $0.storeCacheTypes = .memory
                $0.originalStoreCacheTypes = .none
            })
        stack.load(image(size: nil, .fromLoaderOnly, .transcode(.png, quality: nil)))
        let plain = stack.load(image(size: nil, [.fromLoaderOnly, .waitStoreCache], .asIs))
        stack.run(.fetch, .decode, .store, .decode, .transform)
        #expect(stored().map(\.metadata.info.format) == [.png])
        stack.end()
        #expect(stack.image(plain)?.storedTiers == .all)
    }

    @Test mutating func whatIsAsItIsNeedsNoWork() {
        stack.load(image(size: 5, .fromLoaderOnly, .asIs))
        stack.load(
            image().with {
                $0.storeCacheTypes = .memory
                $0.originalStoreCacheTypes = .none
            })
        stack.end()
        #expect(stack.counters.transforms == 1)
    }

    @Test mutating func theOriginalStaysAtHandUntilTheDiskHasIt() {
        let request = image(size: 5).with { $0.storeCacheTypes = .none }
        stack.load(request)
        stack.run(.fetch, .decode, .transform, .store)
        // It is being encoded for the second time: the origin is not queried again.
        stack.load(image(size: 6))
        #expect(stack.held(.fetch).isEmpty)
        stack.end(fetches: 1)
    }

    @Test mutating func aCancelEndsTheReplyAndNotTheStore() {
        let token = stack.load(image(size: nil, [.fromLoaderOnly, .waitStoreCache]))
        stack.run(.fetch, .decode, .store)
        stack.cancel(token)
        #expect(stack.error(token) == .cancelled)
        stack.run(.decode, .transform)
        #expect(stored().count == 1)
        stack.end()
        #expect(stack.replies[token]?.count == 1)
    }

    @Test mutating func whatIsRemovedMeanwhileIsNotWritten() {
        stack.load(image())
        stack.run(.fetch, .decode, .store)
        stack.ask(CacheCommand(number: 1, action: .remove, key: "http://example.org/a.jpg"))
        #expect(stack.held(.decode).isEmpty)
        stack.end()
        #expect(stack.counters.transforms == 0)
    }

    @Test mutating func anAnimationIsNotMadeIntoOneImage() {
        let token = stack.load(image(size: nil, [.fromLoaderOnly, .waitStoreCache]))
        stack.run(.fetch)
        let info = ImageInfo(format: .gif, size: PixelSize(width: 4, height: 4), pages: 3)
        stack.finish(.decode, .decoded(DecodedImage(info: info, frames: [])))
        stack.finish(.store)
        #expect(stack.image(token)?.storedTiers == .memory)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func thereIsALimitToWhatIsEncodedAnew() {
        stack = Stack.staffed { $0.workGraph.transcodesMax = 0 }
        let token = stack.load(image(size: nil, [.fromLoaderOnly, .waitStoreCache]))
        stack.run(.fetch, .decode, .store)
        #expect(stack.image(token)?.storedTiers == .memory)
        #expect(stack.isAtRest, "\(stack)")
    }

    // MARK: - Outdated entries

    /// A refresh of a cached image whose origin has other bytes, after their decode.
    @discardableResult
    private mutating func changed(
        size: Int?, pages: Int = 1, _ change: (inout SchedulerLimits) -> Void = { _ in }
    ) -> Token {
        stack = Stack.staffed(change)
        let token = stack.load(image(size: size, .refreshCached))
        stack.finish(.query, stack.hit(stack.held(.query)[0], etag: "\"0\""))
        // The bytes differ from the cached ones in length.
        stack.finish(.fetch)
        stack.finish(.query, stack.hit(stack.held(.query)[0], length: 7, etag: "\"0\""))
        guard pages > 1 else {
            stack.finish(.decode)
            return token
        }
        let info = ImageInfo(format: .gif, size: PixelSize(width: 4, height: 4), pages: pages)
        stack.finish(.decode, .decoded(DecodedImage(info: info, frames: [])))
        return token
    }

    /// Runs to the end. Returns the removed keys and their tiers.
    private mutating func removals() -> [String: CacheTypes] {
        var removed: [String: CacheTypes] = [:]
        for work in stack.finishJobs().compactMap(\.entry) where work.action == .remove {
            removed[work.key, default: .none].formUnion(work.tiers)
        }
        return removed
    }

    private let key = "http://example.org/a.jpg"

    @Test mutating func anOutdatedEntryGoesWhereNoSerializerMakesANewOne() {
        for (pages, most) in [(3, 64), (1, 0)] {
            let token = changed(size: nil, pages: pages) {
                $0.workGraph.transcodesMax = most
            }
            // Memory has the unchanged bytes.
            #expect(removals() == [key: .disk])
            stack.expectRest([token])
        }
    }

    @Test mutating func anOutdatedResultGoesWhereNoSerializerMakesANewOne() {
        let token = changed(size: 5) { $0.workGraph.transcodesMax = 0 }
        stack.finish(.transform)
        let removed = removals()
        #expect(removed[stack.image(token)?.key ?? ""] == .disk)
        // The original is stored on disk only, and memory may have the older one.
        #expect(removed[key] == .all)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func anOutdatedEntryGoesWhereItsSerializerFails() {
        for stage in [JobStage.decode, .transform, .store] {
            let token = changed(size: nil)
            while stack.reply(token)?.isRefreshing == true { stack.finishFirst(.store) }
            for earlier in [JobStage.decode, .transform].prefix(while: { $0 != stage }) {
                stack.finish(earlier)
            }
            stack.fail(stage, .stepFailed)
            #expect(removals() == [key: .all], "\(stage.name)")
            #expect(stack.isAtRest, "\(stack)")
        }
    }

    /// After a second failure, the cache itself doesn't serve the entry.
    @Test mutating func aRemovalThatFailsIsTriedOnceMore() {
        func tries(areFailing: Bool) -> Int {
            let token = changed(size: nil, pages: 3)
            var count = 0
            while let held = stack.allHeld.first {
                var result = stack.success(held)
                if case .entry(let work) = held.job.work, work.action == .remove {
                    count += 1
                    if areFailing { result = .failed(ImageError(.internalError, "as told")) }
                }
                stack.finish(held, result)
            }
            stack.expectRest([token])
            return count
        }
        let (once, twice) = (tries(areFailing: false), tries(areFailing: true))
        #expect(once > 0 && twice == 2 * once)
    }

    @Test mutating func whatASerializerReplacesIsNotRemoved() {
        changed(size: 5)
        #expect(removals().isEmpty)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func whatWasNotRefreshedStays() {
        stack = Stack.staffed { $0.workGraph.transcodesMax = 0 }
        stack.load(image(size: 5))
        #expect(removals().isEmpty)
    }

    @Test mutating func aQueryThatCameBeforeARemovalIsMadeAgain() {
        changed(size: 5) { $0.workGraph.transcodesMax = 0 }
        stack.finish(.transform)
        while let held = stack.held(.store).first { stack.finish(held) }
        let late = stack.load(image(size: 5, []))
        let removals = stack.held(.query).filter { held in
            if case .entry = held.job.work { true } else { false }
        }
        for held in removals { stack.finish(held) }
        for held in stack.held(.query).prefix(1) { stack.finish(held, stack.hit(held)) }
        #expect(stack.reply(late) == nil, "what it found may have been the older one")
        stack.end(late)
    }

    @Test mutating func repliesGoBeforeSerializers() {
        stack = Stack()
        for kind in WorkerKind.workers where kind != .decode { stack.hire(kind, credit: 4) }
        stack.hire(.decode, credit: 1)
        stack.load(image())
        stack.load(.loader("b"))
        stack.load(.loader("c"))
        stack.finishEach(.fetch)
        var needs: [DecodeNeed] = []
        while let held = stack.held(.decode).first {
            if case .decode(let work) = held.job.work { needs.append(work.need) }
            stack.finish(held)
        }
        #expect(needs == [.header, .header, .header, .full])
        stack.end()
    }

    @Test mutating func whatKillsTheEncoderTwiceIsNotTriedAgain() {
        let token = stack.load(image(size: nil, [.fromLoaderOnly, .waitStoreCache]))
        stack.run(.fetch, .decode, .store, .decode)
        for _ in 0..<2 { stack.crash(.transform) }
        #expect(stack.image(token)?.storedTiers == CacheTypes.none)
        // The image itself is not suspected.
        let again = stack.load(image())
        stack.end(again)
    }

    @Test mutating func aLostWorkerCostsTheStoreAndNoReply() {
        for kind in [WorkerKind.download, .decode, .transform, .cache] {
            stack = Stack.staffed()
            let token = stack.load(image(size: 5, [.waitStoreCache, .fromLoaderOnly]))
            stack.run(.fetch, .decode, .transform)
            stack.finishFirst(.decode)
            stack.replace(kind, credit: 4)
            stack.end()
            #expect(stack.image(token) != nil, "\(kind.name)")
        }
    }
}
