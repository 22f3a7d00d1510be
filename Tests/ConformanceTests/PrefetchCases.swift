import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// Prefetching lists of URLs into the caches (SDWebImagePrefetcherTests).
    @Suite struct PrefetchCases {
        private let gallery: Gallery
        private let template = ImageRequest("", fit: 20)

        init() throws { gallery = try Gallery() }

        private func urls(_ row: Int, _ numbers: Range<Int>) -> [String] {
            numbers.map { gallery.url("/case\(row)-\($0).jpg") }
        }

        private func held(_ row: Int, _ gate: Gate) -> [String] {
            (0..<3).map { gallery.hold("/case\(row)-\($0).jpg", until: gate) }
        }

        /// Three URLs: progress 1, 2, 3 of 3, completion (3, 0), and the images are cached.
        @Test func case106_threeURLsAreCountedOneByOne() async throws {
            let client = try SharedStack.current.client()
            let urls = urls(106, 0..<3)
            let task = client.prefetch(urls, template: template)
            var counts: [Int] = []
            for await step in task.progress { counts.append(step.finished) }
            #expect(counts == Array(Set(counts)).sorted() && counts.last == 3)
            #expect(counts.allSatisfy { (1...3).contains($0) })
            #expect(try await task.result == PrefetchCounts(total: 3, finished: 3))
            for url in urls {
                let image = try await client.load(ImageRequest(url, fit: 20)).response
                #expect(image.cacheType == .memory)
            }
            #expect(gallery.origin.totalRequestCount == 3)
        }

        /// No URL: completion (0, 0).
        @Test func case107_anEmptyListHasEnded() async throws {
            let client = try SharedStack.current.client()
            #expect(try await client.prefetch([]).result == PrefetchCounts(total: 0))
        }

        /// Two overlapping lists at once: both complete, each with its own counts.
        @Test func case108_overlappingListsHaveTheirOwnCounts() async throws {
            let client = try SharedStack.current.client()
            let first = client.prefetch(urls(108, 0..<4), template: template)
            let second = client.prefetch(urls(108, 2..<6), template: template)
            #expect(try await first.result == PrefetchCounts(total: 4, finished: 4))
            #expect(try await second.result == PrefetchCounts(total: 4, finished: 4))
            #expect(gallery.origin.totalRequestCount == 6)
        }

        /// The delegate gets the counts of the completion block, and before it: the last progress
        /// equals the result, and the result doesn't come first.
        @Test func case109_progressEndsWithTheCountsOfTheResult() async throws {
            let client = try SharedStack.current.client()
            gallery.origin.route("/case109-gone.jpg", .status(404))
            let list = urls(109, 0..<5) + [gallery.url("/case109-gone.jpg")]
            let task = client.prefetch(list, template: template)
            var last: PrefetchCounts?
            for await step in task.progress { last = step }
            #expect(last == PrefetchCounts(total: 6, finished: 6, skipped: 1))
            #expect(try await task.result == last)
        }

        /// Cancel: no prefetch remains of a running one. (Here its end is reported, with the number
        /// of canceled loads.)
        @Test func case110_aCancelledPrefetchIsNotRunning() async throws {
            let stack = try SharedStack.current
            let client = try stack.client()
            let task = client.prefetch(held(110, Gate()), template: template)
            #expect(await gallery.origin.waitForRequest("/case110-0.jpg"))
            _ = try await stack.awaitStatus("a prefetch") { $0.counter("prefetches") == 1 }
            task.cancel()
            #expect(try await task.result == PrefetchCounts(total: 3, cancelled: 3))
            _ = try await stack.awaitStatus("no prefetch") { $0.counter("prefetches") == 0 }
            try await stack.awaitIdle()
        }

        /// All downloads are canceled while it runs: it completes, and reports that three loads
        /// failed. (They count as canceled here, since an operator canceled them.) The transfers
        /// end at the origin, and the transfer of another load continues.
        @Test func case111_whoseDownloadsAreAllCancelledCompletes() async throws {
            let stack = try SharedStack.current
            let client = try stack.client()
            let gate = Gate()
            let other = client.load(gallery.hold("/case111-other.jpg", until: gate))
            let task = client.prefetch(held(111, Gate()), template: template)
            for number in 0..<3 {
                #expect(await gallery.origin.waitForRequest("/case111-\(number).jpg"))
            }
            #expect(await gallery.origin.waitForRequest("/case111-other.jpg"))
            let end = try stack.run(["cancel", "--group", task.token.value.hex])
            #expect(end.exitStatus == 0, "\(end)")
            #expect(try await task.result == PrefetchCounts(total: 3, cancelled: 3))
            for number in 0..<3 {
                #expect(await gallery.origin.waitForConnectionClosed("/case111-\(number).jpg"))
            }
            gate.open()
            #expect(try await other.response.bytes?.array == gallery.image)
            try await stack.awaitNoTransfers()
        }
    }
}
