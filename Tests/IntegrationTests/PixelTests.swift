extension RealProcesses {
    /// Raw pixels: the same as another decoder reads from the same image as a file.
    @Suite struct PixelTests {
        private let origin = OriginServer()

        init() throws {
            origin.route("/colours.png", .bytes(try Images.quadrants().png()))
            origin.route("/large.png", .bytes(try Images.waves(width: 900, height: 700).png()))
            for (name, words) in [
                ("grey", ["-colorspace", "Gray"]),
                ("alpha", ["-alpha", "set", "-channel", "A", "-evaluate", "set", "40%"]),
            ] {
                let bytes = try Tool.run(
                    ["convert-im6.q16", "png:-"] + words + ["png:-"],
                    input: try Images.quadrants(width: 60, height: 40).png())
                origin.route("/\(name).png", .bytes(bytes))
            }
        }

        private func request(
            _ name: String, _ steps: [TransformStep], _ output: OutputOptions
        ) -> ImageRequest {
            var request = ImageRequest(url: origin.url("/\(name).png"))
            (request.steps, request.output) = (steps, output)
            return request
        }

        /// The samples of a file as read by ImageMagick.
        private func samples(
            of file: [UInt8], _ format: String, as form: String
        ) throws -> [UInt8] {
            try Tool.run(
                ["convert-im6.q16", "\(format):-", "-depth", "8", "\(form):-"], input: file)
        }

        @Test(
            arguments: [
                ("colours", [], .rgb8, "rgb"),
                ("colours", [.resize(PixelSize(width: 77, height: 31), .stretch)], .rgb8, "rgb"),
                ("large", [.rotate(Rotation(degreesClockwise: 90))], .rgb8, "rgb"),
                ("grey", [], .gray8, "gray"), ("alpha", [], .rgba8, "rgba"),
                ("colours", [.round(radius: 9)], .rgba8, "rgba"),
            ] as [(String, [TransformStep], ImagePixels.Format, String)])
        func pixelsAreThoseOfTheFile(
            name: String, steps: [TransformStep], format: ImagePixels.Format, form: String
        ) async throws {
            try await withClient { _, client in
                let response = try await client.load(request(name, steps, .pixels)).response
                let pixels = try #require(response.pixels)
                let file = try await client.load(
                    request(name, steps, OutputOptions(format: .png))
                ).response
                let wanted = try samples(of: try #require(file.bytes?.array), "png", as: form)
                #expect(pixels.size == response.info?.size && pixels.format == format)
                #expect(pixels.stride * pixels.size.height == wanted.count)
                pixels.withSpan { span in
                    #expect(span.count == wanted.count)
                    #expect(wanted.indices.allSatisfy { span[$0] == wanted[$0] })
                }
                // The address is aligned for access in whole words.
                if name == "large" {
                    let address = try #require(pixels.lastingBytes.baseAddress)
                    #expect(Int(bitPattern: address) % 64 == 0)
                }
                // ImageMagick reads the same samples from the PAM file.
                let pam = try samples(of: try #require(response.bytes?.array), "pam", as: form)
                #expect(pam == wanted)
                #expect(file.pixels == nil)
                // The memory tier returns the same bytes.
                let again = try await client.load(request(name, steps, .pixels)).response
                #expect(again.cacheType == .memory && again.bytes?.array == response.bytes?.array)
            }
        }

        @Test func theCommandLineWritesThem() async throws {
            try await withStack { stack in
                let folder = TemporaryDirectory()
                try stack.get(
                    [origin.url("/colours.png"), "-o", folder.file("a.pam")]).expect(0)
                let bytes = try #require(FileBytes.read(folder.file("a.pam")))
                #expect(
                    try samples(of: bytes, "pam", as: "rgb") == Images.quadrants().samples)
            }
        }
    }
}
