import Model
import Testing
import Wire

/// The examples of `Proto/PROTOCOL.md`, replayed: its bytes decode to these values, and vice versa.
@Suite struct ExampleTests {
    private let token = Identifier128(hex: "00112233445566778899aabbccddeeff").map { Token($0) }
    private let key =
        "https://example.com/cat-ImagebusFitTransformer({512.000000,512.000000})"
        + "-Imagebus(jpeg,q80).jpg"

    private func frames(of example: String) throws -> Frames {
        let blocks = try ProtocolText.read().blocks(after: "```hex")
        let block = try #require(blocks[example], "PROTOCOL.md has the example \(example)")
        let bytes = try block.flatMap { line in
            try line.prefix { $0 != "#" }.split(separator: " ").map {
                try #require(UInt8($0, radix: 16), "\(line)")
            }
        }
        return Frames(header: Array(bytes.prefix(8)), body: Array(bytes.dropFirst(8)))
    }

    @Test func theExampleOfALoadIsTrue() throws {
        var image = ImageRequest(url: "https://example.com/cat.jpg")
        image.steps = [.resize(PixelSize(width: 512, height: 512), .fit)]
        image.output = OutputOptions(format: .jpeg, quality: 80)
        image.timeoutMilliseconds = 10_000
        let load = ClientMessage.load(LoadRequest(token: try #require(token), image: image))
        let example = try frames(of: "Load")
        #expect(try example.clientMessage() == load)
        #expect(try Frames(load) == example)
    }

    @Test func theExampleOfAReplyIsTrue() throws {
        let incarnation = try #require(Identifier128(hex: "0f1e2d3c4b5a69788796a5b4c3d2e1f0"))
        var timings = StageTimings()
        timings.total = 0.25
        let image = DeliveredImage(
            reference: BlockReference(
                producer: .init(kind: .cache, incarnation: Incarnation(incarnation)),
                arena: .results, segment: 1, offset: 64, length: 37_000, block: BlockID(77)),
            info: ImageInfo(format: .jpeg, size: PixelSize(width: 512, height: 418)),
            cacheType: .memory, key: key)
        let reply = ServerMessage.reply(
            Reply(token: try #require(token), outcome: .image(image), timings: timings))
        let example = try frames(of: "Reply")
        #expect(try example.serverMessage() == reply)
        #expect(try Frames(reply) == example)
    }

    @Test func theExampleOfARefusalIsTrue() throws {
        let example = try frames(of: "Versions")
        #expect(example.header == VersionRefusal.header)
        #expect(example.body == VersionRefusal.body)
        #expect(throws: WireError.versionRefused(lowest: 1, highest: 1)) {
            try example.serverMessage()
        }
    }
}
