import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// Animations composed of several images (SEMANTICS §11.34), compared with other encoders and
    /// decoders.
    @Suite struct AnimateCases {
        private let origin = OriginServer()
        private let folder = TemporaryDirectory()

        /// Encodes one frame of the file per index as PNG. Returns the files and the pixels.
        private func stills(
            _ name: String, _ indexes: [Int]
        ) async throws -> (files: [[UInt8]], pixels: [[UInt8]]) {
            let file = try AnimatedFile(generated: name)
            origin.route("/\(name)", .bytes(file.bytes))
            var files: [[UInt8]] = []
            for index in indexes {
                let pixels = Pixels(
                    width: file.width, height: file.height, bands: 4,
                    samples: file.frames[index])
                files.append(try pixels.png())
            }
            return (files, indexes.map { file.frames[$0] })
        }

        private func read(_ bytes: [UInt8]?, as fileExtension: String) throws -> AnimatedFile {
            let path = folder.write(try #require(bytes), to: "made.\(fileExtension)")
            return try AnimatedFile(at: path, in: folder)
        }

        /// `loss`: how much a palette may change a sample.
        private func expect(
            _ found: AnimatedFile, _ wanted: [[UInt8]], loss: Int = 0
        ) throws {
            try #require(found.frames.count == wanted.count)
            for index in wanted.indices {
                let samples = zip(found.frames[index], wanted[index])
                let most = samples.reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
                #expect(most <= loss, "frame \(index)")
            }
        }

        /// SDWebImage's K27: five frames of a tenth of a second become a GIF, the default format.
        @Test func fiveImagesOfATenthOfASecondAreAGIF() async throws {
            let (files, pixels) = try await stills("five.apng", Array(0..<5))
            let client = try SharedStack.current.client()
            let image = try await client.animation(
                of: files.map { AnimationPart($0, for: .milliseconds(100)) })
            #expect(image.info?.format == .gif && image.info?.pages == 5)
            let found = try read(image.bytes?.array, as: "gif")
            #expect(found.plays == 0 && found.stated == [Int](repeating: 100_000, count: 5))
            try expect(found, pixels, loss: 4)
        }

        @Test(arguments: [(ImageFormat.png, "apng"), (.webp, "webp"), (.gif, "gif")])
        func urlsFramesAndBytesAreJoined(format: ImageFormat, fileExtension: String) async throws {
            let (files, pixels) = try await stills("five.apng", [0, 1, 2])
            origin.route("/one.png", .bytes(files[0]))
            let animation = ImageRequest(url: origin.url("/five.apng"))
            let client = try SharedStack.current.client()
            var frame = animation
            frame.frame = 2
            let parts = [
                AnimationPart(ImageRequest(url: origin.url("/one.png")), for: .milliseconds(40)),
                AnimationPart(files[1], for: .milliseconds(1_230)),
                AnimationPart(frame, for: .seconds(2)),
                AnimationPart(animation, for: .milliseconds(5)),
            ]
            var request = ImageRequest(url: "")
            (request.output.format, request.output.lossless) = (format, format == .webp)
            let image = try await client.animation(of: parts, loops: 7, as: request)
            let found = try read(image.bytes?.array, as: fileExtension)
            #expect(found.plays == 7)
            #expect(found.stated == [40_000, 1_230_000, 2_000_000, 100_000])
            try expect(found, pixels + [pixels[0]], loss: format == .gif ? 4 : 0)
        }

        @Test func theCommandMakesAFileOfFilesAndURLs() async throws {
            let (files, pixels) = try await stills("five.apng", Array(0..<4))
            for (index, file) in files.enumerated() { folder.write(file, to: "\(index).png") }
            origin.route("/3.png", .bytes(files[3]))
            let stack = try SharedStack.current
            let sources = (0..<3).map { folder.file("\($0).png") } + [origin.url("/3.png")]
            let end = try stack.run(
                ["animate"] + sources + [
                    "-o", folder.file("all.webp"), "--lossless", "--duration", "250ms", "--loops",
                    "2", "--json",
                ])
            #expect(end.exitStatus == 0, "\(end)")
            let answer = try end.json()
            #expect(answer["format"]?.text == "webp" && answer["pages"]?.integer == 4)
            #expect(answer["status"]?.text == "ok" && answer["width"]?.integer == 37)
            let found = try AnimatedFile(at: folder.file("all.webp"), in: folder)
            #expect(found.plays == 2 && found.stated == [Int](repeating: 250_000, count: 4))
            try expect(found, pixels)
            let again = try stack.run(
                ["animate"] + sources + [
                    "-o", folder.file("b.gif"), "--resize", "20x16", "--mode",
                    "stretch",
                ])
            #expect(again.outputText.contains("b.gif: gif 20x16, 4 frames, "), "\(again)")
        }

        @Test func whatCannotBeAFrameIsNamedByItsNumber() async throws {
            let (files, _) = try await stills("five.apng", [0])
            folder.write(files[0], to: "0.png")
            folder.write(try Images.quadrants(width: 40, height: 30).png(), to: "other.png")
            let stack = try SharedStack.current
            func failure(_ source: String, _ more: [String] = []) throws -> JSONValue? {
                let end = try stack.run(
                    ["animate", folder.file("0.png"), source, "-o", folder.file("a.gif"), "--json"]
                        + more)
                return try end.json()["error"]
            }
            let size = try failure(folder.file("other.png"))
            #expect(size?["name"]?.text == "stepFailed")
            #expect(size?["details"]?["frame"]?.text == "1")
            #expect(
                size?["message"]?.text?.contains("it is 40x30, but the first one is 37x29") == true)
            let fill = ["--resize", "37x29", "--mode", "fill", "--enlarge"]
            #expect(try failure(folder.file("other.png"), fill)?["name"] == nil)
            let missing = try failure(origin.url("/none.png"))
            #expect(missing?["details"]?["httpStatus"]?.text == "404")
            #expect(missing?["details"]?["frame"]?.text == "1")
            let file = try failure(folder.file("none.png"))
            #expect(file?["name"]?.text == "invalidRequest")
            #expect(file?["details"]?["frame"]?.text == "1")
        }

        @Test func whatCannotBeAnAnimationIsRefusedBeforeAnythingIsLoaded() async throws {
            let client = try SharedStack.current.client()
            let url = ImageRequest(url: origin.url("/never.png"))
            let part = AnimationPart(url, for: .seconds(1))
            var jpeg = ImageRequest(url: "")
            jpeg.output.format = .jpeg
            let cases: [([AnimationPart], Int, ImageRequest, ErrorCode)] = [
                ([], 0, ImageRequest(url: ""), .invalidRequest),
                ([part], -1, ImageRequest(url: ""), .invalidRequest),
                ([part], 65_536, ImageRequest(url: ""), .invalidRequest),
                ([part], 0, jpeg, .invalidRequest), ([part], 0, url, .invalidRequest),
                (
                    [part, AnimationPart(url, for: .zero)], 0, ImageRequest(url: ""),
                    .invalidRequest
                ),
                (
                    [AnimationPart(url, for: .seconds(3_601))], 0, ImageRequest(url: ""),
                    .invalidRequest
                ),
                (
                    Array(repeating: part, count: AnimationProperties.framesMax + 1), 0,
                    ImageRequest(url: ""), .limitExceeded
                ),
            ]
            for (parts, loops, request, code) in cases {
                await #expect {
                    try await client.animation(of: parts, loops: loops, as: request)
                } throws: {
                    ($0 as? ImageError)?.code == code
                }
            }
            #expect(origin.requestCount("/never.png") == 0)
        }

        /// All loads that were started end with the task.
        @Test func cancellingTheTaskCancelsEveryLoad() async throws {
            let gate = Gate()
            let parts = (0..<6).map { index in
                origin.route("/held-\(index).png", .hangBody(until: gate, then: [1]))
                let url = origin.url("/held-\(index).png")
                return AnimationPart(ImageRequest(url: url), for: .seconds(1))
            }
            let stack = try SharedStack.current
            let client = try stack.client()
            let task = Task { try await client.animation(of: parts) }
            _ = try await stack.awaitStatus("four transfers") { report in
                report.stages.contains { $0.stage == "fetch" && $0.running == 4 }
            }
            task.cancel()
            await #expect { try await task.value } throws: {
                ($0 as? ImageError)?.code == .cancelled
            }
            try await stack.awaitNoTransfers()
            gate.open()
        }
    }
}
