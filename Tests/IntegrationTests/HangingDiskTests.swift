extension RealProcesses {
    /// A disk on which writers hang in the kernel, where signals don't reach them: a frozen ext4.
    @Suite(.enabled(if: PrivateMount.canFreeze, "needs root, a loop device and fsfreeze"))
    struct HangingDiskTests {
        private let origin = OriginServer()
        private let folder = TemporaryDirectory()
        private let images: [[UInt8]]

        init() throws {
            images = try [20, 60, 200].map { try Images.noise(width: $0, height: $0).png() }
        }

        private func route(_ path: String, _ bytes: [UInt8]) {
            origin.route(path, .bytes(bytes))
        }

        private func load(
            _ path: String, _ client: ImagebusClient, options: RequestOptions = .waitStoreCache
        ) async throws -> ImageResponse {
            var request = ImageRequest(url: origin.url(path))
            request.options = options
            return try await client.load(request).response
        }

        /// Without a memory tier, so that each load queries the disk.
        private func withDisk(
            _ body: (StackHarness, ImagebusClient) async throws -> Void
        ) async throws {
            let mount = try PrivateMount(image: folder.file("image"), bytes: 64 << 20)
            try await withClient(
                ["--allow-private-networks", "--memory-cache", "no"], cacheMount: mount,
                body: body)
        }

        @Test func loadsGoOnWithoutADiskThatHangsAndItComesBack() async throws {
            for (number, bytes) in images.enumerated() { route("/\(number)", bytes) }
            try await withDisk { stack, client in
                for number in images.indices {
                    #expect(try await load("/\(number)", client).storedTiers == .disk)
                }
                let hit = try await load("/0", client, options: .fromCacheOnly)
                #expect(hit.cacheType == .disk)
                let disk = try FrozenDisk(stack.cacheDirectory)
                // These detect that the disk hangs, and are answered nevertheless.
                async let store = load("/0?first", client)
                async let query = load("/2", client, options: .waitStoreCache)
                #expect(try await store.bytes?.array == images[0])
                #expect(try await query.bytes?.array == images[2])
                let report = try await stack.awaitStatus("the disk to be said to hang") {
                    $0.caches.first?.disk == .degraded
                }
                #expect(report.caches[0].diskReason.hasPrefix("stalled: "), "\(report.caches)")
                #expect(report.caches[0].degradedSince > 0)
                // The origin has a new image by now.
                route("/1", images[2])
                let began = MonotonicClock.now()
                for number in 0..<20 {
                    let response = try await load("/1?\(number)", client)
                    #expect(response.bytes?.array == images[2])
                    #expect(response.storedTiers == CacheTypes.none)
                }
                let changed = try await load("/1", client)
                #expect(changed.bytes?.array == images[2] && changed.cacheType == .none)
                // Each would take five seconds if it waited for the disk.
                #expect(MonotonicClock.now() - began < 20_000_000_000)
                let metrics = try stack.run(["status", "--prometheus"]).outputText
                #expect(metrics.contains("\nimagebus_cache_disk_up 0\n"))
                let log = FileBytes.text(stack.logFile) ?? ""
                #expect(log.contains("disk cache failed") && log.contains("stalled: "))
                disk.thaw()
                _ = try await stack.awaitStatus("the disk to be used again") {
                    $0.caches.first?.disk == .healthy
                }
                // Stored before, and not requested meanwhile.
                let kept = try await load("/0", client, options: .fromCacheOnly)
                #expect(kept.cacheType == .disk && kept.bytes?.array == images[0])
                // The old value is never returned again.
                let after = try await load("/1", client)
                #expect(after.bytes?.array == images[2] && after.cacheType == .none)
                #expect(after.storedTiers == .disk)
                #expect(try await load("/1", client, options: .fromCacheOnly).cacheType == .disk)
                #expect(stack.children.count == 7, "nothing was replaced")
            }
        }

        @Test func aStackEndsWhoseCacheHangsInTheKernel() async throws {
            route("/0", images[0])
            route("/1", images[1])
            try await withDisk { stack, _ in
                #expect(try await load("/0", stack.client()).storedTiers == .disk)
                let disk = try FrozenDisk(stack.cacheDirectory)
                #expect(try await load("/1", stack.client()).bytes?.array == images[1])
                let began = MonotonicClock.now()
                try stack.send(.terminate)
                // The cache ends, but the kernel keeps its process until the disk responds.
                let end = try stack.awaitEnd()
                #expect(end == "exit 124")
                #expect(MonotonicClock.now() - began < 20_000_000_000)
                let log = FileBytes.text(stack.logFile) ?? ""
                #expect(log.contains("was killed but has not exited"))
                disk.thaw()
            }
        }
    }
}
