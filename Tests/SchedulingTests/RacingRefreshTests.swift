import Model
import Testing

@testable import Coordinator

/// Of two concurrent refreshes of one image, the transfer that started last is stored.
struct RacingRefreshTests {
    private static let url = "http://example.org/a.jpg"

    /// Two refreshes of one image, in two sizes that were made from different bytes; `older` was
    /// assigned first.
    private struct Race {
        var stack = Stack()
        let client: ClientID
        let first: Token
        let second: Token
        let older: Stack.Held
        let newer: Stack.Held

        init(_ change: (inout ImageRequest) -> Void = { _ in }) throws {
            stack.hireAll(credit: 8)
            client = stack.connect()
            first = stack.load(.image(size: 100, .refreshCached).with(change), by: client)
            stack.finish(.query, stack.hit(try #require(stack.held(.query).first), etag: "\"0\""))
            older = try #require(stack.held(.fetch).first)
            second = stack.load(.image(size: 7, .refreshCached).with(change), by: client)
            stack.finish(.query, stack.hit(try #require(stack.held(.query).first), etag: "\"1\""))
            let id = older.job.id
            newer = try #require(stack.held(.fetch).first { $0.job.id != id })
        }

        /// A transfer returns other bytes than the stored ones, and they are a valid image.
        mutating func arrive(_ held: Stack.Held, etag: String) throws {
            let reference = stack.block(of: held.worker)
            let body = FetchedBody(
                reference: reference, httpStatus: 200, etag: etag, effectiveURL: url)
            stack.finish(held, .fetched(body))
            let weighing = try #require(queries.first)
            stack.finish(weighing, stack.hit(weighing, length: 900, etag: "\"0\""))
            stack.finish(try #require(stack.held(.decode).last))
        }

        /// Entity tags of the pending stores of the original that are not canceled.
        var kept: [String?] {
            stores.filter { !$0.isCancelled }.compactMap { held in
                guard case .store(let work) = held.job.work, !work.delivers else { return nil }
                return work.metadata.etag
            }
        }

        /// Queries only; removals belong to the same stage.
        var queries: [Stack.Held] {
            stack.held(.query).filter { held in
                if case .query = held.job.work { true } else { false }
            }
        }

        var stores: [Stack.Held] { stack.held(.store) }

        func deliveries(etag: String) -> [StoreWork] {
            stores.filter { !$0.isCancelled }.compactMap { held in
                guard case .store(let work) = held.job.work, work.delivers,
                    work.metadata.etag == etag
                else { return nil }
                return work
            }
        }

        /// Completes everything. Returns all stored keys with their entity tags, and all removed
        /// ones.
        mutating func finishAll() -> (stored: [String: String?], removed: [String]) {
            var (stored, removed): ([String: String?], [String]) = ([:], [])
            while let held = stack.allHeld.first {
                let isCancelled = held.isCancelled
                switch held.job.work {
                case .store(let work) where !isCancelled:
                    if let key = work.key { stored[key] = .some(work.metadata.etag) }
                case .entry(let work) where !isCancelled: removed.append(work.key)
                default: break
                }
                stack.finish(
                    held,
                    isCancelled
                        ? .failed(ImageError(.cancelled, "stopped")) : stack.success(held))
            }
            return (stored, removed)
        }
    }

    @Test func anOlderTransferThatEndsLaterIsStoredNowhere() throws {
        var race = try Race()
        try race.arrive(race.newer, etag: "\"3\"")
        #expect(race.kept == ["\"3\""])
        try race.arrive(race.older, etag: "\"2\"")
        #expect(race.kept == ["\"3\""], "the newer original is still being stored")
        let ended = race.finishAll()
        #expect(ended.stored[Self.url] == "\"3\"")
        #expect(!ended.stored.values.contains("\"2\""))
        #expect(race.stack.image(race.first)?.cacheType == CacheTypes.none)
        #expect(race.stack.image(race.second)?.cacheType == CacheTypes.none)
        #expect(race.stack.isAtRest, "\(race.stack)")
    }

    /// Entries that an older refresh would have replaced are not served later.
    @Test func whatAnOlderTransferWouldHaveReplacedIsRemoved() throws {
        var race = try Race()
        try race.arrive(race.newer, etag: "\"3\"")
        let ended = race.finishAll()
        #expect(ended.removed.count == 1)
        let result = try #require(ended.removed.first)
        #expect(result.contains("100"), "\(result)")
        #expect(!ended.removed.contains(Self.url))
        #expect(race.stack.isAtRest, "\(race.stack)")
    }

    /// The older refresh had replaced the original, and its result is being stored.
    @Test func whatTheOlderTransferBroughtIsOutdatedByTheNewerOne() throws {
        var race = try Race()
        try race.arrive(race.older, etag: "\"2\"")
        race.stack.finish(.transform)
        #expect(race.kept == ["\"2\""])
        #expect(race.deliveries(etag: "\"2\"").map(\.tiers) == [.all])
        try race.arrive(race.newer, etag: "\"3\"")
        #expect(race.kept == ["\"3\""])
        #expect(race.deliveries(etag: "\"2\"").map(\.tiers) == [CacheTypes.none])
        let ended = race.finishAll()
        #expect(ended.stored[Self.url] == "\"3\"")
        #expect(!ended.stored.values.contains("\"2\""))
        #expect(race.stack.image(race.first) != nil && race.stack.image(race.second) != nil)
        #expect(race.stack.isAtRest, "\(race.stack)")
    }

    @Test func whatTheOlderTransferBroughtIsReencodedForNobody() throws {
        var race = try Race { $0.context.serializer = .transcode(.webp, quality: nil) }
        try race.arrive(race.older, etag: "\"2\"")
        try race.arrive(race.newer, etag: "\"3\"")
        let ended = race.finishAll()
        #expect(ended.stored[Self.url] == "\"3\"")
        #expect(!ended.stored.values.contains("\"2\""))
        #expect(race.stack.image(race.first) != nil && race.stack.image(race.second) != nil)
        #expect(race.stack.isAtRest, "\(race.stack)")
    }

    /// The older refresh was answered, and its serialized result is being written to disk.
    @Test func whatTheOlderTransferWasToReplaceOnTheDiskIsRemoved() throws {
        var race = try Race { $0.context.serializer = .transcode(.webp, quality: nil) }
        try race.arrive(race.older, etag: "\"2\"")
        deliver(&race)
        #expect(race.stack.image(race.first)?.cacheType == CacheTypes.none)
        try race.arrive(race.newer, etag: "\"3\"")
        let ended = race.finishAll()
        #expect(ended.removed.contains { $0.contains("100") })
        #expect(!ended.stored.values.contains("\"2\""))
        #expect(race.stack.isAtRest, "\(race.stack)")
    }

    /// Makes and delivers the only result, and nothing else.
    private func deliver(_ race: inout Race) {
        race.stack.finish(.transform)
        for held in race.stores {
            guard case .store(let work) = held.job.work, work.delivers else { continue }
            race.stack.finish(held)
        }
    }

    /// An older transfer known to be outdated is not joined.
    @Test func whoRefreshesAfterwardsAsksAnew() throws {
        var race = try Race()
        try race.arrive(race.newer, etag: "\"3\"")
        race.stack.load(.image(size: 5, .refreshCached), by: race.client)
        let query = try #require(race.queries.last)
        race.stack.finish(query, race.stack.hit(query, etag: "\"0\""))
        #expect(race.stack.held(.fetch).count == 2)
        _ = race.finishAll()
        #expect(race.stack.isAtRest, "\(race.stack)")
    }

    /// It queries the origin again after the newer one was answered, so its answer is now the
    /// newest.
    @Test func aTransferThatBeginsAgainIsTheNewest() throws {
        var race = try Race()
        race.stack.finish(race.older, .failed(ImageError(.timedOut, "as told")))
        try race.arrive(race.newer, etag: "\"3\"")
        race.stack.pass(milliseconds: 5_000)
        try race.arrive(try #require(race.stack.held(.fetch).first), etag: "\"4\"")
        #expect(race.kept == ["\"4\""])
        let ended = race.finishAll()
        #expect(ended.stored[Self.url] == "\"4\"")
        #expect(race.stack.image(race.first) != nil && race.stack.image(race.second) != nil)
        #expect(race.stack.isAtRest, "\(race.stack)")
    }

    /// The image changes with each response: no refresh restarts another.
    @Test func refreshesDoNotRestartEachOther() throws {
        var race = try Race()
        try race.arrive(race.newer, etag: "\"3\"")
        try race.arrive(race.older, etag: "\"2\"")
        _ = race.finishAll()
        #expect(race.stack.gets[Self.url] == 2)
    }

    // MARK: - Shared overlays

    /// The first refresh has its response, and is comparing, decoding, transforming or storing it.
    @Test(arguments: 0..<4)
    func aLaterRefreshOfTheSameMarkAsksAnew(point: Int) throws {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let first = stack.load(.image(size: 100, .refreshCached), by: client)
        stack.finish(.query, stack.hit(try #require(stack.held(.query).first), etag: "\"1\""))
        let fetch = try #require(stack.held(.fetch).first)
        let body = FetchedBody(
            reference: stack.block(of: fetch.worker), httpStatus: 200, etag: "\"2\"",
            effectiveURL: Self.url)
        stack.finish(fetch, .fetched(body))
        for stage in [JobStage.query, .decode, .transform].prefix(point) { stack.finish(stage) }
        let busy = stack.allHeld.map(\.job.id)
        let second = stack.load(.image(size: 100, .refreshCached), by: client)
        let query = try #require(stack.held(.query).first { !busy.contains($0.job.id) })
        stack.finish(query, stack.hit(query, etag: "\"1\""))
        #expect(stack.held(.fetch).count == 1, "the origin is asked again")
        stack.finishAll()
        #expect(stack.gets[Self.url] == 2)
        #expect(stack.image(first) != nil && stack.image(second) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }
}
