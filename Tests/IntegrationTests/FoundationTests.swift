import FoundationEssentials
import ImagebusFoundation

extension RealProcesses {
    /// The API of `ImagebusFoundation` with a real stack. The bytes must equal those served over
    /// HTTP.
    @Suite struct FoundationTests {
        private let origin = OriginServer()

        @Test func smallBytesComeAsACopyThatMayBeChanged() async throws {
            let source = try ChunkStack.image(40_000)
            try await loaded(source) { response in
                let bytes = try #require(response.bytes)
                var data = Data(sharing: bytes)
                data[0] = ~data[0]
                #expect(data != response.data)
                #expect(response.data == Data(source))
                #expect(bytes.array == source)
            }
        }

        /// From 1 MiB the bytes stay mapped in the client until the last copy is released.
        @Test func largeBytesAreSharedUntilTheLastCopyHasGone() async throws {
            let source = try ChunkStack.image(3 << 20)
            var (data, kept, place) = try await loaded(source, delivery: .mapped) { response in
                let bytes = try #require(response.bytes)
                let place = try #require(bytes.lastingBytes.baseAddress)
                #expect(response.data?.withUnsafeBytes { $0.baseAddress } != place)
                return (Data(sharing: bytes), Kept(bytes), place)
            }
            #expect(data.withUnsafeBytes { $0.baseAddress } == place)
            #expect(data == Data(source))
            // Changing one of two copies makes it a separate copy.
            var other = data
            other[0] = ~other[0]
            #expect(other != data)
            #expect(data == Data(source))
            #expect(kept.bytes != nil)
            data.append(1)
            #expect(data == Data(source + [1]))
            #expect(kept.bytes == nil)
        }

        /// Whether the bytes are still referenced.
        private struct Kept {
            weak var bytes: ImageBytes?

            init(_ bytes: ImageBytes) { self.bytes = bytes }
        }

        @Test func dataIsUploadedInAllWays() async throws {
            let source = try Images.quadrants(width: 80, height: 60).png()
            var request = ImageRequest(url: "")
            request.steps = [.resize(PixelSize(width: 20, height: 20), .fit)]
            let upload = request
            // A slice whose first index isn't 0.
            let data = Data([0, 0] + source).dropFirst(2)
            try await withClient { stack, client in
                let image = try await client.load(upload, uploading: data).response
                #expect(image.info?.size == PixelSize(width: 20, height: 15))
                let pixels = try Pixels(decoding: try #require(image.bytes).array)
                #expect(isClose(pixels.at(2, 2), Images.red))
                let again = try client.loadAndWait(upload, uploading: data)
                #expect(again.data == image.data)
                let called: Result<ImageResponse, ImageError> = await withCheckedContinuation {
                    next in
                    client.load(upload, uploading: data, on: .inline) { next.resume(returning: $0) }
                }
                #expect(try called.get().data == image.data)
                let admin = try stack.operatorClient()
                var kept = ImageRequest(url: origin.url("/never-asked.png"))
                kept.options = .fromCacheOnly
                #expect(try await admin.put(data, under: kept.url, in: .memory) == .memory)
                let found = try await client.load(kept).response
                #expect(found.data == Data(source))
                #expect(found.cacheType == .memory)
            }
        }

        /// Loads these bytes by a `URL`.
        private func loaded<Result>(
            _ source: [UInt8], delivery: Delivery = .automatic,
            body: (ImageResponse) throws -> Result
        ) async throws -> Result {
            origin.route("/a.png", .bytes(source))
            let url = try #require(URL(string: origin.url("/a.png")))
            return try await withStack { stack in
                try await body(stack.client(delivery).load(url).response)
            }
        }
    }
}
