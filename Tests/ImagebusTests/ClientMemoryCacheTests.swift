import Linux
import Model
import ProcessRuntime
import TestKit
import Testing

@testable import Imagebus

/// Images that a client caches in its process, tested with a voucher file and a clock.
@Suite struct ClientMemoryCacheTests {
    private let request = ImageRequest(url: "http://example.org/a.jpg")

    private func response(
        _ key: String = "a", bytes: Int = 100, voucher: AnswerVoucher? = nil
    ) -> ImageResponse {
        .image(key, .none, ImageBytes([UInt8](repeating: 7, count: bytes)), voucher: voucher)
    }

    private func cache(_ bytes: Int = 1 << 20, stale: Int = 0) -> ClientMemoryCache {
        ClientMemoryCache(MemoryCacheLimits(bytesMax: bytes, staleMilliseconds: stale))
    }

    private func end(_ cache: ClientMemoryCache, _ request: ImageRequest, _ response: ImageResponse)
    {
        cache.keeper(of: request)?(response)
    }

    @Test func anEntryIsGivenOnlyWhileItsVoucherStands() throws {
        let session = try VoucherSession()
        let answers = session.answers
        session.file.set(1, to: 1)
        let voucher = answers.learn(request, response().account, Voucher(number: 1), in: nil)
        let cache = cache()
        cache.keep(response(voucher: voucher), to: request)
        let first = cache.response(to: request)
        #expect(first?.bytes?.array == [UInt8](repeating: 7, count: 100))
        #expect(first?.bytes === cache.response(to: request)?.bytes, "it is not copied")
        #expect(answers.uses.collect() == UsedVouchers(loads: 2, numbers: [1]), "as loads")
        session.file.set(1, to: 0)
        #expect(cache.response(to: request) == nil)
        session.file.set(1, to: 1)
        #expect(cache.response(to: request) == nil, "it is gone")
        #expect(cache.statistics.withdrawals == 1 && cache.statistics.entries == 0)
        #expect(cache.statistics.bytes == 0 && cache.statistics.hits == 2)
        cache.keep(response(voucher: voucher), to: request)
        answers.close()
        #expect(cache.response(to: request) == nil, "the client has ended")
    }

    @Test func withoutAVoucherNothingIsGivenUnlessItMayBeStale() {
        let strict = cache()
        strict.keep(response(), to: request)
        #expect(strict.keeper(of: request) == nil)
        #expect(strict.response(to: request) == nil && strict.statistics.entries == 0)
        let stale = cache(stale: 3_600_000)
        end(stale, request, response())
        #expect(stale.response(to: request)?.cacheType == .memory)
        #expect(stale.statistics.hits == 1 && stale.statistics.stores == 1)
        var other = request
        other.thumbnail = Thumbnail(box: PixelSize(width: 9, height: 9))
        #expect(stale.response(to: other) == nil)
        #expect(stale.statistics.misses == 1)
    }

    @Test func whatIsOverItsTimeIsNotGiven() async {
        let cache = cache(stale: 1)
        end(cache, request, response())
        let kept = Instant.now()
        while Instant.now() < kept.adding(milliseconds: 2) {
            try? await Task.sleep(for: .milliseconds(1))
        }
        #expect(cache.response(to: request) == nil)
        #expect(cache.statistics.withdrawals == 1 && cache.statistics.bytes == 0)
    }

    @Test(arguments: [
        RequestOptions.refreshCached, .respectCacheControl, .fromLoaderOnly, .waitStoreCache,
        .progressiveLoad,
    ])
    func whatOnlyTheStackKnowsIsNotStale(options: RequestOptions) {
        let cache = cache(stale: 3_600_000)
        var asking = request
        asking.options = options
        #expect(cache.keeper(of: asking) == nil)
        asking.options = []
        asking.queryCacheTypes = .disk
        #expect(cache.keeper(of: asking) == nil)
        asking.queryCacheTypes = .all
        asking.storeCacheTypes = .disk
        #expect(cache.keeper(of: asking) == nil)
    }

    @Test func onlyWholeImagesAreKept() {
        let cache = cache(stale: 3_600_000)
        var partial = response()
        partial.arrivedBytes = 9
        end(cache, request, partial)
        var empty = response()
        empty.bytes = nil
        end(cache, request, empty)
        #expect(cache.statistics.stores == 0)
    }

    @Test func bytesAndEntriesAreLimited() {
        // With the URL and the key.
        let cost = 100 + MemoryCacheLimits.entryBytes + "http://example.org/0a".utf8.count
        let cache = cache(3 * cost, stale: 3_600_000)
        for number in 0..<10 {
            end(cache, ImageRequest(url: "http://example.org/\(number)"), response())
        }
        #expect(cache.statistics.entries == 3 && cache.statistics.bytes == 3 * cost)
        #expect(cache.statistics.evictions == 7)
        end(cache, request, response(bytes: 3 * cost))
        #expect(cache.statistics.entries == 3, "it is larger than all there may be")
        let none = self.cache(0, stale: 3_600_000)
        end(none, request, response(bytes: 0))
        #expect(none.statistics.entries == 0)
    }

    /// The length of texts counts toward the cost.
    @Test func longTextsCount() {
        let cache = cache(1 << 20, stale: 3_600_000)
        for number in 0..<200 {
            var request = ImageRequest(
                url: "http://example.org/\(number)?" + String(repeating: "a", count: 8_000))
            let cookie = String(repeating: "b", count: 8_000)
            request.headers = [HTTPHeader(name: "Cookie", value: cookie)]
            end(cache, request, response())
        }
        #expect((1...(1 << 20) / 16_000).contains(cache.statistics.entries))
    }

    @Test func whatWasRemovedIsNotKeptByALoadUnderWay() {
        let cache = cache(stale: 3_600_000)
        var small = request
        small.steps = [.flip(horizontal: true, vertical: false)]
        let other = ImageRequest(url: "http://example.org/b.jpg")
        for request in [request, small] { end(cache, request, response()) }
        end(cache, other, response("b"))
        let running = cache.keeper(of: request)
        cache.remove(url: "http://example.org/a.jpg")
        running?(response())
        #expect(cache.response(to: request) == nil && cache.response(to: small) == nil)
        #expect(cache.response(to: other) != nil)
        cache.remove(key: "b")
        #expect(cache.statistics.entries == 0 && cache.statistics.bytes == 0)
        end(cache, other, response("b"))
        cache.remove(other)
        #expect(cache.response(to: other) == nil)
        end(cache, other, response("b"))
        cache.removeAll()
        #expect(cache.response(to: other) == nil)
        cache.close()
        end(cache, other, response("b"))
        #expect(cache.statistics.entries == 0, "the client has ended")
    }

    @Test func limitsAreWithinTheirBounds() {
        let limits = MemoryCacheLimits(bytesMax: -1, entriesMax: -1, staleMilliseconds: -1)
        #expect(limits == MemoryCacheLimits(bytesMax: 0, entriesMax: 0))
        let day = MemoryCacheLimits(bytesMax: 1, staleMilliseconds: .max)
        #expect(day.staleMilliseconds == 86_400_000)
    }
}
