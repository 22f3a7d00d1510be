import Synchronization

extension RealProcesses {
    /// The largest number of concurrent loads that an application may have, on one client.
    @Suite struct ManyTasksTests {
        /// 50,000 with `IMAGEBUS_LONG=1`.
        private static let count = Effort.isLong ? 50_000 : 4_000
        private static let urls = 50
        /// The limit of memory per unfinished load in this process, in bytes, for a debug build and
        /// with the allocator's reserves.
        private static let bytesMax = 12_000

        /// How often each load ended, and how.
        private final class Ends: Sendable {
            private struct State {
                var ends: [Int]
                var left: Int
                var images = 0
                var cancels = 0
                var others: [ImageError] = []
            }

            private let state: Mutex<State>
            private let all = Gate()
            private let allCancels = Gate()
            private let cancelsMax: Int

            /// Creates the counts for `count` loads, of which `cancelsMax` are going to be
            /// canceled.
            init(_ count: Int, cancelling cancelsMax: Int) {
                self.cancelsMax = cancelsMax
                state = Mutex(State(ends: Array(repeating: 0, count: count), left: count))
            }

            func record(_ number: Int, _ result: Result<ImageResponse, ImageError>) {
                let (isLast, areCancelled) = state.withLock { state in
                    state.ends[number] += 1
                    state.left -= 1
                    switch result {
                    case .success: state.images += 1
                    case .failure(let error) where error.code == .cancelled: state.cancels += 1
                    case .failure(let error): state.others.append(error)
                    }
                    return (state.left == 0, state.cancels == cancelsMax)
                }
                if areCancelled { allCancels.open() }
                if isLast { all.open() }
            }

            func waitForAll() async -> Bool { await all.wait(timeout: .seconds(600)) }
            func waitForCancels() async -> Bool {
                await allCancels.wait(timeout: .seconds(600))
            }

            var unlike: (lost: Int, repeated: Int) {
                state.withLock { state in
                    (state.ends.count { $0 == 0 }, state.ends.count { $0 > 1 })
                }
            }
            var images: Int { state.withLock { $0.images } }
            var cancels: Int { state.withLock { $0.cancels } }
            var others: [ImageError] { state.withLock { $0.others } }
        }

        /// The resident memory of this process in bytes.
        private static func residentBytes() throws -> Int {
            let words = FileBytes.text("/proc/self/statm")?.split(separator: " ") ?? []
            return try #require(words.count > 1 ? Int(words[1]) : nil) * 4_096
        }

        /// Whether a load is canceled: every tenth load of each URL, so that each URL still has
        /// subscribers.
        private static func isCancelled(_ number: Int) -> Bool {
            (number / urls) % 10 == number % 10
        }

        /// Loads of a few images that aren't sent yet; a tenth is canceled, the others get their
        /// images.
        @Test func tensOfThousandsOfLoadsOnOneClientAllEndOnce() async throws {
            let image = try Images.waves(width: 40, height: 30).jpeg(quality: 80)
            let (origin, gate) = (OriginServer(), Gate())
            origin.route("/*", .hangBody(until: gate, then: image))
            let arguments = ["--allow-private-networks", "--low-speed", "0"]
            try await withClient(arguments, decoders: 1) { stack, client in
                _ = try await OperatorClient(client).status()
                let ends = Ends(Self.count, cancelling: Self.count / 10)
                let before = try Self.residentBytes()
                var tasks: [LoadTask] = []
                tasks.reserveCapacity(Self.count)
                for number in 0..<Self.count {
                    var request = ImageRequest(url: origin.url("/\(number % Self.urls).jpg"))
                    request.timeoutMilliseconds = 600_000
                    tasks.append(
                        client.load(request, on: .inline) { result in ends.record(number, result) })
                }
                // The status request is queued after all loads, so that these are in the client's
                // tables when it is answered.
                _ = try await OperatorClient(client).status()
                let each = (try Self.residentBytes() - before) / Self.count
                print("many tasks: \(Self.count) loads, \(each) bytes each")
                // A sanitizer has its own overhead per load.
                if !CurrentProcess.hasSanitizer { #expect(each <= Self.bytesMax) }
                for number in tasks.indices where Self.isCancelled(number) {
                    tasks[number].cancel()
                }
                #expect(await ends.waitForCancels())
                #expect(ends.images == 0, "nothing has arrived")
                gate.open()
                #expect(await ends.waitForAll())
                let unlike = ends.unlike
                #expect(unlike.lost == 0 && unlike.repeated == 0, "\(unlike)")
                #expect(ends.others.isEmpty, "\(ends.others.prefix(3))")
                #expect(ends.cancels == Self.count / 10)
                #expect(ends.images == Self.count - Self.count / 10)
                let idle = try await stack.awaitIdle()
                #expect(idle.counter("liveRequests") == 0)
                let requests = (0..<Self.urls).map { origin.requestCount("/\($0).jpg") }
                #expect(requests.allSatisfy { $0 == 1 }, "each image was fetched once")
            }
        }

        /// If there are no subscribers left, a fetch may or may not have begun before the cancels
        /// arrived.
        @Test func imagesThatNobodyWaitsForAreFetchedAtMostOnce() async throws {
            let (origin, gate) = (OriginServer(), Gate())
            defer { gate.open() }
            let image = try Images.waves(width: 40, height: 30).jpeg(quality: 80)
            origin.route("/*", .hangBody(until: gate, then: image))
            try await withClient(
                ["--allow-private-networks", "--low-speed", "0"], decoders: 1
            ) { stack, client in
                let ends = Ends(Self.urls * 8, cancelling: Self.urls * 8)
                let tasks = (0..<Self.urls * 8).map { number in
                    client.load(
                        ImageRequest(url: origin.url("/\(number % Self.urls).jpg")), on: .inline
                    ) { ends.record(number, $0) }
                }
                for task in tasks { task.cancel() }
                #expect(await ends.waitForAll())
                let unlike = ends.unlike
                #expect(unlike.lost == 0 && unlike.repeated == 0, "\(unlike)")
                #expect(ends.cancels == tasks.count && ends.images == 0)
                try await stack.awaitIdle()
                let requests = (0..<Self.urls).map { origin.requestCount("/\($0).jpg") }
                #expect(requests.allSatisfy { $0 <= 1 }, "\(requests)")
            }
        }
    }
}
