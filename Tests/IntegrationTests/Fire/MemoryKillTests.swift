extension RealProcesses {
    /// The kernel kills decoders whose control group is out of memory, which counts as evidence
    /// against their image (SEMANTICS §7.5).
    @Suite(.enabled(if: MemoryGroup.isPossible, "no control group can be made here"))
    struct MemoryKillTests {
        private let origin = OriginServer()

        /// Less than any decode needs.
        private static let groupBytes: UInt64 = 1 << 20
        /// Losing a decoder that has just started is not evidence.
        private static let heldTime = Duration.milliseconds(300)

        @Test func anImageThatTakesTheMemoryOfTwoDecodersIsQuarantined() async throws {
            // The decoder of an interlaced image has all of its pixels in private memory.
            let image = try Images.waves(width: 1_200, height: 900).png(interlaced: true)
            origin.route("/bad.png", .bytes(image))
            origin.route("/good.png", .bytes(try Images.quadrants().png()))
            try await withClient(decoders: 2) { stack, client in
                _ = try await stack.awaitStatus("two decoders") {
                    $0.processes(.decode).count { $0.state == "ready" } == 2
                }
                let decoders = stack.processes("decode")
                // With its bytes in the cache, a halted decoder has the job soon.
                #expect(await client.load(origin.url("/bad.png")).errorCode == nil)
                for decoder in decoders { try decoder.halt() }
                let groups = try decoders.map(Self.group)
                let bad = client.load(ImageRequest(origin.url("/bad.png"), fit: 100))
                try await outOfMemory(decoders, stack)
                #expect(await bad.errorCode == .poisoned)
                #expect(groups.map(\.kills) == [1, 1])
                #expect(try await stack.counter("quarantined") == 1)
                let again = client.load(ImageRequest(origin.url("/bad.png"), fit: 90))
                #expect(await again.errorCode == .poisoned)
                let good = client.load(ImageRequest(origin.url("/good.png"), fit: 100))
                #expect(await good.errorCode == nil)
            }
        }

        private static func group(of decoder: ObservedProcess) throws -> MemoryGroup {
            let group = try MemoryGroup(bytes: groupBytes)
            try group.add(decoder)
            return group
        }

        /// Continues the halted decoders one after another, each once it has held the job long
        /// enough, and waits for their end.
        private func outOfMemory(
            _ decoders: [ObservedProcess], _ stack: StackHarness
        ) async throws {
            var left = decoders
            while !left.isEmpty {
                let report = try await stack.awaitStatus("a job at a halted decoder") {
                    Self.busyDecoder(left, $0) != nil
                }
                let busy = try #require(Self.busyDecoder(left, report))
                left.removeAll { $0 === busy }
                // `serve` would kill decoders that are halted for seconds.
                for idle in left { try idle.resume() }
                try await Task.sleep(for: Self.heldTime)
                for idle in left { try idle.halt() }
                try busy.resume()
                #expect(try busy.ends(within: defaultTimeout))
            }
        }

        private static func busyDecoder(
            _ decoders: [ObservedProcess], _ report: StatusReport
        ) -> ObservedProcess? {
            let busy = report.processes(.decode).filter { $0.state == "busy" }
            return decoders.first { decoder in
                busy.contains { Int32($0.pid) == decoder.processID }
            }
        }
    }
}
