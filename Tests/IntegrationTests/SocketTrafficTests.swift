extension RealProcesses {
    /// Payloads travel in shared memory.
    @Suite struct SocketTrafficTests {
        private static let messageBytesMax: UInt64 = 4096
        /// For loads and replies that are batched; the smallest payload is larger.
        private static let batchBytesMax: UInt64 = 32_000

        @Test func noMessageCarriesAPayload() async throws {
            let origin = OriginServer()
            let small = try Self.small()
            let large = try Images.noise(width: 900, height: 800).png()
            #expect((33_000...41_000).contains(small.count), "\(small.count)")
            #expect(large.count > 2_000_000)
            origin.route("/small.jpg", .jpeg(small))
            origin.route("/large.png", .bytes(large))
            try await withClient { stack, client in
                for round in 0..<2 {
                    let tasks = (0..<100).map {
                        client.load(origin.url("/small.jpg?\($0)"), wantsProgress: true)
                    }
                    for task in tasks {
                        let image = try await task.response
                        #expect(image.bytes?.array == small)
                        #expect(image.cacheType == (round == 0 ? .none : .memory))
                    }
                }
                let image = try await client.load(origin.url("/large.png")).response
                #expect(image.bytes?.array == large)
                var request = ImageRequest(origin.url("/large.png"), fit: 800, format: .png)
                request.steps = [.flip(horizontal: true, vertical: false)]
                let flipped = try await client.load(request).response
                #expect((flipped.bytes?.count ?? 0) > 2_000_000)
                try await expectSmallMessages(stack)
            }
        }

        private func expectSmallMessages(_ stack: StackHarness) async throws {
            let report = try await stack.awaitStatus("the traffic of all sockets") { _ in true }
            let names = report.sockets.map(\.name).sorted()
            #expect(
                names == [
                    "admin", "back/cache", "back/decode", "back/download", "back/transform",
                    "front", "web",
                ])
            for socket in report.sockets where !["admin", "web"].contains(socket.name) {
                #expect(socket.messagesReceived > 0 && socket.messagesSent > 0, "\(socket.name)")
                let most = socket.name == "front" ? Self.batchBytesMax : Self.messageBytesMax
                #expect(
                    socket.largestMessage > 0 && socket.largestMessage <= most,
                    "\(socket.name): \(socket.largestMessage)")
            }
        }

        @Test func aLargeResultIsMappedAndASmallOneCopied() async throws {
            let small = try Self.small()
            let large = try Images.noise(width: 900, height: 800).png()
            let origin = OriginServer("/small.jpg", .jpeg(small))
            origin.route("/large.png", .bytes(large))
            try await withClient { stack, client in
                let copied = try await client.load(origin.url("/small.jpg")).response
                let mapped = try await client.load(origin.url("/large.png")).response
                let results = stack.runtimeDirectory + "/results/"
                #expect(mapping(of: try #require(copied.bytes))?.contains(results) != true)
                #expect(mapping(of: try #require(mapped.bytes))?.contains(results) == true)
                // The kernel keeps the pages after the stack has ended.
                try stack.stop()
                #expect(mapped.bytes?.array == large)
            }
        }

        /// The line of /proc/self/maps that contains the bytes.
        private func mapping(of bytes: ImageBytes) -> String? {
            let address = bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            let text = String(decoding: FileBytes.read("/proc/self/maps") ?? [], as: UTF8.self)
            return text.split(separator: "\n").map(String.init).first { line in
                let range = line.prefix { $0 != " " }.split(separator: "-")
                    .compactMap { UInt($0, radix: 16) }
                return range.count == 2 && range[0] <= address && address < range[1]
            }
        }

        /// A JPEG of about 37 KB.
        static func small() throws -> [UInt8] {
            try Images.noise(width: 164, height: 120).jpeg(quality: 90)
        }
    }
}
