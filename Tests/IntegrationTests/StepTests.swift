/// A command line and its expected result.
struct StepCase: Sendable, CustomTestStringConvertible {
    /// The path at the origin and the options.
    let words: [String]
    let size: String
    let format: String
    /// A position in the result and its expected color; any color if none is given.
    let x: Int
    let y: Int
    let color: [UInt8]
    /// nil: the result has no alpha channel.
    let alpha: UInt8?

    /// A line without a path is about `/q.png`.
    init(
        _ line: String, _ size: String, _ format: String = "png", at x: Int, _ y: Int,
        _ color: [UInt8], alpha: UInt8? = nil
    ) {
        let words = line.split(separator: " ").map(String.init)
        self.words = line.hasPrefix("/") ? words : ["/q.png"] + words
        (self.size, self.format) = (size, format)
        (self.x, self.y, self.color, self.alpha) = (x, y, color, alpha)
    }

    var testDescription: String { words.joined(separator: " ") }
}

extension RealProcesses {
    /// Steps and formats that `GoldenStepTests` doesn't compare, on 400x300 pixels: red and green
    /// above, blue and yellow below.
    @Suite struct StepTests {
        static let cases: [StepCase] = [
            StepCase("--resize 200x200 --mode fit", "200x150", at: 180, 20, Images.green),
            StepCase("--resize 800x800 --mode fit", "400x300", at: 20, 280, Images.blue),
            StepCase("--resize 200x", "200x150", at: 180, 20, Images.green),
            StepCase(
                "/q.jpg --resize x150 --mode fill", "200x150", "jpeg", at: 20, 140, Images.blue),
            StepCase(
                "--resize 800x200 --mode fill --no-enlarge", "400x200", at: 390, 190, Images.yellow),
            StepCase(
                "/q.jpg --resize 500x500 --mode letterbox --no-enlarge --format png", "500x500",
                at: 60, 110, Images.red, alpha: 255),
            StepCase(
                "--resize 100x --pad 100x100,northwest --dpr 2", "200x200", at: 190, 140,
                Images.yellow, alpha: 255),
            StepCase("--flip hv", "400x300", at: 20, 20, Images.yellow),
            StepCase("--thumbnail 100x100", "100x75", at: 90, 10, Images.green),
            StepCase("--resize 200x200 --rotate 90", "150x200", at: 10, 10, Images.blue),
            StepCase("--crop 0,0,200,150 --resize 100x100", "100x75", at: 95, 70, Images.red),
            StepCase("--rotate 90 --crop 0,0,100,100 --flip h", "100x100", at: 50, 50, Images.blue),
            StepCase("--crop-to 100x50%,northeast", "100x150", at: 20, 140, Images.green),
            StepCase("--crop-to 40x30,attention", "40x30", at: 0, 0, []),
            StepCase("--crop-to 40x30,entropy", "40x30", at: 0, 0, []),
            StepCase(
                "--pad 500x300,east --flatten #102030", "500x300", at: 20, 20, [0x10, 0x20, 0x30]),
            StepCase("--rotate 30", "497x460", at: 2, 2, [0, 0, 0], alpha: 0),
            StepCase("--sepia --saturation 20", "400x300", at: 20, 20, []),
            StepCase("--invert --brightness 5 --contrast 5 --gamma 1.5", "400x300", at: 20, 20, []),
            StepCase(
                "--color-matrix 0:1:0,1:0:0,0:0:1:0.1 --modulate 1,1.5,90 "
                    + "--monochrome #704214,0.5 --sharpen 1,0.5", "400x300", at: 20, 20, []),
            StepCase("--round 50,4,#000000", "400x300", at: 4, 150, [0, 0, 0], alpha: 255),
            StepCase("--format jpeg", "400x300", "jpeg", at: 380, 280, Images.yellow),
            StepCase("--format jpeg --quality 30", "400x300", "jpeg", at: 100, 200, Images.blue),
            StepCase("--format webp", "400x300", "webp", at: 300, 75, Images.green),
            StepCase("--format webp --lossless", "400x300", "webp", at: 300, 225, Images.yellow),
            StepCase(
                "--format jpeg --progressive --optimize --subsampling 444", "400x300", "jpeg",
                at: 380, 280, Images.yellow),
            StepCase("--format png --colors 4 --dither 0", "400x300", at: 100, 200, Images.blue),
            StepCase("/q.jpg --format png --progressive", "400x300", at: 20, 20, Images.red),
            StepCase(
                "--format webp --effort 0 --near-lossless 100", "400x300", "webp", at: 300, 75,
                Images.green),
            StepCase(
                "/q.jpg --format webp --sharp-yuv --alpha-quality 50", "400x300", "webp", at: 300,
                225, Images.yellow),
            StepCase(
                "--round 50 --format jpeg --background #102030", "400x300", "jpeg", at: 2, 2,
                [0x10, 0x20, 0x30]),
            StepCase("--format avif", "400x300", "avif", at: 300, 75, Images.green),
            StepCase(
                "--round 50 --format avif --lossless", "400x300", "avif", at: 2, 2, [], alpha: 0),
            StepCase(
                "/q.jpg --resize 200x --format avif --effort 0 --subsampling 444", "200x150",
                "avif", at: 20, 140, Images.blue),
            StepCase(
                "/q.jpg --format gif --colors 8 --dither 0 --progressive --effort 1", "400x300",
                "gif", at: 380, 280, Images.yellow),
            StepCase("--round 50 --format gif", "400x300", "gif", at: 2, 2, [], alpha: 0),
            StepCase("--round 50 --format tiff", "400x300", "tiff", at: 2, 2, [], alpha: 0),
            StepCase("/q.jpg --format tiff", "400x300", "tiff", at: 20, 280, Images.blue),
            StepCase("--format jxl", "400x300", "jxl", at: 300, 75, Images.green),
            StepCase(
                "--round 50 --format jxl --lossless --effort 3", "400x300", "jxl", at: 2, 2, [],
                alpha: 0),
            StepCase("/q.jpg --format png", "400x300", at: 100, 75, Images.red),
            StepCase("/q.jpg --resize 100x100", "100x75", "jpeg", at: 80, 60, Images.yellow),
            StepCase("/q.webp --resize 100x100", "100x75", "webp", at: 20, 60, Images.blue),
            StepCase("/q.webp --format jpeg", "400x300", "jpeg", at: 300, 75, Images.green),
            StepCase("/q.gif --format png", "2x2", at: 1, 0, Images.green),
            StepCase(
                "/q.gif --resize 40x40 --mode stretch --format png", "40x40", at: 38, 38,
                Images.yellow),
        ]

