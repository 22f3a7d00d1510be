import ImageModel
import Imagebus
import TestKit
import Testing

extension RealProcesses {
    /// Images of each format with wrong bytes in them.
    @Suite struct MutatedImageTests {
        /// How a load of one may end. A wrong byte need not be noticed: then it is an image.
        private static let wanted: Set<ErrorCode> = [
            .badImageData, .unsupportedFormat, .limitExceeded,
        ]

        @Test func everyMutationIsAnsweredAndNoFormatStopsAnother() async throws {
            let count = Effort.count("MUTATIONS", short: 240, long: 10_000)
            var random = Effort.generator("mutated images")
            let origin = OriginServer()
            let files = try Self.files()
            try await withStack(["--allow-private-networks", "--vector", "1"]) { stack in
                let client = try stack.client()
                var ends: [String: Int] = [:]
                for number in 0..<count {
                    let file = files[number % files.count]
                    let mutated = Self.mutated(file.bytes, &random)
                    let path = "/\(number).\(file.name)"
                    origin.route(path, .bytes(mutated))
                    let end = await Self.end(client, origin.url(path))
                    ends["\(file.name) \(end.map { "\($0)" } ?? "whole")", default: 0] += 1
                    #expect(end.map(Self.wanted.contains) ?? true, "\(path): \(ends)")
                }
                print("mutated images: \(ends.sorted { $0.key < $1.key })")
                for file in files {
                    origin.route("/\(file.name)", .bytes(file.bytes))
                    #expect(await Self.end(client, origin.url("/\(file.name)")) == nil, "\(file)")
                }
                try await stack.awaitIdle()
            }
        }

        /// Nil for an image.
        private static func end(_ client: ImagebusClient, _ url: String) async -> ErrorCode? {
            do throws(ImageError) {
                _ = try await client.load(ImageRequest(url, fit: 16, format: .png)).response
                return nil
            } catch {
                return error.code
            }
        }

        private static func files() throws -> [(name: String, bytes: [UInt8])] {
            let folder = TemporaryDirectory()
            let image = try Images.waves(width: 96, height: 64).png()
            let png = folder.write(image, to: "a.png")
            let icon = folder.file("a.ico")
            try Tool.run(["icotool", "-c", "-o", icon, png])
            try Tool.run(["convert", png, "BMP3:\(folder.file("a.bmp"))"])
            let others = try ["ico", "bmp"].map { name in
                (name, try #require(FileBytes.read(folder.file("a.\(name)"))))
            }
            let drawings = [("svg", Drawings.svgQuarters()), ("pdf", Drawings.pdfQuarters())]
            let coded = try ["jpg", "png", "webp", "gif", "tif", "heic", "avif", "jxl"].map {
                name in
                let file = folder.file("b.\(name)")
                let isHEIF = name == "heic" || name == "avif"
                try Tool.run(["vips", "copy", png, file + (isHEIF ? "[effort=0]" : "")])
                return (name, try #require(FileBytes.read(file)))
            }
            return coded + others + drawings
        }

        /// A few bytes are others, and of one in four the end is missing.
        private static func mutated(
            _ bytes: [UInt8], _ random: inout SeededGenerator
        ) -> [UInt8] {
            var bytes = bytes
            // What is known by its signature stays known.
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let place = Int.random(in: 16..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            guard random.happens(25) else { return bytes }
            return Array(bytes.prefix(Int.random(in: 17..<bytes.count, using: &random)))
        }
    }
}
