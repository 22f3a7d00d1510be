import CommandLineInterface
import Glibc
import Imagebus
import Model
import Reporting
import Synchronization

extension Bench {
    /// The sizes of each of many images: the longer side in pixels.
    private static let stormSides = (1...10).map { $0 * 32 }
    /// Enough for the slowest machine; the time is what is measured.
    private static let stormMilliseconds = 600_000

    /// Begins a very large number of loads at once: of one image, then of many images in several
    /// sizes each. Ends when all loads have been answered.
    func measureStorms() async throws(ImageError) -> BenchReport {
        let clients = try clients(for: options.concurrency)
        var request = options.request
        request.url = BenchURL.counted(
            try await url(orImage: "storm.jpg", width: 2_725, height: 2_225), next())
        if options.url == nil, !options.isRequestChosen { request.choosePreview() }
        request.timeoutMilliseconds = Self.stormMilliseconds
        var report = try await measureStorm(clients, "storm.jpg", [request], urls: 1)
        // A user-specified origin need not have many images.
        guard options.url == nil, !hasStopped else { return report }
        let output = OutputOptions(format: .jpeg, quality: 85)
        try await makeImage("many.jpg", width: 640, height: 480, output)
        let sizes = Self.stormSides.map { side in
            var request = ImageRequest(url: origin.url("many.jpg"))
            request.choosePreview(side: side)
            // A stack without a disk doesn't keep originals by default, so a size requested after
            // all others would cause another transfer.
            request.originalQueryCacheTypes = .all
            request.originalStoreCacheTypes = .all
            request.timeoutMilliseconds = Self.stormMilliseconds
            return request
        }
        let urls = max(1, options.concurrency / sizes.count)
        report["many"] = try await measureStorm(clients, "many.jpg", sizes, urls: urls)
        return report
    }

    /// Loads a single URL as often as requested, or each of several URLs in each size once.
    private func measureStorm(
        _ clients: [ImagebusClient], _ name: String, _ sizes: [ImageRequest], urls: Int
    ) async throws(ImageError) -> BenchReport {
        var separate: [[UInt8]] = []
        for size in sizes {
            separate.append(try await client.load(size.unkept).response.bytes?.array ?? [])
        }
        let expected = separate
        let right = Atomic(0)
        let count = urls == 1 ? options.concurrency : urls * sizes.count
        let requestsBefore = origin.requestCount(name)
        var report = try await report("storm") {
            await LoadFlight.runAtOnce(count) { number in
                let size = number % sizes.count
                let request =
                    urls == 1 ? sizes[size] : sizes[size].numbered(1 + number / sizes.count)
                let client = clients[number % clients.count]
                guard let image = try? await client.load(request).response else { return nil }
                let isRight = image.withBytes { bytes in
                    expected[size].withUnsafeBytes { Bench.areEqual($0, bytes) }
                }
                if isRight { right.add(1, ordering: .relaxed) }
                return image.bytes?.count ?? 0
            }
        }
        report["urls"] = urls
        report["sizes"] = sizes.count
        // The replies with the same bytes as a separate load.
        report["right"] = right.load(ordering: .relaxed)
        if options.url == nil { report["gets"] = origin.requestCount(name) - requestsBefore }
        return report
    }

    /// Whether two images have the same bytes.
    static func areEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count, let start = a.baseAddress, let other = b.baseAddress else {
            return a.count == b.count
        }
        return memcmp(start, other, a.count) == 0
    }
}
