extension RealProcesses {
    /// `get --explain` (SEMANTICS §11.24).
    @Suite struct ExplainTests {
        private let origin = OriginServer()
        private static let resized = ["--resize", "400x", "--format", "jpeg"]

        private func explanation(_ stack: StackHarness, _ line: [String]) throws -> JSONValue {
            let end = try stack.get(line + ["--explain", "--json"])
            try #require(end.exitStatus == 0, "\(end)")
            return try #require(try end.json()["explanation"])
        }

        /// 4,000 columns at 1/8 are 500, which still cover 400; PNG can't be decoded at a reduced
        /// scale.
        @Test func aJPEGIsDecodedSmallerInThePlanarLaneAndAPNGIsNot() async throws {
            let large = Images.quadrants(width: 4_000, height: 3_000)
            origin.route("/a.jpg", .bytes(try large.jpeg(quality: 80)))
            origin.route("/a.png", .bytes(try large.png()))
            try await withStack { stack in
                let line = [origin.url("/a.jpg")] + Self.resized
                let jpeg = try explanation(stack, line + ["--quality", "70"])
                #expect(jpeg["fetched"]?["address"]?.text == origin.authority)
                #expect(jpeg["fetched"]?["httpVersion"]?.text == "1.1")
                #expect(jpeg["fetched"]?["isReused"] == .bool(false))
                #expect(jpeg["decoded"]?["format"]?.text == "jpeg")
                #expect(jpeg["decoded"]?["width"]?.integer == 4_000)
                #expect(jpeg["decoded"]?["scale"] == .number(0.125))
                #expect(jpeg["decoded"]?["pixels"]?.integer == 500 * 375)
                #expect(jpeg["decoded"]?["layout"]?.text == "planes")
                #expect(jpeg["transformed"]?["lane"]?.text == "planar")
                #expect(jpeg["transformed"]?["foldedSteps"]?.integer == 1)
                #expect(jpeg["transformed"]?["attempts"]?.integer == 1)
                #expect(jpeg["transformed"]?["settings"]?["quality"]?.text == "70")
                #expect(
                    jpeg["steps"]?.array?.first?.text
                        == "ImagebusFitTransformer({400.000000,0.000000})")
                let png = try explanation(stack, [origin.url("/a.png")] + Self.resized)
                #expect(png["decoded"]?["scale"] == .number(1))
                #expect(png["decoded"]?["pixels"]?.integer == 12_000_000)
                #expect(png["decoded"]?["layout"]?.text == "interleaved")
                #expect(png["transformed"]?["lane"]?.text == "general")
                #expect(png["transformed"]?["foldedSteps"]?.integer == 0)
                #expect(png["transformed"]?["settings"]?["quality"]?.text == "80")
            }
        }

        @Test func aHitSaysThatNothingWasDecodedAndNobodyIsToldUnasked() async throws {
            origin.route("/b.jpg", .bytes(try Images.quadrants().jpeg(quality: 80)))
            try await withStack { stack in
                let line = [origin.url("/b.jpg"), "--resize", "40x40"]
                let first = try stack.get(line + ["--option", "wait-store-cache", "--json"]).json()
                #expect(first["explanation"] == .null)
                for tier in ["memory", "disk"] {
                    let tiers = ["--context", "query-cache-type=\(tier)"]
                    let end = try stack.get(line + tiers + ["--explain", "--json"]).json()
                    #expect(end["cacheType"]?.text == tier)
                    #expect(end["key"] == first["key"])
                    #expect(end["explanation"]?["fetched"] == .null)
                    #expect(end["explanation"]?["decoded"] == .null)
                    #expect(end["explanation"]?["transformed"] == .null)
                    #expect(end["explanation"]?["plan"]?.array?.first?.text == "query-result")
                }
                let words = try stack.get(line + ["--explain"])
                #expect(words.outputText.contains("\nfrom: the cache: memory\n"), "\(words)")
                #expect(words.outputText.contains("\ndecoded: nothing\n"))
                let other = try stack.get([line[0], "--resize", "41x41", "--explain"])
                #expect(other.outputText.contains("\nfrom: the cached original: disk\n"))
                #expect(other.outputText.contains("\ndecoded: jpeg 400x300 at 1/8: 50x38, "))
                // The image has standard output to itself.
                let piped = try stack.get(line + ["--explain", "-o", "-"])
                #expect(piped.output.first == 0xFF)
                #expect(piped.errorText.contains("\ndecoded: nothing\n"))
            }
        }

        @Test func theQualityThatALimitOfBytesCameToIsSaid() async throws {
            origin.route("/n.png", .bytes(try Images.noise(width: 200, height: 200).png()))
            try await withStack { stack in
                let line = [origin.url("/n.png"), "--format", "jpeg", "--max-bytes", "9000"]
                let explained = try explanation(stack, line)["transformed"]
                let quality = try #require(explained?["quality"]?.integer)
                #expect(quality < 80 && (2...7).contains(explained?["attempts"]?.integer ?? 0))
                #expect(explained?["settings"]?["max-bytes"]?.text == "9000")
                // ImageMagick estimates the quality from the tables of the file.
                let folder = TemporaryDirectory()
                let end = try stack.get(line + ["-o", folder.file("n.jpg")])
                try #require(end.exitStatus == 0, "\(end)")
                let estimate = try Tool.text(
                    ["identify-im6.q16", "-format", "%Q", folder.file("n.jpg")])
                #expect(estimate == "\(quality)")
                let free = try explanation(stack, [line[0], "--format", "jpeg"])
                #expect(free["transformed"]?["quality"] == .null)
            }
        }

        /// A load that joins existing work gets its explanation, whether or not earlier loads
        /// requested one.
        @Test func whoJoinsIsToldOfTheWorkOfOthers() async throws {
            let gate = Gate()
            let source = try Images.quadrants().jpeg(quality: 80)
            origin.route("/c.jpg", .hangBody(until: gate, then: source))
            try await withClient { stack, client in
                var request = ImageRequest(url: origin.url("/c.jpg"))
                request.steps = [.blur(radius: 3)]
                let silent = client.load(request)
                #expect(await origin.waitForRequest("/c.jpg", count: 1))
                request.wantsExplanation = true
                let explained = client.load(request)
                _ = try await stack.awaitStatus("both") { $0.counter("requests") == 2 }
                gate.open()
                #expect(try await silent.response.explanation == nil)
                let explanation = try #require(try await explained.response.explanation)
                #expect(explanation.decoded?.pixels == PixelSize(width: 400, height: 300))
                #expect(explanation.transformed?.isPlanar == false)
                #expect(origin.requestCount("/c.jpg") == 1)
            }
        }
    }
}
