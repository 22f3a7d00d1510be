import Glibc

extension RealProcesses {
    /// A client may keep large results as long as it needs them, but not without limit.
    @Suite struct KeepingTests {
        private static let limit = 64 << 20
        private let origin = OriginServer()
        private let request: ImageRequest

        init() throws {
            let source = try Images.noise(width: 2_400, height: 1_600).png()
            origin.route("/a.png", .bytes(source))
            request = ImageRequest(url: origin.url("/a.png"))
        }

        @Test func whatIsKeptBeyondTheLimitIsCopied() async throws {
            try await withClient { _, client in
                let first = try #require(try await client.load(request).response.bytes)
                let expected = first.array
                // Twice the limit; all of them remain valid.
                var kept = [first]
                for _ in 0..<(2 * Self.limit / first.count) {
                    let bytes = try await client.load(request).response.bytes
                    kept.append(try #require(bytes))
                }
                for bytes in kept {
                    #expect(bytes.count == expected.count)
                    let difference = bytes.withUnsafeBytes { bytes -> Int32? in
                        expected.withUnsafeBytes { expected in
                            guard let left = bytes.baseAddress, let right = expected.baseAddress
                            else { return nil }
                            return memcmp(left, right, bytes.count)
                        }
                    }
                    #expect(difference == 0)
                }
            }
        }

        @Test func theCoordinatorSaysWhichResultsItDoesNotKeep() async throws {
            try await withStack { stack in
                let client = try WireClient(stack)
                var flags: [Bool] = []
                var kept: [BlockID] = []
                var length = 0
                for _ in 0..<20 {
                    let image = try load(client)
                    let reference = try #require(image.reference)
                    length = Int(reference.length)
                    flags.append(image.mustCopy)
                    if !image.mustCopy { kept.append(reference.block) }
                }
                let fitting = Self.limit / length
                #expect(flags == (0..<20).map { $0 >= fitting })
                try client.send(.release([kept[0]]))
                #expect(try !load(client).mustCopy, "one more fits again")
                #expect(try load(client).mustCopy)
            }
        }

        private func load(_ client: WireClient) throws -> DeliveredImage {
            try client.send(.load(LoadRequest(token: Token(.random), image: request)))
            guard case .reply(let reply) = try client.receive(within: defaultTimeout),
                case .image(let image) = reply.outcome
            else { throw StackFailure("the load has no image") }
            return image
        }
    }
}