        @Test func everyStepModeAndFormatGivesItsImage() async throws {
            let origin = try Self.origin()
            let folder = TemporaryDirectory()
            try await withStack { stack in
                for step in Self.cases {
                    let file = folder.file("out")
                    let words = [origin.url(step.words[0])] + step.words.dropFirst()
                    let end = try stack.get(words + ["-o", file, "--json"]).expect(0)
                    guard end.exitStatus == 0 else { continue }
                    #expect(try end.json()["format"]?.text == step.format, "\(step)")
                    try expectImage(step, try #require(FileBytes.read(file)))
                }
            }
        }

        private func expectImage(_ step: StepCase, _ bytes: [UInt8]) throws {
            let pixels = try Pixels(decoding: bytes)
            #expect(pixels.size == step.size, "\(step)")
            guard pixels.size == step.size, !step.color.isEmpty else { return }
            let found = pixels.at(step.x, step.y)
            if let alpha = step.alpha {
                #expect(found.count == 4 && found.last == alpha, "\(step): \(found)")
            }
            if step.alpha == nil || step.alpha == 255 {
                #expect(isClose(found, step.color), "\(step): \(found)")
            }
        }

        /// The origin isn't asked, since its image couldn't be processed.
        @Test func aStepThatNobodyIsGrantedIsRefusedByName() async throws {
            let origin = try Self.origin()
            try await withStack { stack in
                let end = try stack.get(
                    [origin.url("/q.png"), "--custom", "acme.denoise:strength=0.5", "--json"])
                #expect(end.exitStatus == 65, "\(end)")
                let error = try end.json()["error"]
                #expect(error?["name"]?.text == "stepFailed")
                #expect(error?["details"]?["step"]?.text == "acme.denoise")
                #expect(origin.totalRequestCount == 0)
            }
        }

        @Test func standardOutputTakesTheImageAndStandardErrorTheAnswer() async throws {
            let origin = try Self.origin()
            try await withStack { stack in
                let end = try stack.get([origin.url("/q.png"), "-o", "-", "--json"]).expect(0)
                #expect(end.output == (try Self.png()))
                let answer = try JSONValue(parsing: Array(end.errorText.utf8))
                #expect(answer["status"]?.text == "ok")
            }
        }

        @Test func infoTellsSizeAndFormatWithoutBytes() async throws {
            let origin = try Self.origin()
            try await withStack { stack in
                let answer = try stack.get([origin.url("/q.webp"), "--info", "--json"]).json()
                #expect(answer["width"]?.integer == 400)
                #expect(answer["height"]?.integer == 300)
                #expect(answer["format"]?.text == "webp")
                #expect(answer["bytes"] == .null)
            }
        }

        private static func png() throws -> [UInt8] {
            try Images.quadrants().png()
        }

        private static func origin() throws -> OriginServer {
            let image = Images.quadrants()
            let origin = OriginServer("/q.png", .bytes(try png()))
            origin.route("/q.jpg", .bytes(try image.jpeg(quality: 95)))
            origin.route("/q.webp", .bytes(try image.webp(quality: 95)))
            origin.route("/q.gif", .bytes(Images.tinyGIF, contentType: "image/gif"))
            return origin
        }
    }
}
