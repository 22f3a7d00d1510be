extension RealProcesses {
    /// Images delivered through the socket have the same bytes as those in shared memory.
    @Suite struct ChunksTests {
        /// Sizes around one chunk, around the mapping threshold, and beyond the window.
        @Test func theSameBytesComeInBothWays() async throws {
            let sizes = [
                2_000, 61_439, 61_440, 61_441, (1 << 20) - 1, 1 << 20, 4 << 20, (10 << 20) + 7,
            ]
            let origin = OriginServer()
            for size in sizes {
                origin.route("/\(size).png", .bytes(try ChunkStack.image(size, seed: size)))
            }
            try await withStack { stack in
                let mapped = try stack.client(.mapped)
                let chunks = try stack.client(.chunks)
                for size in sizes {
                    let source = try ChunkStack.image(size, seed: size)
                    let url = origin.url("/\(size).png")
                    let first = try await chunks.load(url).response
                    #expect(first.bytes?.array == source, "\(size) bytes, made for it")
                    let again = try await chunks.load(url).response
                    #expect(again.cacheType == .memory)
                    #expect(again.bytes?.array == source, "\(size) bytes, from memory")
                    let blocking = try chunks.loadAndWait(ImageRequest(url: url))
                    #expect(blocking.bytes?.array == source, "\(size) bytes, blocking")
                    let other = try await mapped.load(url).response
                    #expect(other.bytes?.array == source, "\(size) bytes, mapped")
                    #expect(other.key == again.key && other.info == again.info)
                }
                #expect(try await stack.counter("pieceDeliveries") == UInt64(3 * sizes.count))
            }
        }

        @Test func aHundredLoadsAtOnceAllGetTheirOwnBytes() async throws {
            let origin = OriginServer()
            let sources = try (0..<100).map {
                try ChunkStack.image(10_000 + $0 * 3_001, seed: $0)
            }
            for (number, source) in sources.enumerated() {
                origin.route("/\(number).png", .bytes(source))
            }
            try await withStack { stack in
                let client = try stack.client(.chunks)
                for _ in 0..<2 {
                    let tasks = sources.indices.map { client.load(origin.url("/\($0).png")) }
                    for (number, task) in tasks.enumerated() {
                        let image = try await task.response
                        #expect(image.bytes?.array == sources[number], "source \(number)")
                    }
                }
            }
        }

        /// Chunks in flight when a load is canceled count as received, so later loads get the
        /// window. Some loads may have completed before the cancel; while the coordinator is halted
        /// none can.
        @Test func cancelledLoadsLeaveTheWindowToOthers() async throws {
            let source = try ChunkStack.image(9 << 20)
            let origin = OriginServer("/a.png", .bytes(source))
            try await withStack { stack in
                let client = try stack.client(.chunks)
                let coordinator = try await stack.coordinator()
                _ = try await client.load(origin.url("/a.png")).response
                for round in 0..<24 {
                    let isHalted = round % 6 == 0
                    if isHalted { try coordinator.halt() }
                    let task = client.load(origin.url("/a.png"))
                    // Each reply arrives between chunks.
                    for _ in 0..<(round % 6) { _ = try await OperatorClient(client).status() }
                    task.cancel()
                    if isHalted { try coordinator.resume() }
                    let code = await task.errorCode
                    #expect(code == .cancelled || (code == nil && !isHalted))
                }
                let image = try await client.load(origin.url("/a.png")).response
                #expect(image.bytes?.array == source)
            }
        }

        /// With a results directory that doesn't exist, or contains something else.
        @Test func whoCannotReadResultsGetsPieces() async throws {
            let small = try ChunkStack.image(5_000)
            let large = try ChunkStack.image(3 << 20)
            let origin = OriginServer("/small.png", .bytes(small))
            origin.route("/large.png", .bytes(large))
            try await withStack { stack in
                let elsewhere = TemporaryDirectory()
                for results in ["/nonexistent", elsewhere.path] {
                    let client = try stack.client(.automatic, results: results)
                    for (name, source) in [("small", small), ("large", large)] {
                        let image = try await client.load(origin.url("/\(name).png")).response
                        #expect(image.bytes?.array == source, "\(name), \(results)")
                    }
                }
                #expect(try await stack.counter("pieceDeliveries") == 4)
                let stubborn = try stack.client(.mapped, results: elsewhere.path)
                #expect(await stubborn.load(origin.url("/small.png")).errorCode == .stale)
                let plain = try stack.client(.automatic)
                _ = try await plain.load(origin.url("/small.png")).response
                #expect(try await stack.counter("pieceDeliveries") == 4, "it can read results")
            }
        }

        @Test func whatIsLargerThanTheClientTakesIsRefusedAtItsFirstPiece() async throws {
            let origin = OriginServer("/large.png", .bytes(try ChunkStack.image(9 << 20)))
            let small = try ChunkStack.image(5_000)
            origin.route("/small.png", .bytes(small))
            try await withStack { stack in
                let client = try stack.client {
                    $0.delivery = .chunks
                    $0.chunkedImageBytesMax = 1 << 20
                }
                for _ in 0..<3 {
                    #expect(
                        await client.load(origin.url("/large.png")).errorCode == .limitExceeded)
                    let image = try await client.load(origin.url("/small.png")).response
                    #expect(image.bytes?.array == small)
                }
            }
        }

        @Test func loadsOutliveTheCoordinatorThatSendsTheirPieces() async throws {
            let source = try ChunkStack.image(9 << 20)
            let origin = OriginServer("/a.png", .bytes(source))
            try await withStack { stack in
                let client = try stack.client(.chunks)
                for _ in 0..<3 {
                    let tasks = (0..<8).map { _ in client.load(origin.url("/a.png")) }
                    _ = try await tasks[0].response
                    try await stack.killCoordinator()
                    for task in tasks {
                        #expect(try await task.response.bytes?.array == source)
                    }
                }
            }
        }

        @Test func theCommandLineForcesPieces() async throws {
            let source = try ChunkStack.image(2 << 20)
            let origin = OriginServer("/a.png", .bytes(source))
            try await withStack { stack in
                for delivery in ["mapped", "chunks", "auto"] {
                    let run = try stack.get(
                        [origin.url("/a.png"), "-o", "-", "--delivery", delivery]).expect(0)
                    // Compared beforehand: printing the difference of so many bytes would take
                    // hours.
                    let isSame = run.output == source
                    #expect(isSame, "\(run.output.count) bytes by \(delivery)")
                }
                #expect(try await stack.counter("pieceDeliveries") == 1)
            }
        }
    }
}
