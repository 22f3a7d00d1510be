import ImageModel
import Imagebus
import Linux
import TestKit
import Testing

extension RealProcesses {
    /// Figures as they come, on request: `IMAGEBUS_FIGURES=1`, with programs built for release.
    @Suite(
        .enabled(
            if: CurrentProcess.environment("IMAGEBUS_FIGURES") == "1", "IMAGEBUS_FIGURES is not 1"))
    struct FiguresTests {
        @Test func memoryHits() async throws {
            let origin = OriginServer()
            let source = try SocketTrafficTests.small()
            origin.route("/hit.jpg", .bytes(source, contentType: "image/jpeg"))
            try await withStack { stack in
                let client = try stack.client()
                let url = origin.url("/hit.jpg")
                _ = try await client.load(url).response
                print("\nmemory hits, \(source.count) bytes, client library")
                for width in [1, 16, 64] {
                    try await Figure.measure("  \(width) in flight", width, seconds: 3) { _ in
                        let image = try await client.load(url).response
                        guard image.cacheType == .memory else {
                            throw StackFailure("no memory hit: \(image.cacheType.name)")
                        }
                    }
                }
                try await Figure.measureBlocking("  1, blocking call", seconds: 3) {
                    _ = try client.load(url).waitForResponse()
                }
            }
        }

        @Test(.enabled(if: Fixtures.folder != nil, "IMAGEBUS_FIXTURES names no folder"))
        func coldRequests() async throws {
            let origin = OriginServer()
            let photo = try #require(Fixtures.bytes("photos/photo-2725x2225.jpg"))
            origin.route("/photo.jpg", .bytes(photo, contentType: "image/jpeg"))
            try await withStack { stack in
                let client = try stack.client()
                print("\ncold requests, 2725x2225 JPEG to 512 fit to JPEG, from loader only")
                for width in [1, 4, 16] {
                    try await Figure.measure("  \(width) in flight", width, seconds: 5) { number in
                        var request = ImageRequest(
                            origin.url("/photo.jpg?\(width)-\(number)"), fit: 512,
                            options: .fromLoaderOnly)
                        request.output.quality = 80
                        request.storeCacheTypes = .none
                        request.originalStoreCacheTypes = .none
                        request.originalQueryCacheTypes = .none
                        _ = try await client.load(request).response
                    }
                }
            }
        }
    }
}

/// Requests a second and how long each took.
enum Figure {
    /// `width` requests at a time for `seconds`; each gets a number.
    static func measure(
        _ name: String, _ width: Int, seconds: Double,
        _ request: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        let start = MonotonicClock.now()
        let end = start + UInt64(seconds * 1e9)
        let spans = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for lane in 0..<width {
                group.addTask {
                    var spans: [UInt64] = []
                    var number = lane
                    while MonotonicClock.now() < end {
                        let began = MonotonicClock.now()
                        try await request(number)
                        spans.append(MonotonicClock.now() - began)
                        number += width
                    }
                    return spans
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        print(line(name, spans, MonotonicClock.now() - start))
    }

    /// One request at a time on a thread that blocks.
    static func measureBlocking(
        _ name: String, seconds: Double, _ request: () throws -> Void
    ) async throws {
        let start = MonotonicClock.now()
        let end = start + UInt64(seconds * 1e9)
        var spans: [UInt64] = []
        while MonotonicClock.now() < end {
            let began = MonotonicClock.now()
            try request()
            spans.append(MonotonicClock.now() - began)
        }
        print(line(name, spans, MonotonicClock.now() - start))
    }

    private static func line(_ name: String, _ spans: [UInt64], _ elapsed: UInt64) -> String {
        let sorted = spans.sorted()
        guard !sorted.isEmpty else { return "\(name): none" }
        let rate = Int(Double(sorted.count) / (Double(elapsed) / 1e9))
        let median = sorted[sorted.count / 2] / 1000
        let late = sorted[min(sorted.count - 1, sorted.count * 99 / 100)] / 1000
        return "\(name): \(rate) a second, p50 \(median) µs, p99 \(late) µs"
    }
}
