extension RealProcesses {
    /// A mapping stays valid as long as it is referenced, whatever the tiers evict meanwhile.
    @Suite struct KeptMappingTests {
        @Test func aKeptMappingStaysRightWhileTheMemoryTierTurnsOver() async throws {
            let origin = OriginServer()
            let images = try (0..<12).map { try ChunkStack.image(2 << 20, seed: $0) }
            for (number, image) in images.enumerated() {
                origin.route("/\(number)", .bytes(image))
            }
            let arguments = ["--allow-private-networks", "--memory-limit", "8M"]
            try await withClient(arguments) { stack, client in
                let kept = try #require(
                    try await client.load(origin.url("/0")).response.bytes)
                #expect(kept.isMapped)
                let end = ContinuousClock.now.advanced(by: .seconds(Effort.isLong ? 60 : 2))
                var rounds = 0
                repeat {
                    for number in 1..<images.count {
                        let other = try await client.load(origin.url("/\(number)")).response
                        #expect(other.bytes?.array == images[number])
                        #expect(kept.array == images[0], "round \(rounds), \(number)")
                    }
                    rounds += 1
                } while rounds < 3 || ContinuousClock.now < end
                let report = try await stack.awaitStatus("evictions") {
                    $0.caches.first?.memoryEvictions ?? 0 >= 20
                }
                print(
                    "kept mapping: right in \(rounds) rounds,",
                    report.caches.first?.memoryEvictions ?? 0, "evictions")
                // The memory is reused once the mapping has been released.
                let again = try await client.load(origin.url("/0")).response
                #expect(again.bytes?.array == images[0])
            }
        }
    }
}
