extension RealProcesses {
    /// SVG and PDF are drawn by a separate pool if the operator configures one.
    @Suite struct VectorPoolTests {
        private static let drawing = ["--allow-private-networks", "--vector", "1"]

        private func origin() -> OriginServer {
            let origin = OriginServer("/a.svg", .bytes(Drawings.svgQuarters()))
            origin.route("/a.pdf", .bytes(Drawings.pdfQuarters()))
            return origin
        }

        @Test func withoutItTheyAreRefusedAndItIsSaidHowToHaveThem() async throws {
            let origin = origin()
            try await withStack { stack in
                for (name, title) in [("/a.svg", "SVG drawings"), ("/a.pdf", "PDF documents")] {
                    let end = try stack.get([origin.url(name), "--resize", "40x40"])
                    end.expect(65, title, "serve --vector 1")
                }
            }
        }

        @Test func withItTheyAreDrawnAsLargeAsTheyAreWanted() async throws {
            let origin = origin()
            try await withClient(Self.drawing, decoders: 1) { stack, client in
                for name in ["/a.svg", "/a.pdf"] {
                    let request = ImageRequest(origin.url(name), fit: 512, format: .png)
                    let bytes = try await client.load(request).response.bytes?.array
                    let pixels = try Pixels(decoding: try #require(bytes))
                    #expect(pixels.size == "512x512")
                    for (x, y, color) in [
                        (255, 255, 0), (256, 255, 1), (255, 256, 2), (256, 256, 3),
                    ] {
                        #expect(Array(pixels.at(x, y).prefix(3)) == Drawings.colors[color])
                    }
                }
                let status = try await stack.awaitIdle()
                #expect(
                    status.processes(.decode).map(\.pool.text).sorted() == ["decode", "vector"])
                let sandboxes = Set(status.processes(.decode).map(\.sandbox))
                #expect(sandboxes.count == 1)
            }
        }

        /// SDWebImage leaves it unchanged without the option; a server has no view that would draw
        /// it.
        @Test func aDrawingIsTransformedWithAndWithoutTheOption() async throws {
            let origin = origin()
            try await withClient(Self.drawing, decoders: 1) { _, client in
                for options in [RequestOptions(), .transformVectorImage] {
                    var request = ImageRequest(origin.url("/a.svg"), fit: 64, format: .png)
                    request.options = options.union(.fromLoaderOnly)
                    let bytes = try await client.load(request).response.bytes?.array
                    let pixels = try Pixels(decoding: try #require(bytes))
                    #expect(pixels.size == "64x64")
                    #expect(Array(pixels.at(31, 31).prefix(3)) == Drawings.colors[0])
                }
            }
        }

        /// A letter is drawn with a system font, which the sandbox permits; the box of a missing
        /// glyph would be hollow.
        @Test func textIsDrawnWithinTheSandbox() async throws {
            let origin = OriginServer()
            let text = "<text x='0' y='90' font-size='120' font-weight='bold'>I</text>"
            origin.route("/t.svg", .bytes(Drawings.svg("width='100' height='100'", text)))
            try await withStack(Self.drawing, decoders: 1) { stack in
                let request = ImageRequest(origin.url("/t.svg"), fit: 100, format: .png)
                let bytes = try await stack.client().load(request).response.bytes?.array
                let pixels = try Pixels(decoding: try #require(bytes))
                let row = (0..<pixels.width).map { pixels.at($0, 50)[3] > 128 }
                let edges = zip(row, row.dropFirst()).filter { $0 != $1 }.count
                #expect(edges == 2 || (edges == 1 && row[0]), "one stroke: \(row)")
            }
        }

        /// Noise with a billion octaves: its process ends, twice, and other loads don't wait for
        /// it.
        @Test func aDrawingThatHangsStopsNoOtherPool() async throws {
            let origin = origin()
            origin.route("/h.svg", .bytes(HostileDrawings.endless))
            origin.route("/a.png", .bytes(try Images.quadrants().png()))
            try await withClient(Self.drawing, decoders: 1) { stack, client in
                var request = ImageRequest(origin.url("/h.svg"), fit: 100, format: .png)
                // Its limit is CPU time, and other processes may use the processors.
                request.timeoutMilliseconds = 600_000
                let hangs = client.load(request)
                _ = try await stack.awaitStatus("it is drawn") { report in
                    report.processes.contains { $0.pool.text == "vector" && $0.jobs == 1 }
                }
                let other = ImageRequest(origin.url("/a.png"), fit: 40, format: .png)
                #expect(try await client.load(other).response.bytes != nil)
                #expect(await hangs.errorCode == .poisoned)
                let next = ImageRequest(origin.url("/a.svg"), fit: 40, format: .png)
                #expect(try await client.load(next).response.bytes != nil)
            }
        }
    }
}
