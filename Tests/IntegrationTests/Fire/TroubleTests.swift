extension RealProcesses {
    /// Processes are killed, stopped and run out of memory, the disk is full or hangs, and shared
    /// memory is full, also at the same time, while several clients send all kinds of requests.
    @Suite(.enabled(if: PrivateMount.isWanted, "IMAGEBUS_NO_MOUNTS=1"))
    struct TroubleTests {
        private static let clients = 3
        private static let lanesPerClient = 2
        private static let bytes = 64 << 20
        /// In milliseconds; after five seconds the disk is no longer used.
        private static let hangsLongAtMost = 8_000
        /// The results that clients may see according to the table of failures in ARCHITECTURE.md.
        /// An image can be poisoned if two decoders are lost that were stopped while they had it.
        private static let permitted: Set<ImageEnd> = [
            .right, .failed(.busy), .failed(.poisoned),
        ]

        @Test func noAnswerIsWrongWhateverFails() async throws {
            let seconds = Effort.count("TROUBLE_SECONDS", short: 8, long: 600)
            var random = Effort.generator("trouble")
            let (memory, folder) = (
                try PrivateMount(bytes: Self.bytes), TemporaryDirectory()
            )
            let disk =
                PrivateMount.canFreeze
                ? try PrivateMount(image: folder.file("disk"), bytes: Self.bytes) : memory
            try await withStack(mount: memory, cacheMount: disk) { stack in
                let gallery = try await Gallery(learnedBy: stack.client())
                let moving = try await MovingGallery(beside: gallery, learnedBy: stack.client())
                let before = try await stack.awaitIdle()
                let clients = try (0..<Self.clients).map { _ in try stack.client() }
                let lanes = MixedLoads.lanes(
                    Self.clients * Self.lanesPerClient, clients, gallery, moving, &random)
                let isOver = Gate()
                async let running = MixedLoads.run(lanes, until: isOver)
                var troublemaker = Troublemaker(
                    stack, random,
                    hangsAtMost: seconds < 60 ? 900 : Self.hangsLongAtMost)
                try await troublemaker.run(seconds: seconds)
                isOver.open()
                let ends = await running
                let kills = troublemaker.memoryKills
                print("trouble: \(seconds) s, \(troublemaker.done), \(kills) for memory; \(ends)")
                #expect(kills > 0 || seconds < 60 || !MemoryGroup.isPossible)
                let others = ends.filter { !Self.permitted.contains($0.key) }
                #expect(others.isEmpty, "of \(ends.values.reduce(0, +)): \(others)")
                #expect(ends[.right] ?? 0 > lanes.count)
                try await expectWhole(stack, before.processes.count, clients[0], gallery)
            }
        }

        /// All processes and the disk work, and no resources are held.
        private func expectWhole(
            _ stack: StackHarness, _ count: Int, _ client: ImagebusClient, _ gallery: Gallery
        ) async throws {
            _ = try await stack.awaitStatus("a whole and idle stack") {
                $0.processes.count == count && $0.isIdle
                    && $0.processes.allSatisfy { $0.state == "ready" }
                    && $0.caches.first?.disk == .healthy
            }
            for choice in Gallery.choices {
                let load = client.load(gallery.request(choice, "after"))
                #expect(await ImageEnd(of: load, expected: gallery.expected(choice)) == .right)
            }
        }
    }
}
