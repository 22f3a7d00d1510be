import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// Animations requested with all frames (SEMANTICS §11.32), compared with other decoders.
    @Suite struct AnimatedResultCases {
        private let origin = OriginServer()

        private func serve(_ name: String) throws -> AnimatedFile {
            let file = try AnimatedFile(generated: name)
            origin.route("/\(name)", .bytes(file.bytes))
            return file
        }

        private func request(_ name: String, _ format: ImageFormat?) -> ImageRequest {
            var request = ImageRequest(url: origin.url("/\(name)"))
            request.steps = [
                .resize(PixelSize(width: 20, height: 16), .stretch, enlarges: true)
            ]
            request.options = .transformAnimatedImage
            request.output.format = format
            request.output.lossless = format == .webp
            return request
        }

        private func read(_ bytes: [UInt8]?, as fileExtension: String) throws -> AnimatedFile {
            let folder = TemporaryDirectory()
            let path = folder.write(try #require(bytes), to: "made.\(fileExtension)")
            return try AnimatedFile(at: path, in: folder)
        }

        /// A single frame after the same steps, as RGBA.
        private func alone(_ index: Int, _ name: String) async throws -> Pixels {
            var request = request(name, .png)
            request.options = []
            request.frame = index
            let response = try await SharedStack.current.client().load(request).response
            return try Pixels(decoding: #require(response.bytes?.array))
        }

        @Test(
            arguments: ["mixed.apng", "kept.gif", "mixed.webp"],
            [(ImageFormat.webp, "webp"), (.png, "apng")])
        func case105_eachFrameOfAnAnimationPassesThroughTheSteps(
            name: String, output: (format: ImageFormat, fileExtension: String)
        ) async throws {
            let file = try serve(name)
            let client = try SharedStack.current.client()
            let image = try await client.load(request(name, output.format)).response
            #expect(image.info?.stillOf == nil && image.info?.format == output.format)
            #expect(image.key.contains("Frames(all)-"))
            let found = try read(image.bytes?.array, as: output.fileExtension)
            #expect(found.plays == file.plays && image.info?.pages == found.frames.count)
            let shown = file.stated.map { $0 < 11_000 ? 100_000 : $0 }
            // Frames that are identical after the steps may be merged.
            let places = try #require(
                found.frames(shownIn: shown), "\(found.stated) of \(shown)")
            for index in [0, 1, 4, file.frames.count - 1] {
                let wanted = try await alone(index, name)
                #expect(found.width == 20 && found.height == 16 && wanted.size == "20x16")
                let wrong = (0..<20 * 16).count { pixel in
                    let produced = found.frames[places[index]]
                    let frame = Array(produced[4 * pixel..<4 * pixel + 4])
                    let sample = Array((wanted.at(pixel % 20, pixel / 20) + [255]).prefix(4))
                    return frame != sample && (frame[3] != 0 || sample[3] != 0)
                }
                #expect(wrong == 0, "\(name), frame \(index)")
            }
        }

        @Test func withoutTheOptionOrTheFramesItIsTheFirstOne() async throws {
            let file = try serve("kept.gif")
            let client = try SharedStack.current.client()
            var plain = request("kept.gif", .webp)
            plain.options = []
            let still = try await client.load(plain).response
            #expect(still.info?.pages == 1 && still.info?.stillOf == file.frames.count)
            let jpeg = try await client.load(request("kept.gif", .jpeg)).response
            #expect(jpeg.info?.pages == 1 && jpeg.info?.stillOf == file.frames.count)
            #expect(!jpeg.key.contains("Frames(all)"))
            origin.route("/still.png", .bytes(try Images.quadrants().png()))
            let one = try await client.load(request("still.png", .webp)).response
            #expect(one.info?.pages == 1 && one.info?.stillOf == nil)
        }

        @Test func case088_fiveFramesOfATenthOfASecondAreAGIF() async throws {
            let file = try serve("five.apng")
            #expect(file.stated == [Int](repeating: 100_000, count: 5))
            let client = try SharedStack.current.client()
            let image = try await client.load(request("five.apng", .gif)).response
            let found = try read(image.bytes?.array, as: "gif")
            #expect(found.frames.count == 5 && found.plays == 0)
            #expect(found.stated == file.stated)
            #expect(image.info?.pages == 5)
        }

        @Test func case010_anAnimationIsKeptInItsTiersAsAStillImageIs() async throws {
            let file = try serve("half.apng")
            let stack = try SharedStack.current
            let client = try stack.client()
            var request = request("half.apng", .png)
            request.options.insert(.waitStoreCache)
            let produced = try await client.load(request).response
            #expect(produced.cacheType == CacheTypes.none)
            for tier in [CacheTypes.memory, .disk] {
                if tier == .disk {
                    _ = try await stack.operatorClient().clear(.memory)
                }
                let hit = try await client.load(request).response
                #expect(hit.cacheType == tier)
                #expect(hit.bytes?.array == produced.bytes?.array)
                #expect(hit.info?.pages == file.frames.count && hit.info?.stillOf == nil)
            }
            #expect(origin.requestCount("/half.apng") == 1)
        }

        /// The last frame is cut off, which makes loads of all frames fail and later ones be
        /// refused. Its still and its whole frames are as another decoder reads them.
        @Test func aFailedAnimationRefusesOnlyAnimations() async throws {
            let file = try AnimatedFile(generated: "kept.gif")
            origin.route("/cut.gif", .bytes(Array(file.bytes.prefix(file.bytes.count * 9 / 10))))
            let client = try SharedStack.current.client()
            #expect(await client.load(request("cut.gif", .webp)).errorCode == .badImageData)
            for frame in [nil, 0, 1] as [Int?] {
                var single = ImageRequest(url: origin.url("/cut.gif"))
                single.frame = frame
                single.output.format = .png
                let bytes = try await client.load(single).response.bytes
                let found = try Pixels(decoding: #require(bytes?.array))
                #expect(found.size == "\(file.width)x\(file.height)")
                #expect(SeenPixels.areSame(rgba(found), file.frames[frame ?? 0]))
            }
            #expect(await client.load(request("cut.gif", .webp)).errorCode == .blacklisted)
        }

        private func rgba(_ pixels: Pixels) -> [UInt8] {
            (0..<pixels.width * pixels.height).flatMap { place in
                Array((pixels.at(place % pixels.width, place / pixels.width) + [255]).prefix(4))
            }
        }

        /// Alone, or together with the option for all frames, it delivers one frame: the one that
        /// another decoder finds first in the source.
        @Test(arguments: ["kept.gif", "mixed.apng", "mixed.webp"])
        func theFirstFrameOnlyIsOneFrame(name: String) async throws {
            let file = try serve(name)
            let client = try SharedStack.current.client()
            for options: RequestOptions in [
                .decodeFirstFrameOnly, [.decodeFirstFrameOnly, .transformAnimatedImage],
            ] {
                var first = ImageRequest(url: origin.url("/\(name)"))
                first.options = options
                let plain = try await client.load(first).response
                #expect(try pillowFrames(plain.bytes?.array).count == 1, "\(plain.key)")
                first.output.format = .png
                let image = try await client.load(first).response
                let frames = try pillowFrames(image.bytes?.array)
                #expect(frames.count == 1 && image.info?.pages == 1)
                #expect(SeenPixels.areSame(frames[0], file.frames[0]), "\(image.key)")
            }
        }

        /// The frames of a file that Pillow finds, as RGBA.
        private func pillowFrames(_ bytes: [UInt8]?) throws -> [[UInt8]] {
            let folder = TemporaryDirectory()
            let input = folder.write(try #require(bytes), to: "made")
            let raw = try Tool.run([
                "python3", "-c",
                """
                import sys; from PIL import Image
                image = Image.open(sys.argv[1])
                for index in range(getattr(image, 'n_frames', 1)):
                    image.seek(index)
                    sys.stdout.buffer.write(image.convert('RGBA').tobytes())
                """, input,
            ])
            let count = 4 * 37 * 29
            try #require(raw.count >= count && raw.count % count == 0)
            return stride(from: 0, to: raw.count, by: count).map { Array(raw[$0..<$0 + count]) }
        }

        /// animatedImageClass: all frames, or one; by itself it doesn't require an animation.
        @Test func theClassOfAnAnimationIsAllItsFramesOrOne() async throws {
            let file = try serve("mixed.apng")
            origin.route("/no-frames.png", .bytes(try Images.quadrants().png()))
            let (moving, still) = (origin.url("/mixed.apng"), origin.url("/no-frames.png"))
            let stack = try SharedStack.current
            func get(_ url: String, _ word: String, _ more: [String] = []) throws -> JSONValue {
                let context = ["--context", "animated-image-class=\(word)"]
                return try stack.answer(
                    url, ["--resize", "20x20", "--format", "webp"] + context + more)
            }
            #expect(try get(moving, "animated")["pages"]?.integer == file.frames.count)
            #expect(try get(still, "animated")["pages"]?.integer == 1)
            let one = try get(moving, "still", ["--animated"])
            #expect(one["pages"]?.integer == 1)
            #expect(one["stillOf"]?.integer == file.frames.count)
            let match = ["--option", "match-animated-image-class"]
            #expect(try get(moving, "animated", match)["pages"]?.integer == file.frames.count)
            #expect(try get(moving, "still", match)["pages"]?.integer == 1)
            #expect(try get(still, "still", match)["status"]?.text == "ok")
            let refused = try stack.get(
                [still, "--resize", "20x20", "--context", "animated-image-class=animated"] + match)
            #expect(refused.exitStatus == 65, "\(refused)")
            let client = try stack.client()
            var request = ImageRequest(url: moving)
            request.context.others["animated-image-class"] = "still"
            await #expect { try await client.load(request).response } throws: {
                ($0 as? ImageError)?.code == .invalidRequest
            }
        }

        @Test func theFirstFrameWinsOverAllFrames() async throws {
            let file = try serve("mixed.apng")
            let stack = try SharedStack.current
            var both = request("mixed.apng", .webp)
            both.options.insert(.decodeFirstFrameOnly)
            let still = try await stack.client().load(both).response
            #expect(still.info?.pages == 1 && still.info?.stillOf == file.frames.count)
            let wanted = ["--animated", "--resize", "20x20", "--format", "webp"]
            let all = try stack.answer(both.url, wanted)
            #expect(all["pages"]?.integer == file.frames.count)
            for word in ["image-decode-options", "image-encode-options"] {
                let one = try stack.answer(
                    both.url, wanted + ["--context", "\(word)=first-frame-only=yes"])
                #expect(one["pages"]?.integer == 1, "\(word)")
            }
            let end = try stack.get([both.url, "--animated", "--frame", "1"])
            #expect(end.exitStatus == 64, "\(end)")
        }
    }
}
