extension RealProcesses {
    /// SVG over HTTP (WEB §5.11), in front of a stack without decoders for drawings.
    @Suite struct GatewayDrawingTests {
        private let bench = GatewayBench()
        private static let drawing = Array(
            """
            <?xml version="1.0"?>
            <svg xmlns="http://www.w3.org/2000/svg" width="40" height="30">
            <script>parent.document.title = "run"</script><rect width="9" height="9"/></svg>
            """.utf8)

        init() throws {
            bench.origin.route("/a.svg", .bytes(Self.drawing))
            bench.origin.route("/a.svgz", .bytes(try Self.packed(Self.drawing)))
            bench.origin.route("/b.svgz", .bytes(try Self.packed(Array("plain text".utf8))))
        }

        private static func packed(_ bytes: [UInt8]) throws -> [UInt8] {
            try Tool.run(
                [
                    "python3", "-c",
                    "import sys, gzip\n"
                        + "sys.stdout.buffer.write(gzip.compress(sys.stdin.buffer.read()))",
                ], input: bytes)
        }

        private func expectIsSandboxed(_ answer: RawClient.Response, _ target: String) {
            #expect(answer.status == 200, "\(target) \(answer.head)")
            #expect(answer.field("Content-Type") == "image/svg+xml", "\(target)")
            #expect(answer.field("X-Content-Type-Options") == "nosniff", "\(target)")
            let policy = answer.field("Content-Security-Policy") ?? ""
            #expect(policy.contains("default-src 'none'"), "\(target)")
            #expect(policy.hasSuffix("sandbox"), "\(target)")
            #expect(answer.field("ETag") != nil, "\(target)")
        }

        /// With any options, and with the `Accept` fields of browsers and other clients, twice: the
        /// second time from the cache.
        @Test func imgproxyPassesDrawingsThrough() async throws {
            try await bench.run { gateway, _ in
                let browser = "Accept: image/avif,image/webp,image/apng,image/svg+xml,*/*;q=0.8\r\n"
                for options in ["", "w:20", "rs:fill:9:9/bl:3", "raw:1", "sm:1", "att:1"] {
                    for accept in ["", browser, browser] {
                        for name in ["/a.svg", "/a.svgz"] {
                            let target = bench.path(name, options)
                            let answer = try gateway.get(target, accept)
                            expectIsSandboxed(answer, target)
                            let isPacked = name == "/a.svgz" && options == "raw:1"
                            #expect(
                                answer.field("Content-Encoding") == (isPacked ? "gzip" : nil))
                            let body =
                                isPacked ? try Self.packed(Self.drawing).count : Self.drawing.count
                            #expect(answer.body.count == body, "\(target)")
                            if !isPacked { #expect(answer.body == Self.drawing) }
                        }
                    }
                }
            }
        }

        @Test func anotherFormatHasToBeDrawn() async throws {
            try await bench.run { gateway, _ in
                for target in [
                    bench.path("/a.svg", "", "@png"), bench.path("/b.svgz", ""),
                    bench.path("/b.svgz", "raw:1"),
                ] {
                    let answer = try gateway.get(target)
                    #expect([415, 422].contains(answer.status), "\(target) \(answer.head)")
                }
                // A client that doesn't accept SVG doesn't get it.
                let answer = try gateway.get(bench.path("/a.svg", ""), "Accept: image/png\r\n")
                #expect([406, 415].contains(answer.status), "\(answer.head)")
            }
        }

        @Test func thumborPassesOnlyWhatNothingIsDoneTo() async throws {
            try await bench.run(["--grammar", "thumbor"]) { gateway, _ in
                let url = bench.origin.url("/a.svg")
                for accept in ["", "Accept: image/avif,image/webp,*/*;q=0.8\r\n"] {
                    let target = "/unsafe/\(url)"
                    expectIsSandboxed(try gateway.get(target, accept), target)
                }
                #expect(try gateway.get("/unsafe/20x20/\(url)").status == 415)
            }
        }

        /// Sources in skipped formats are delivered unchanged, but without their metadata.
        @Test func skippedFormatsComeAsTheyAre() async throws {
            let file = try MarkedFile.bytes("jpg")
            bench.origin.route("/a.jpg", .bytes(file))
            bench.origin.route("/a.png", .bytes(try MarkedFile.bytes("png")))
            let arguments = ["--skip-processing-formats", "jpg,gif"]
            try await bench.run(arguments) { gateway, _ in
                let skipped = try gateway.get(bench.path("/a.jpg", "w:20"))
                #expect(try MarkedFile.pixels(skipped.body) == MarkedFile.pixels(file))
                #expect(MarkedFile.secrets(in: skipped.body) == [])
                let changed = try gateway.get(bench.path("/a.jpg", "w:20", "@png"))
                #expect(try MarkedFile.pixels(changed.body).hasPrefix("(20, 30)"))
                let other = try gateway.get(bench.path("/a.png", "w:20"))
                #expect(try MarkedFile.pixels(other.body).hasPrefix("(20, 30)"))
                let named = try gateway.get(bench.path("/a.png", "w:20/skp:png"))
                #expect(try MarkedFile.pixels(named.body).hasPrefix("(60, 40)"))
            }
        }
    }
}
