import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// Limits of bytes, and decoding options (SEMANTICS §11.18).
    @Suite struct ScaleDownCases {
        private let origin = OriginServer()

        private func load(_ path: String, _ context: [String]) async throws -> Pixels {
            var request = ImageRequest(url: origin.url(path))
            request.output.format = .png
            let settings = try context.map { text in
                let parts = text.split(separator: "=", maxSplits: 1)
                let key = try #require(ContextKey(rawValue: String(parts[0])))
                return try ContextSetting(key, String(parts[1]))
            }
            ContextSetting.apply(settings, to: &request)
            let image = try await SharedStack.current.client().load(request).response
            return try Pixels(decoding: try #require(image.bytes).array)
        }

        @Test(arguments: ["/large.jpg", "/large.png", "/large.webp"])
        func case011_anImageIsScaledDownToTheLimit(path: String) async throws {
            let large = Images.quadrants(width: 2_000, height: 2_000)
            origin.route("/large.jpg", .bytes(try large.jpeg(quality: 90)))
            origin.route("/large.png", .bytes(try large.png()))
            origin.route("/large.webp", .bytes(try large.webp(quality: 90)))
            let limit = "image-scale-down-limit-bytes=\(1_000 * 1_000 * 4)"
            let pixels = try await load(path, [limit])
            #expect(pixels.size == "1000x1000")
            let corners = [
                (10, 10, Images.red), (990, 10, Images.green), (10, 990, Images.blue),
                (990, 990, Images.yellow),
            ]
            for (x, y, color) in corners {
                #expect(isClose(pixels.at(x, y), color), "\(path) at \(x), \(y)")
            }
            // It takes precedence over a thumbnail.
            let both = try await load(path, [limit, "image-thumbnail-pixel-size=40x40"])
            #expect(both.size == "1000x1000")
        }

        @Test func case012_aTurnedImageIsScaledDownAsItIsDisplayed() async throws {
            let jpeg = try Images.quadrants(width: 400, height: 200).jpeg(quality: 95)
            origin.route("/turned.jpg", .bytes(jpeg.withEXIF(orientation: 6)))
            let pixels = try await load(
                "/turned.jpg", ["image-scale-down-limit-bytes=\(100 * 200 * 4)"])
            #expect(pixels.size == "100x200")
            // Rotated clockwise by 90 degrees: bottom left becomes top left (EXIF 2.3).
            #expect(isClose(pixels.at(10, 10), Images.blue))
            #expect(isClose(pixels.at(90, 10), Images.red))
        }

        @Test func case020_wordsForTheDecoderSayWhatOptionsOfTheirOwnSay() async throws {
            origin.route("/words.png", .bytes(try Images.quadrants().png()))
            let words = "image-decode-options=thumbnail-pixel-size=40x40,preserve-aspect-ratio=no"
            #expect(try await load("/words.png", [words]).size == "40x40")
            // A separate option takes precedence, whichever comes first.
            for context in [
                [words, "image-thumbnail-pixel-size=20x20"],
                ["image-thumbnail-pixel-size=20x20", words],
            ] {
                #expect(try await load("/words.png", context).size == "20x15")
            }
            let limit = "image-decode-options=scale-down-limit-bytes=4,use-lazy-decoding=no"
            #expect(try await load("/words.png", [limit]).size == "1x1")
            #expect(throws: ContextSettingError.self) {
                try ContextSetting(.imageDecodeOptions, "sharpness=3")
            }
        }

        /// Automatic, always and never: requested images have the right colors, and others are
        /// never made.
        @Test func case022_noPolicyChangesThePixels() async throws {
            origin.route("/policy.png", .bytes(try Images.quadrants().png()))
            let plain = try await load("/policy.png", ["image-thumbnail-pixel-size=50x50"])
            for policy in ["automatic", "never", "always"] {
                let pixels = try await load(
                    "/policy.png",
                    [
                        "image-force-decode-policy=\(policy)",
                        "image-type-identifier-hint=public.png",
                        "image-thumbnail-pixel-size=50x50",
                    ])
                #expect(pixels == plain, "\(policy)")
            }
        }

        /// The values of SDWebImage's coder tests: 60 MiB, 1029 rows including the last one, one
        /// pixel, and small images unchanged.
        @Test func case077_theLimitHoldsAndNoRowIsMissing() async throws {
            let side = 1_029
            var samples = [UInt8](repeating: 200, count: side * side * 3)
            let last = 4 * side * 3
            samples.replaceSubrange(
                (samples.count - last)..., with: repeatElement(20, count: last))
            let odd = Pixels(width: side, height: side, bands: 3, samples: samples)
            origin.route("/odd.png", .bytes(try odd.png()))
            let half = try await load("/odd.png", ["image-scale-down-limit-bytes=\(514 * 514 * 4)"])
            #expect(half.size == "514x514")
            #expect(isClose(half.at(257, 513), [20, 20, 20]))
            #expect(isClose(half.at(257, 500), [200, 200, 200]))
            let one = try await load("/odd.png", ["image-scale-down-limit-bytes=1"])
            #expect(one.size == "1x1")
            let small = try await load("/odd.png", ["image-scale-down-limit-bytes=\(60 << 20)"])
            #expect(small == odd)
        }

        /// Beyond SDWebImage's default limit the whole image is still visible.
        @Test func scaleDownLargeImagesShowsAllOfTheImage() async throws {
            let large = Images.quadrants(width: 5_000, height: 4_000)
            origin.route("/beyond.png", .bytes(try large.png()))
            var request = ImageRequest(url: origin.url("/beyond.png"))
            request.options = .scaleDownLargeImages
            let image = try await SharedStack.current.client().load(request).response
            let pixels = try Pixels(decoding: #require(image.bytes).array)
            #expect(pixels.width * pixels.height * 4 <= 60 << 20 && pixels.width < 5_000)
            let (right, bottom) = (pixels.width - 1, pixels.height - 1)
            #expect(isClose(pixels.at(0, 0), Images.red))
            #expect(isClose(pixels.at(right, 0), Images.green))
            #expect(isClose(pixels.at(0, bottom), Images.blue))
            #expect(isClose(pixels.at(right, bottom), Images.yellow))
            let (x, y) = (pixels.width / 2, pixels.height / 2)
            #expect(isClose(pixels.at(x - 3, y - 3), Images.red))
            #expect(isClose(pixels.at(x + 3, y + 3), Images.yellow))
        }

        @Test(.enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"))
        func scaleDownLargeImagesMeans60MiB() async throws {
            let large = try #require(Fixtures.bytes("images/TestImageLarge.jpg"))
            origin.route("/huge.jpg", .bytes(large))
            origin.route("/small.png", .bytes(try Images.quadrants().png()))
            let stack = try SharedStack.current
            let option = ["--option", "scale-down-large-images", "--format", "jpeg"]
            let answer = try stack.answer(origin.url("/huge.jpg"), option)
            let width = try #require(answer["width"]?.integer)
            let height = try #require(answer["height"]?.integer)
            #expect(width * height * 4 <= 60 << 20 && width < 5_250 && height < 3_450)
            // The size is the largest possible: one more column would exceed the limit, and the
            // aspect ratio is the source's.
            #expect((width + 2) * (height + 2) * 4 > 60 << 20)
            #expect(abs(Double(width) / Double(height) - 5_250.0 / 3_450) < 0.001)
            let suffix = "-ImagebusScaleDownTransformer(62914560.000000)-Imagebus(jpeg).jpg"
            #expect(answer["key"]?.text == origin.url("/huge") + suffix)
            let small = try stack.answer(origin.url("/small.png"), option)
            #expect(small["width"]?.integer == 400 && small["height"]?.integer == 300)
        }

        /// Within the limit, or in a box that is larger than the image, nothing is encoded.
        @Test(arguments: [
            ["--option", "scale-down-large-images"],
            ["--context", "image-scale-down-limit-bytes=480000"],
            ["--thumbnail", "400x300"], ["--thumbnail", "5000x5000"],
        ])
        func aFileThatIsNotReducedComesAsItIs(option: [String]) async throws {
            let image = Images.quadrants()
            let files = [
                "/kept.jpg": try image.jpeg(quality: 60).withEXIF(orientation: 3),
                "/kept.png": try image.png(), "/kept.webp": try image.webp(quality: 60),
                "/kept.gif": Images.animatedGIF,
            ]
            let folder = TemporaryDirectory()
            for (path, bytes) in files {
                origin.route(path, .bytes(bytes))
                let out = folder.file("out")
                let answer = try SharedStack.current.answer(
                    origin.url(path), ["-o", out] + option)
                #expect(answer["stillOf"] == .null, "\(path)")
                #expect(FileBytes.read(out) == bytes, "\(path)")
            }
            let reduced = try SharedStack.current.answer(
                origin.url("/kept.jpg"), ["--thumbnail", "399x300"])
            #expect(reduced["width"]?.integer == 399)
        }

        /// As a rule for all images: small images, animations and drawings are delivered unchanged.
        @Test func aRuleForAllImagesChangesOnlyLargeOnes() async throws {
            let large = Images.quadrants(width: 5_000, height: 4_000)
            let drawing = Array(
                #"<svg xmlns="http://www.w3.org/2000/svg" width="9000" height="9000"/>"#.utf8)
            let files = [
                "/rule.jpg": try Images.quadrants().jpeg(quality: 60),
                "/rule.gif": Images.animatedGIF, "/rule.svg": drawing,
            ]
            for (path, bytes) in files { origin.route(path, .bytes(bytes)) }
            origin.route("/rule.png", .bytes(try large.png()))
            let text = """
                profiles:
                  default:
                    rules: [{match: "http://*/rule*", options: {scale-down-large-images: yes}}]
                """
            let folder = TemporaryDirectory()
            let file = folder.write(Array(text.utf8), to: "imagebus.yaml")
            try await withStack(
                ["--allow-private-networks", "--config", file], decoders: 1
            ) { stack in
                let client = try stack.client()
                for (path, bytes) in files {
                    let image = try await client.load(origin.url(path)).response
                    #expect(image.bytes?.array == bytes, "\(path)")
                }
                let reduced = try await client.load(origin.url("/rule.png")).response
                let size = try #require(reduced.info?.size)
                #expect(size.width < 5_000 && size.width * size.height * 4 <= 60 << 20)
            }
        }

        /// An animation that is only reduced keeps its frames, durations and loop count. Each frame
        /// is compared with the source's frame as reduced by Pillow.
        @Test(arguments: [
            ["--context", "image-scale-down-limit-bytes=400"], ["--thumbnail", "10x10"],
        ])
        func anAnimationThatIsReducedKeepsItsFrames(option: [String]) async throws {
            let file = try AnimatedFile(generated: "mixed.apng")
            origin.route("/mixed.apng", .bytes(file.bytes))
            let stack = try SharedStack.current
            let folder = TemporaryDirectory()
            let out = folder.file("out.apng")
            let url = origin.url("/mixed.apng")
            let answer = try stack.answer(url, ["--format", "png", "-o", out] + option)
            let width = try #require(answer["width"]?.integer)
            #expect(width <= 10 && answer["stillOf"] == .null)
            let found = try AnimatedFile(at: out, in: folder)
            #expect(found.plays == file.plays)
            let shown = file.stated.map { $0 < 11_000 ? 100_000 : $0 }
            #expect(found.stated.reduce(0, +) == shown.reduce(0, +))
            #expect(answer["pages"]?.integer == found.frames.count && found.frames.count > 1)
            // Frames that are identical after the reduction may be merged.
            let places = try #require(found.frames(shownIn: shown), "\(found.stated), \(shown)")
            let reduced = try Self.reduced(file, to: (found.width, found.height))
            for (index, wanted) in reduced.enumerated() {
                let difference = Self.meanDifference(found.frames[places[index]], wanted)
                // Of 255. Scalers treat edges differently, which makes 4; the means of squares
                // differ by 9, and the nearest pixels by 35, in frames with details.
                #expect(difference <= 5, "frame \(index): \(difference)")
            }
            // If only one frame is requested, or the format doesn't support frames, the result is a
            // still image.
            let first = ["--option", "decode-first-frame-only"]
            for still in [first, ["--format", "jpeg"]] {
                let answer = try stack.answer(url, option + still)
                #expect(answer["pages"]?.integer == 1)
                #expect(answer["stillOf"]?.integer == file.frames.count)
                #expect(answer["width"]?.integer == width)
            }
        }

        /// The frames of a file, each reduced by Pillow.
        private static func reduced(
            _ file: AnimatedFile, to size: (width: Int, height: Int)
        ) throws -> [[UInt8]] {
            let folder = TemporaryDirectory()
            let raw = folder.write(file.frames.flatMap { $0 }, to: "raw")
            let all = try Tool.run([
                "python3", RepositoryRoot.file("Tests/Images/reduced_frames.py"), raw,
                "\(file.width)", "\(file.height)", "\(size.width)", "\(size.height)",
            ])
            let count = 4 * size.width * size.height
            try #require(all.count == count * file.frames.count)
            return file.frames.indices.map { Array(all[$0 * count..<($0 + 1) * count]) }
        }

        /// The mean difference between the samples of two RGBA images, with colors multiplied by
        /// alpha.
        private static func meanDifference(_ one: [UInt8], _ other: [UInt8]) -> Double {
            guard one.count == other.count, !one.isEmpty else { return 255 }
            var sum = 0
            for pixel in stride(from: 0, to: one.count, by: 4) {
                let alphas = (Int(one[pixel + 3]), Int(other[pixel + 3]))
                sum += abs(alphas.0 - alphas.1)
                for band in pixel..<pixel + 3 {
                    sum += abs(Int(one[band]) * alphas.0 - Int(other[band]) * alphas.1) / 255
                }
            }
            return Double(sum) / Double(one.count)
        }
    }
}
