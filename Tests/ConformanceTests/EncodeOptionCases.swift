import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// Encoding options (SEMANTICS §11.23). ImageMagick reads the resulting files.
    @Suite struct EncodeOptionCases {
        private let origin = OriginServer()

        private func load(
            _ path: String, _ words: String, _ change: (inout ImageRequest) -> Void
        ) async throws -> ImageResponse {
            var request = ImageRequest(url: origin.url(path))
            change(&request)
            let setting = try ContextSetting(.imageEncodeOptions, words)
            ContextSetting.apply([setting], to: &request)
            return try await SharedStack.current.client().load(request).response
        }

        /// The output of `identify` for the image, such as its estimate of a JPEG's quality (`%Q`).
        private func identify(_ image: ImageResponse, _ format: String) throws -> String {
            let bytes = try #require(image.bytes).array
            let text = try Tool.run(
                ["identify-im6.q16", "-format", format, "-"], input: bytes)
            return String(decoding: text, as: UTF8.self)
        }

        @Test func case006_theResultAndItsFileObeyTheWordsForTheEncoder() async throws {
            origin.route("/a.png", .bytes(try Images.quadrants().png()))
            let words = "max-pixel-size=40x40,compression-quality=0.35"
            func asked(_ request: inout ImageRequest) {
                request.steps = [.flip(horizontal: true, vertical: false)]
                request.output.format = .jpeg
                request.options = .waitStoreCache
            }
            let produced = try await load("/a.png", words, asked)
            #expect(produced.cacheType == .none)
            #expect(try identify(produced, "%wx%h %Q") == "40x30 35")
            // The disk entry has it as well; memory isn't queried.
            let stored = try await load("/a.png", words) { request in
                asked(&request)
                request.queryCacheTypes = .disk
                request.options.insert(.fromCacheOnly)
            }
            #expect(stored.cacheType == .disk)
            #expect(stored.bytes?.array == produced.bytes?.array)
            // The options are part of the key: other options give a different image.
            let other = try await load("/a.png", "compression-quality=0.9", asked)
            #expect(try identify(other, "%wx%h %Q") == "400x300 90")
            #expect(other.key != produced.key)
        }

        /// SDWebImage's example: 5250x3450 in 4000x4000 is 4000x2629, here at a tenth of the size.
        /// Images are never enlarged.
        @Test func theSizeIsFittedIntoTheBoxAndNeverEnlarged() async throws {
            origin.route("/large.png", .bytes(try Images.quadrants(width: 525, height: 345).png()))
            for (box, size) in [
                ("400x400", "400x263"), ("1000x1000", "525x345"), ("0x0", "525x345"),
            ] {
                let image = try await load("/large.png", "max-pixel-size=\(box)") {
                    $0.steps = [.flip(horizontal: true, vertical: false)]
                }
                #expect(try identify(image, "%wx%h") == size, "\(box)")
            }
        }

        /// SDWebImage's pixel at 1, 1 of a transparent PNG as JPEG over black.
        @Test func theBackgroundIsBehindWhatIsTransparent() async throws {
            let clear = Pixels(
                width: 16, height: 16, bands: 4, samples: [UInt8](repeating: 0, count: 1_024))
            origin.route("/clear.png", .bytes(try clear.png()))
            let black = try await load("/clear.png", "background-color=#000000") {
                $0.output.format = .jpeg
            }
            let pixels = try Pixels(decoding: try #require(black.bytes).array)
            #expect(isClose(Array(pixels.at(1, 1).prefix(3)), [0, 0, 0], by: 2))
            // A format with transparency needs no background, and ignores it.
            let png = try await load("/clear.png", "background-color=#000000") {
                $0.output.format = .png
            }
            #expect(try identify(png, "%[pixel:p{1,1}]") == "srgba(0,0,0,0)")
        }

        @Test func aFileHasAtMostSoManyBytes() async throws {
            origin.route("/noise.png", .bytes(try Images.noise(width: 200, height: 200).png()))
            let image = try await load(
                "/noise.png", "max-file-size=9000,compression-quality=1"
            ) { $0.output.format = .jpeg }
            let count = try #require(image.bytes).count
            // Half as many bytes would mean a much lower quality.
            #expect(count <= 9_000 && count > 4_500)
        }

        /// A separate option takes precedence, as with decoding options.
        @Test func theRequestsOwnOutputWins() async throws {
            origin.route("/own.png", .bytes(try Images.quadrants().png()))
            let image = try await load("/own.png", "compression-quality=0.2") {
                $0.output = OutputOptions(format: .jpeg, quality: 60)
            }
            #expect(try identify(image, "%Q") == "60")
        }

        /// The options only apply if something is encoded; they don't cause encoding.
        @Test func withoutStepsTheSourceComesAsItIs() async throws {
            let bytes = try Images.quadrants().jpeg(quality: 90)
            origin.route("/plain.jpg", .bytes(bytes))
            let image = try await load(
                "/plain.jpg", "compression-quality=0.1,max-pixel-size=10x10"
            ) { _ in }
            #expect(image.bytes?.array == bytes)
        }

        /// ExifTool extracts the thumbnail, which is a separate image.
        @Test func case085_aThumbnailIsInTheFileWhereItIsAskedFor() async throws {
            origin.route("/a.png", .bytes(try Images.quadrants().png()))
            func asked(_ request: inout ImageRequest) {
                request.steps = [.flip(horizontal: true, vertical: false)]
                request.output.format = .jpeg
            }
            func thumbnail(_ image: ImageResponse) throws -> [UInt8] {
                try Tool.run(
                    ["exiftool", "-b", "-a", "-ThumbnailImage", "-"],
                    input: try #require(image.bytes).array)
            }
            let with = try await load("/a.png", "embed-thumbnail=yes,max-pixel-size=320x320", asked)
            let small = try Pixels(decoding: thumbnail(with))
            #expect(small.width == 160 && small.height == 120)
            let large = try Pixels(decoding: try #require(with.bytes).array)
            for (x, y) in [(20, 20), (140, 20), (20, 100), (140, 100)] {
                #expect(isClose(small.at(x, y), large.at(2 * x, 2 * y), by: 8), "\(x), \(y)")
            }
            let without = try await load("/a.png", "embed-thumbnail=no", asked)
            #expect(try thumbnail(without).isEmpty)
            #expect(with.key != without.key)
        }

        /// A format without thumbnails gets none; requesting the thumbnail with that format by name
        /// is an error.
        @Test func otherFormatsHaveNoThumbnail() throws {
            origin.route("/b.png", .bytes(try Images.quadrants().png()))
            let stack = try SharedStack.current
            let refused = try stack.get(
                [origin.url("/b.png"), "--format", "png", "--embed-thumbnail"])
            #expect(refused.exitStatus == 64)
            #expect(
                refused.errorText.contains(
                    "png has no setting embed-thumbnail: leave it out, or use jpeg"),
                "\(refused)")
        }

        @Test func wordsThatAreNoneAreRefused() throws {
            for words in [
                "compression-quality=2", "compression-quality=-0.1", "background-color=#80000000",
                "max-pixel-size=10", "max-file-size=-1", "sharpness=3", "", "embed-thumbnail",
            ] {
                #expect(throws: ContextSettingError.self, "\(words)") {
                    try ContextSetting(.imageEncodeOptions, words)
                }
            }
        }

        /// A client that writes the message itself can send arbitrary values.
        @Test func valuesBeyondTheirLimitsAreRefused() async throws {
            let client = try SharedStack.current.client()
            let changes: [(inout EncodeOptions) -> Void] = [
                { $0.quality = 101 }, { $0.maxBytes = 0 },
                { $0.maxPixelSize = PixelSize(width: 0, height: 4) },
            ]
            for change in changes {
                var options = EncodeOptions()
                change(&options)
                var request = ImageRequest(url: origin.url("/none.jpg"))
                request.context.encodeOptions = options
                let code = await client.load(request).errorCode
                #expect(code == .invalidRequest, "\(options)")
            }
        }
    }
}
