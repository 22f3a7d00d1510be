import Glibc
import Synchronization

extension RealProcesses {
    /// Hits by voucher on several threads while their entries are continually evicted, created
    /// again and removed: every byte is correct.
    @Suite struct VoucherChurnTests {
        private static let threads = 3

        /// Images with different bytes at an origin; only some of them fit in the memory tier.
        private struct Gallery: Sendable {
            let origin = OriginServer()
            let images: [[UInt8]]

            init() throws {
                images = try (0..<64).map { number in
                    try Images.noise(
                        width: 60 + number, height: 50, seed: UInt64(number)
                    ).png()
                }
                for (number, image) in images.enumerated() {
                    origin.route("/\(number).png", .bytes(image))
                }
            }

            func request(_ number: Int) -> ImageRequest {
                ImageRequest(url: origin.url("/\(number).png"))
            }
        }

        @Test func underChurnEveryByteIsRight() async throws {
            let wanted = Effort.count("VOUCHER_HITS", short: 1_000_000, long: 50_000_000)
            let gallery = try Gallery()
            try await withStack(["--allow-private-networks", "--memory-limit", "1M"]) { stack in
                let (hits, wrong) = (Counter(), Counter())
                let isOver = Gate()
                var seeds = Effort.generator("voucher churn")
                let running = Monitor(Self.threads)
                for _ in 0..<Self.threads {
                    let (client, seed) = (try stack.client(), seeds.next())
                    _ = BackgroundThread {
                        defer { running.withLock { $0 -= 1 } }
                        var random = SeededGenerator(seed: seed)
                        while hits.value < wanted, !isOver.isOpen {
                            // Some are requested more often than others.
                            let number =
                                random.happens(90)
                                ? Int.random(in: 0..<8, using: &random)
                                : Int.random(in: 0..<gallery.images.count, using: &random)
                            Self.read(number, gallery, client, hits, wrong)
                        }
                    }
                }
                let limit = Duration.seconds(Effort.isLong ? 3_600 : 120)
                let deadline = ContinuousClock.now.advanced(by: limit)
                try await Self.churn(gallery, stack, hits) {
                    running.withLock { $0 } > 0 && ContinuousClock.now < deadline
                }
                isOver.open()
                let areDone = await running.wait { $0 == 0 } as Bool
                #expect(areDone)
                #expect(wrong.value == 0)
                #expect(hits.value >= wanted)
                print("voucher churn: \(hits.value) hits by voucher verified")
                _ = try await stack.awaitStatus("the hits to be told") {
                    $0.counter("voucherHits") ?? 0 >= hits.value
                }
                let report = try await stack.awaitStatus("a status") { _ in true }
                #expect(report.counter("voucherHits") == hits.value)
            }
        }

        private static func read(
            _ number: Int, _ gallery: Gallery, _ client: ImagebusClient, _ hits: Counter,
            _ wrong: Counter
        ) {
            let request = gallery.request(number)
            var bytes = client.answerAtHand(to: request)?.bytes
            if bytes != nil {
                hits.add(1)
            } else {
                bytes = (try? client.loadAndWait(request))?.bytes
            }
            let isRight =
                bytes?.withUnsafeBytes { bytes in
                    // In a debug build a comparison byte by byte would dominate the test.
                    gallery.images[number].withUnsafeBytes { image in
                        guard let image = image.baseAddress, let start = bytes.baseAddress else {
                            return false
                        }
                        return gallery.images[number].count == bytes.count
                            && memcmp(image, start, bytes.count) == 0
                    }
                } ?? true
            if !isRight { wrong.add(1) }
        }

        /// Other loads fill the memory tier, an operator removes entries, and occasionally the
        /// cache is killed.
        private static func churn(
            _ gallery: Gallery, _ stack: StackHarness, _ hits: Counter,
            while goesOn: () -> Bool
        ) async throws {
            let (client, admin) = (try stack.client(), try stack.operatorClient())
            var random = SeededGenerator(seed: 77)
            var round = 0
            while goesOn() {
                round += 1
                var request = gallery.request(Int.random(in: 0..<64, using: &random))
                if random.happens(30) { request.options = .fromLoaderOnly }
                if client.answerAtHand(to: request) != nil {
                    hits.add(1)
                } else {
                    _ = try? await client.load(request).response
                }
                if random.happens(10) { _ = try? await admin.remove(request.url) }
                if round.isMultiple(of: 2_000) {
                    try? stack.children.first { $0.name == "imagebus-cache" }?.kill()
                }
            }
        }
    }
}

/// A counter shared by threads.
private final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add(_ more: Int) { count.add(more, ordering: .relaxed) }
}
