import ImageModel
import Imagebus
import SharedArena
import StackKit
import TestKit
import Testing

extension RealProcesses {
    /// Two clients of one stack, one of which speaks for strangers (SEMANTICS §14.11).
    @Suite struct RestrictedFrontTests {
        private let origin = OriginServer()

        private func stranger(of stack: StackHarness) throws -> ImagebusClient {
            let paths = try RuntimePaths(resolving: stack.runtimeDirectory)
            return try ImagebusClient(
                ClientConfiguration(
                    endpoint: paths.webSocket, resultsDirectory: paths.resultsDirectory,
                    connectTimeoutMilliseconds: 20_000))
        }

        @Test func strangersGetImagesAndHaveNoSayInMore() async throws {
            origin.route("/a.png", .bytes(try Images.waves(width: 60, height: 30).png()))
            try await withStack { stack in
                let (web, front) = (try stranger(of: stack), try stack.client())
                var request = ImageRequest(origin.url("/a.png"), fit: 20)
                let image = try await web.load(request).response
                #expect(try Pixels(decoding: #require(image.bytes).array).size == "20x10")
                // The same bytes, by the short way and at both sockets.
                for client in [web, front, web, front] {
                    #expect(try await client.load(request).response.digest == image.digest)
                }
                request.headers = [HTTPHeader(name: "X-Mine", value: "1")]
                _ = try await front.load(request).response
                await #expect(throws: ImageError.self) {
                    try await web.load(request).response
                }
                let bytes = try Images.noise(width: 30, height: 30, seed: 3).png()
                #expect(bytes.count > 1_024)
                let none = ImageRequest(url: "")
                await #expect(throws: ImageError.self) {
                    try await web.load(none, uploading: bytes).response
                }
                _ = try await front.load(none, uploading: bytes).response
                #expect(origin.requestCount("/a.png") == 2)
            }
        }

        /// A message that is the same byte for byte is another load where another profile holds.
        @Test func theProfileOfStrangersIsNotThatOfClients() async throws {
            origin.route("/b.png", .bytes(try Images.waves(width: 64, height: 64).png()))
            let folder = TemporaryDirectory()
            let file = folder.write(
                Array(
                    """
                    sources: ["http://127.0.0.1:*/*"]
                    presets: {small: {resize: 16x16, format: png}}
                    profiles: {web: {transformer: small}}
                    """.utf8), to: "imagebus.yaml")
            try await withStack(["--allow-private-networks", "--config", file]) { stack in
                let request = ImageRequest(url: origin.url("/b.png"))
                for _ in 1...3 {
                    let mine = try await stack.client().load(request).response
                    #expect(mine.info?.size == PixelSize(width: 64, height: 64))
                    let theirs = try await stranger(of: stack).load(request).response
                    #expect(theirs.info?.size == PixelSize(width: 16, height: 16))
                }
            }
        }
    }
}
