extension RealProcesses {
    /// Fallback images, delivered if an image can't be loaded (PROTOCOL §8.7).
    @Suite struct FallbackTests {
        private let origin = OriginServer()
        private let png: [UInt8]

        init() throws {
            png = try Images.quadrants().png()
            origin.route("/a.png", .status(404))
            origin.route("/other.png", .bytes(png))
        }

        private var url: String { origin.url("/a.png") }

        private func request(_ fallback: Fallback, fit side: Int = 100) -> ImageRequest {
            var request = ImageRequest(url, fit: side)
            request.context.fallback = fallback
            return request
        }

        @Test(arguments: [Delivery.mapped, .chunks])
        func anotherURLWithTheSameStepsAndNoHeaders(delivery: Delivery) async throws {
            try await withStack { stack in
                let client = try stack.client(delivery)
                var request = request(.url(origin.url("/other.png")))
                request.headers = [HTTPHeader(name: "Authorization", value: "Bearer 1")]
                let image = try await client.load(request).response
                #expect(image.fallbackFor?.code == .invalidDownloadStatusCode)
                #expect(image.fallbackFor?.details["httpStatus"] == "404")
                let pixels = try Pixels(decoding: image.bytes?.array ?? [])
                #expect(pixels.size == "100x75")
                #expect(isClose(pixels.at(90, 70), Images.yellow))
                let asked = origin.requests("/other.png")
                #expect(asked.count == 1)
                #expect(asked.allSatisfy { $0.header("authorization") == nil })
                #expect(origin.requests("/a.png").first?.header("authorization") == "Bearer 1")
            }
        }

        @Test func theFallbackIsKeptUnderItsOwnKeyAndTheImageComesWhenItIsThere() async throws {
            try await withClient { stack, client in
                let request = request(.url(origin.url("/other.png")))
                let first = try await client.load(request).response
                #expect(first.key.hasPrefix(origin.url("/other-")))
                _ = try await stack.awaitIdle()
                let second = try await client.load(request).response
                #expect(second.fallbackFor != nil)
                #expect(second.cacheType == .memory)
                #expect(second.bytes?.array == first.bytes?.array)
                #expect(origin.requests("/other.png").count == 1)
                origin.route("/a.png", .bytes(try Images.waves(width: 320, height: 320).png()))
                let third = try await client.load(request).response
                #expect(third.fallbackFor == nil)
                #expect(third.info?.size == PixelSize(width: 100, height: 100))
                let report = try await stack.awaitIdle()
                #expect(report.counter("fallbacks") == 2)
                #expect(report.counter("failed") == 0)
            }
        }

        @Test func aColorFillsTheBoxOfTheResult() async throws {
            try await withStack { stack in
                let folder = TemporaryDirectory()
                let file = folder.file("a.png")
                let run = try stack.get([
                    url, "--resize", "64x48", "--mode", "fill", "--fallback", "#80FF0000", "-o",
                    file, "--json",
                ]).expect(0)
                let answer = try run.json()
                #expect(answer["status"]?.text == "ok")
                let failure = answer["fallbackFor"]
                #expect(failure?["name"]?.text == "invalidDownloadStatusCode")
                #expect(answer["error"] == .null)
                let pixels = try Pixels(decoding: #require(FileBytes.read(file)))
                #expect(pixels.size == "64x48")
                #expect(pixels.at(0, 0) == [255, 0, 0, 128])
                #expect(pixels.at(63, 47) == [255, 0, 0, 128])
            }
        }

        @Test func peopleAreToldThatItIsTheFallback() async throws {
            try await withStack { stack in
                let run = try stack.get([url, "--fallback", "#FFFFFF", "-o", "-"])
                run.expect(0, "fallback: invalidDownloadStatusCode (2001)")
                let pixels = try Pixels(decoding: run.output)
                #expect(pixels.size == "1x1")
            }
        }

        @Test func bytesThatAreNoImageAreBlacklistedAndHaveTheirFallback() async throws {
            origin.route("/a.png", .bytes(Array("no image".utf8)))
            try await withClient { _, client in
                let request = request(.color(Color(argb: 0xFF00_FF00)))
                let first = try await client.load(request).response
                #expect(first.fallbackFor?.code == .badImageData)
                let second = try await client.load(request).response
                #expect(second.fallbackFor?.code == .blacklisted)
                #expect(origin.requests("/a.png").count == 1)
            }
        }

        @Test func anAddressThatIsForbiddenIsForbiddenToFallbacks() async throws {
            // Only the origin's own port is allowed.
            try await withClient(["--allow-address", origin.authority]) { _, client in
                let task = client.load(request(.url("http://127.0.0.1:1/other.png")))
                let error = await task.failure
                #expect(error?.code == .invalidDownloadStatusCode)
                #expect(error?.details["fallback"] == "addressForbidden")
            }
        }

        @Test func theFirstErrorIsToldWhereTheFallbackFailsToo() async throws {
            origin.route("/other.png", .bytes(Array("no image".utf8)))
            try await withStack { stack in
                let run = try stack.get([
                    url, "--fallback", origin.url("/other.png"), "--resize", "9x9", "--json",
                ]).expect(66)
                let details = try run.json()["error"]?["details"]
                #expect(details?["httpStatus"]?.text == "404")
                #expect(details?["fallback"]?.text == "badImageData")
            }
        }

        @Test func aCancelEndsTheFallback() async throws {
            let gate = Gate()
            origin.route("/other.png", .hang(until: gate, then: png))
            try await withClient { stack, client in
                let task = client.load(request(.url(origin.url("/other.png"))))
                #expect(await origin.waitForRequest("/other.png"))
                task.cancel()
                #expect(await task.errorCode == .cancelled)
                let report = try await stack.awaitIdle()
                #expect(report.counter("cancelled") == 1)
                #expect(report.counter("fallbacks") == 0)
            }
            gate.open()
        }
    }
}
