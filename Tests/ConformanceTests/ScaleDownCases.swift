import ImageModel
import Imagebus
import StackKit
import TestKit
import Testing

extension Conformance {
    /// Limits of bytes, and the words for a decoder (SEMANTICS §11.18).
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
            for (x, y, colour) in corners {
                #expect(isClose(pixels.at(x, y), colour), "\(path) at \(x), \(y)")
            }
            // It wins over a thumbnail.
            let both = try await load(path, [limit, "image-thumbnail-pixel-size=40x40"])
            #expect(both.size == "1000x1000")
        }

        @Test func case012_aTurnedImageIsScaledDownAsItIsDisplayed() async throws {
            let jpeg = try Images.quadrants(width: 400, height: 200).jpeg(quality: 95)
            origin.route("/turned.jpg", .bytes(jpeg.withEXIF(orientation: 6)))
            let pixels = try await load(
                "/turned.jpg", ["image-scale-down-limit-bytes=\(100 * 200 * 4)"])
            #expect(pixels.size == "100x200")
            // Turned clockwise by a quarter: what was bottom left is top left (EXIF 2.3).
            #expect(isClose(pixels.at(10, 10), Images.blue))
            #expect(isClose(pixels.at(90, 10), Images.red))
        }

        @Test func case020_wordsForTheDecoderSayWhatOptionsOfTheirOwnSay() async throws {
            origin.route("/words.png", .bytes(try Images.quadrants().png()))
            let words = "image-decode-options=thumbnail-pixel-size=40x40,preserve-aspect-ratio=no"
            #expect(try await load("/words.png", [words]).size == "40x40")
            // An option of its own wins, whichever stands first.
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

        /// Automatic, always and never: what is asked for has its colours right, and what is not is
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

        /// The rows of upstream's coder tests: 60 MiB, 1029 rows to the last one, one pixel, and
        /// small images as they are.
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
            #expect(small.size == "1029x1029")
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
            // Nothing is wasted: a column more would be too many, and the ratio is the source's.
            #expect((width + 2) * (height + 2) * 4 > 60 << 20)
            #expect(abs(Double(width) / Double(height) - 5_250.0 / 3_450) < 0.001)
            let suffix = "-ImagebusScaleDownTransformer(62914560.000000)-Imagebus(jpeg).jpg"
            #expect(answer["key"]?.text == origin.url("/huge") + suffix)
            let small = try stack.answer(origin.url("/small.png"), option)
            #expect(small["width"]?.integer == 400 && small["height"]?.integer == 300)
        }
    }
}
